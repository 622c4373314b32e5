import Fugu
import FuguInspection
import Support
import Testing

@Suite("Rules configure scopes by path (law 21)")
struct Law21RulesTests {
    static let cases: [Case<Law21RulesTests>] = [
        Case("A rule applies to the scopes its pattern matches, without a pattern to all (law 21)", patterns),
        Case(
            "Rules apply to scopes alone: neither to the container itself nor to its other children (law 21)",
            onlyScopes),
        Case("They run in the order in which they were added, each seeing what the earlier ones set (law 21)", order),
        Case("A rule may set and reset a key while it runs, and nothing is reported (law 21)", reportsNothing),
        Case("Ancestors' rules come first, whenever they were added (law 21)", ancestorsFirst),
        Case("A rule changes one entry of what an earlier one set (law 21)", changeInPlace),
        Case("A rule reads what the scope's parent has, and can reset what earlier rules set (law 21)", readsAndResets),
        Case(
            "A scope of a scope is configured by all rules above it, and sees what the outer scope has (law 21)", nested
        ),
        Case("Rules run when the scope is made, before anybody reads it, and at no read (law 21)", whenMade),
        Case(
            "A feature is loaded anew for a scope whose rules set what it read, else shared (laws 16 and 21)", features),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<Law21RulesTests>) async throws { try await stated.run(self) }

    struct Headers: Property { static var defaultValue: [String: String] { ["Host": "default"] } }
    struct Trail: Property { static var defaultValue: [String] { [] } }
    struct Timeout: Property { static var defaultValue: Int { 30 } }
    struct Label: Property { static var defaultValue: String { "" } }

    func patterns() {
        let container = Container()
        container.configureScopes("/volcanos/*/status") { $0[Timeout.self] = 5 }
        container.configureScopes { $0[Label.self] = "all" }
        expect(container.scope("/volcanos/3/status")[Timeout.self], equals: 5)
        expect(container.scope("/volcanos/3")[Timeout.self], equals: 30)
        expect(container.scope("/volcanos/3")[Label.self], equals: "all")
        expect(container.scope("/")[Label.self], equals: "all")
        expect(container[Label.self], equals: "")
    }

    func onlyScopes() {
        let container = Container()
        container.configureScopes { $0[Timeout.self] = 5 }
        expect(container[Timeout.self], equals: 30)
        expect(container.child()[Timeout.self], equals: 30)
        expect(container.child().scope("/a")[Timeout.self], equals: 5)
    }

    func order() {
        let container = Container()
        container[Trail.self] = ["container"]
        container.configureScopes("/a/**") { $0[Trail.self].append("first") }
        container.configureScopes("/b") { $0[Trail.self].append("other") }
        container.configureScopes("**") { $0[Trail.self].append("second") }
        container.configureScopes(where: { $0.hasSuffix("b") }, description: "b") { $0[Trail.self].append("third") }
        expect(container.scope("/a/b")[Trail.self], equals: ["container", "first", "second", "third"])
        expect(container[Trail.self], equals: ["container"])
    }

    func reportsNothing() {
        let container = Container()
        let reports = container.logReports()
        container.configureScopes {
            $0[Timeout.self] = 5
            $0[Label.self] = "gone"
            $0.reset(Label.self)
        }
        let scope = container.scope("/a")
        expect((scope[Timeout.self], scope[Label.self]) == (5, ""))
        expect(reports.all.isEmpty)
    }

    func ancestorsFirst() {
        let root = Container()
        let child = root.child()
        let grandchild = child.child()
        grandchild.configureScopes { $0[Trail.self].append("grandchild") }
        child.configureScopes { $0[Trail.self].append("child") }
        root.configureScopes { $0[Trail.self].append("root") }
        expect(grandchild.scope("/a")[Trail.self], equals: ["root", "child", "grandchild"])
        expect(child.scope("/a")[Trail.self], equals: ["root", "child"])
        expect(root.scope("/a")[Trail.self], equals: ["root"])
    }

    func changeInPlace() {
        let container = Container()
        container.configureScopes { $0[Headers.self]["Accept"] = "application/json" }
        container.configureScopes("/feed") { $0[Headers.self]["Accept"] = "application/atom+xml" }
        container.configureScopes("/login") { $0[Headers.self]["Accept"] = nil }
        expect(container.scope("/users")[Headers.self], equals: ["Host": "default", "Accept": "application/json"])
        expect(container.scope("/feed")[Headers.self], equals: ["Host": "default", "Accept": "application/atom+xml"])
        expect(container.scope("/login")[Headers.self], equals: ["Host": "default"])
        expect(container[Headers.self], equals: ["Host": "default"])
    }

    func readsAndResets() {
        let key = PropertyKey(defaultValue: 1)
        let container = Container()
        container[key] = 2
        container.configureScopes { $0[key] *= 10 }
        container.configureScopes { $0[Timeout.self] = $0[key] }
        container.configureScopes("/plain") { $0.reset(key) }
        container.configureScopes { $0[Label.self] = "\($0[key])" }
        expect(container.scope("/a")[key], equals: 20)
        expect(container.scope("/a")[Timeout.self], equals: 20)
        let plain = container.scope("/plain")
        expect((plain[key], plain[Timeout.self], plain[Label.self]) == (2, 20, "2"))
    }

    func nested() {
        let root = Container()
        root.configureScopes { $0[Trail.self].append("root") }
        let outer = root.scope("/outer")
        outer.configureScopes("/inner") { $0[Trail.self].append("outer") }
        expect(outer.scope("/inner")[Trail.self], equals: ["root", "root", "outer"])
        expect(outer[Trail.self], equals: ["root"])
    }

    func whenMade() {
        let runs = Counter()
        let container = Container()
        container.configureScopes { handle in
            runs.add()
            handle[Timeout.self] = 5
        }
        let scope = container.scope("/a")
        expect(runs.value, equals: 1)
        scope[Label.self] = "written"
        expect(scope[Timeout.self], equals: 5)
        expect((scope[Timeout.self], scope[Label.self], scope.child()[Timeout.self]) == (5, "written", 5))
        expect(runs.value, equals: 1)
    }

    @Test("Whatever reads a scope reads what its rules set (law 21)")
    func everyRead() async throws {
        struct Copy: Feature {
            let timeout: Int
            static func load(in container: any FeatureContainer) -> Copy { Copy(timeout: container[Timeout.self]) }
        }
        struct AsyncCopy: AsyncFeature {
            let timeout: Int
            static func load(in container: any FeatureContainer) async -> AsyncCopy {
                AsyncCopy(timeout: container[Timeout.self])
            }
        }
        let container = Container()
        container.configureScopes { $0[Timeout.self] = 5 }
        expect(container.scope("/1")[Copy.self].timeout, equals: 5)
        try await expect(container.scope("/2")[AsyncCopy.self].timeout, equals: 5)
        expect(container.scope("/3").ifLoaded(Timeout.self), equals: 5)
        expect(container.scope("/4").modify(Timeout.self) { $0 }, equals: 5)
        container.scope("/5").update { expect($0[Timeout.self], equals: 5) }
        expect(container.scope("/6").observable[Timeout.self], equals: 5)
        expect(container.scope("/7").graph.entries.contains { $0.name == "Timeout" && $0.state == .set })
        expect(container.scope("/8").child().child()[Copy.self].timeout, equals: 5)
        let scope = container.scope("/9")
        var values = scope.values(of: Timeout.self).makeAsyncIterator()
        await expect(values.next(isolation: nil), equals: 5)
    }

    func features() {
        final class Client: Feature, Sendable {
            let timeout: Int
            init(_ timeout: Int) { self.timeout = timeout }
            static func load(in container: any FeatureContainer) -> Client { Client(container[Timeout.self]) }
        }
        let container = Container()
        let shared = container[Client.self]
        container.configureScopes("/slow/*") { $0[Timeout.self] = 300 }
        let (slow, slower, fast) = (container.scope("/slow/a"), container.scope("/slow/b"), container.scope("/fast"))
        expect(slow[Client.self].timeout, equals: 300)
        expect(slow[Client.self], is: slow.child()[Client.self])
        expect(slower[Client.self] !== slow[Client.self])
        expect(fast[Client.self], is: shared)
    }
}

@Suite("Scopes by path (law 21)")
struct Law21ScopesTests {
    static let cases: [Case<Law21ScopesTests>] = [
        Case("The same path gives the same scope while someone holds it, a fresh one afterwards (law 21)", identity),
        Case("A child of a scope, or a scope of it, holds the scope (laws 8 and 21)", heldByDescendants),
        Case("The same path in two containers is two scopes (law 21)", otherContainers),
        Case(
            "A scope is a child: what is set there stays there, and it keeps its container alive (laws 8, 14 and 21)",
            isChild),
        Case("Threads that ask for one path together get one scope (law 21)", manyThreads),
        Case(
            "Scopes nobody holds cost nothing: what they held goes with them, and they are not looked at again (law 21)",
            costNothing),
        Case(
            "A scope that is made and dropped while others do the same leaves nothing behind (law 21)",
            manyComingAndGoing),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<Law21ScopesTests>) async throws { try await stated.run(self) }

    typealias Timeout = Law21RulesTests.Timeout

    func identity() {
        let runs = Counter()
        let container = Container()
        container.configureScopes("/a") { handle in
            runs.add()
            handle[Timeout.self] = 5
        }
        var scope: Container? = container.scope("/a")
        scope![Timeout.self] = 7
        expect(container.scope("/a"), is: scope)
        expect(container.scope("a?b=c"), is: scope)
        expect(container.scope("/a/") !== scope)
        expect(container.scope("/a")[Timeout.self], equals: 7)
        weak let gone = scope
        scope = nil
        expect(gone == nil)
        expect(container.scope("/a")[Timeout.self], equals: 5)
        expect(runs.value, equals: 2)
    }

    func heldByDescendants() {
        let container = Container()
        var scope: Container? = container.scope("/a")
        scope![Timeout.self] = 7
        var child: Container? = scope!.child()
        let inner = scope!.scope("/b")
        scope = nil
        expect(child![Timeout.self], equals: 7)
        child = nil
        expect(container.scope("/a")[Timeout.self], equals: 7)
        expect(inner[Timeout.self], equals: 7)
    }

    func otherContainers() {
        let root = Container()
        let child = root.child()
        expect(root.scope("/a") !== child.scope("/a"))
        expect(root.scope("/a") !== root.scope("/b"))
    }

    func isChild() {
        var container: Container? = Container()
        let scope = container!.scope("/a")
        container![Timeout.self] = 1
        expect(scope[Timeout.self], equals: 1)
        scope[Timeout.self] = 2
        expect(container![Timeout.self], equals: 1)
        scope.reset(Timeout.self)
        weak let alive = container
        container = nil
        expect(alive != nil)
        expect(scope[Timeout.self], equals: 1)
    }

    func manyThreads() {
        for _ in 0..<50 {
            let container = Container()
            let scopes = Log<Container>()
            onThreads(8) { _ in scopes.add(container.scope("/a")) }
            expect(Set(scopes.all.map(ObjectIdentifier.init)).count, equals: 1)
        }
    }

    func costNothing() {
        struct Held: Property { static var defaultValue: Witness? { nil } }
        let (runs, ended) = (Counter(), Counter())
        let container = Container()
        container.configureScopes { handle in
            runs.add()
            handle[Held.self] = Witness { ended.add() }
        }
        for number in 0..<1_000 { _ = container.scope("/\(number)")[Held.self] }
        expect((runs.value, ended.value) == (1_000, 1_000))
        container.invalidateScopes()
        container.observe(Held.self) { _ in }
        container.invalidateScopes()
        expect(runs.value, equals: 1_000)
        expect(container.scopesInMemory, equals: 0)
    }

    func manyComingAndGoing() {
        let container = Container()
        container.configureScopes { $0[Timeout.self] = 5 }
        onThreads(4) { _ in
            for number in 0..<500 {
                let scope = container.scope("/\(number % 3)")
                expect(scope[Timeout.self], equals: 5)
                if number % 50 == 0 { container.invalidateScopes() }
            }
        }
        expect(container.scopesInMemory, equals: 0)
    }
}
