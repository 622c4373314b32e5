import Fugu
import FuguInspection
import Support
import Testing

@testable import FuguScopes

/// Rules configure scopes by path (law 14).
struct ScopeRulesTests {}

extension ScopeRulesTests {
    struct Headers: Property { static var defaultValue: [String: String] { ["Host": "default"] } }
    struct Trail: Property { static var defaultValue: [String] { [] } }
    struct Timeout: Property { static var defaultValue: Int { 30 } }
    struct Label: Property { static var defaultValue: String { "" } }

    @Test("A rule applies to the scopes its pattern matches, without a pattern to all, and to nothing else (law 14)")
    func patterns() {
        // A rule applies to the scopes its pattern matches, without a pattern to all.
        do {
            let container = Container()
            container.configureScopes("/volcanos/*/status") { $0[Timeout.self] = 5 }
            container.configureScopes { $0[Label.self] = "all" }
            expect(container.scope("/volcanos/3/status")[Timeout.self], equals: 5)
            expect(container.scope("/volcanos/3")[Timeout.self], equals: 30)
            expect(container.scope("/volcanos/3")[Label.self], equals: "all")
            expect(container.scope("/")[Label.self], equals: "all")
            expect(container[Label.self], equals: "")
        }
        // Rules apply to scopes alone: neither to the container itself nor to its other children.
        do {
            let container = Container()
            container.configureScopes { $0[Timeout.self] = 5 }
            expect(container[Timeout.self], equals: 30)
            expect(container.child()[Timeout.self], equals: 30)
            expect(container.child().scope("/a")[Timeout.self], equals: 5)
        }
    }

    @Test(
        "They run in the order in which they were added, ancestors' first, each seeing what the earlier ones set (law 14)"
    )
    func order() {
        // They run in the order in which they were added, each seeing what the earlier ones set.
        do {
            let container = Container()
            container[Trail.self] = ["container"]
            container.configureScopes("/a/**") { $0[Trail.self].append("first") }
            container.configureScopes("/b") { $0[Trail.self].append("other") }
            container.configureScopes("**") { $0[Trail.self].append("second") }
            container.configureScopes(where: { $0.hasSuffix("b") }) { $0[Trail.self].append("third") }
            expect(container.scope("/a/b")[Trail.self], equals: ["container", "first", "second", "third"])
            expect(container[Trail.self], equals: ["container"])
        }
        // Ancestors' rules come first, whenever they were added.
        do {
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
    }

    @Test("A rule may set and reset a key while it runs, and nothing is reported (law 14)")
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

    @Test(
        "A rule reads what the scope's parent has, and changes one entry of, or resets, what earlier rules set (law 14)"
    )
    func changeInPlace() {
        // A rule changes one entry of what an earlier one set.
        do {
            let container = Container()
            container.configureScopes { $0[Headers.self]["Accept"] = "application/json" }
            container.configureScopes("/feed") { $0[Headers.self]["Accept"] = "application/atom+xml" }
            container.configureScopes("/login") { $0[Headers.self]["Accept"] = nil }
            expect(container.scope("/users")[Headers.self], equals: ["Host": "default", "Accept": "application/json"])
            expect(
                container.scope("/feed")[Headers.self], equals: ["Host": "default", "Accept": "application/atom+xml"])
            expect(container.scope("/login")[Headers.self], equals: ["Host": "default"])
            expect(container[Headers.self], equals: ["Host": "default"])
        }
        // A rule reads what the scope's parent has, and can reset what earlier rules set.
        do {
            let key = PropertyKey(defaultValue: 1)
            let container = Container()
            container[key] = 2
            container.configureScopes { $0[key] *= 10 }
            container.configureScopes { $0[Timeout.self] = $0[key] }
            container.configureScopes("/plain") { $0.reset { _ in key } }
            container.configureScopes { $0[Label.self] = "\($0[key])" }
            expect(container.scope("/a")[key], equals: 20)
            expect(container.scope("/a")[Timeout.self], equals: 20)
            let plain = container.scope("/plain")
            expect((plain[key], plain[Timeout.self], plain[Label.self]) == (2, 20, "2"))
        }
    }

    @Test("A scope of a scope is configured by all rules above it, and sees what the outer scope has (law 14)")
    func nested() {
        let root = Container()
        root.configureScopes { $0[Trail.self].append("root") }
        let outer = root.scope("/outer")
        outer.configureScopes("/inner") { $0[Trail.self].append("outer") }
        expect(outer.scope("/inner")[Trail.self], equals: ["root", "root", "outer"])
        expect(outer[Trail.self], equals: ["root"])
    }

    @Test("Rules run when the scope is made, at no read, and whatever reads a scope reads what they set (law 14)")
    func whenMade() async throws {
        // Rules run when the scope is made, before anybody reads it, and at no read.
        do {
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
        // Whatever reads a scope reads what its rules set.
        do {
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
    }

    @Test("A feature is loaded anew for a scope whose rules set what it read, else shared (laws 10 and 14)")
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

/// Scopes by path (law 14).
struct ScopePathTests {}

extension ScopePathTests {
    typealias Timeout = ScopeRulesTests.Timeout

    @Test("The same path of one container gives the same scope while someone holds it, a fresh one afterwards (law 14)")
    func identity() {
        // The same path gives the same scope while someone holds it, a fresh one afterwards.
        do {
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
        // The same path in two containers is two scopes.
        do {
            let root = Container()
            let child = root.child()
            expect(root.scope("/a") !== child.scope("/a"))
            expect(root.scope("/a") !== root.scope("/b"))
        }
    }

    @Test("A scope is a child: it keeps its container alive, as its own children keep it (laws 7, 10 and 14)")
    func isChild() {
        // A scope is a child: what is set there stays there, and it keeps its container alive.
        do {
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
        // A child of a scope, or a scope of it, holds the scope.
        do {
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
    }

    @Test("Scopes nobody holds cost nothing: what they held goes with them, and they are not looked at again (law 14)")
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
}

@Suite("Rules run without a lock, and never hang (law 14)", .timeLimit(.minutes(5))) struct ScopeThreadsTests {}

extension ScopeThreadsTests {
    typealias Timeout = ScopeRulesTests.Timeout
    typealias Label = ScopeRulesTests.Label

    @Test("While a thread runs a scope's rules, others get the scope, and the run that began last stays (law 14)")
    func overlapping() async throws {
        let (began, goOn) = (Locked(Gate()), Locked(Gate()))
        let runs = Counter()
        let container = Container()
        container.configureScopes { handle in
            let run = runs.add()
            handle[Timeout.self] = run
            if run % 2 == 0 { return handle[Label.self] = "\(run)" }
            began.withLock { $0 }.open()
            goOn.withLock { $0 }.wait()
        }
        let scopes = Log<Container>()
        let making = startThread { scopes.add(container.scope("/a")) }
        try await began.withLock { $0 }.openedUnlessCancelled()
        let scope = container.scope("/a")
        expect((scope[Timeout.self], scope[Label.self]) == (2, "2"))
        goOn.withLock { $0 }.open()
        try await making.openedUnlessCancelled()
        expect(scopes.all[0], is: scope)
        expect((scope[Timeout.self], scope[Label.self]) == (2, "2"))
        began.withLock { $0 = Gate() }
        goOn.withLock { $0 = Gate() }
        let invalidating = startThread { container.invalidateScopes() }
        try await began.withLock { $0 }.openedUnlessCancelled()
        expect(container.scope("/a"), is: scope)
        expect((scope[Timeout.self], scope[Label.self]) == (2, "2"))
        container.invalidateScopes()
        expect((scope[Timeout.self], scope[Label.self]) == (4, "4"))
        goOn.withLock { $0 }.open()
        try await invalidating.openedUnlessCancelled()
        expect((scope[Timeout.self], scope[Label.self]) == (4, "4"))
        expect(runs.value, equals: 4)
    }

    @Test("While rules run the rest of the family reads, writes and makes other scopes (law 14)")
    func noLock() async throws {
        let (began, goOn) = (Gate(), Gate())
        let container = Container()
        container.configureScopes("/slow") { handle in
            began.open()
            goOn.wait()
            handle[Timeout.self] = 5
        }
        container.configureScopes("/fast") { $0[Timeout.self] = 1 }
        let slow = Log<Container>()
        let thread = startThread { slow.add(container.scope("/slow")) }
        try await began.openedUnlessCancelled()
        container[Label.self] = "written"
        expect(container[Timeout.self], equals: 30)
        expect(container.scope("/fast")[Timeout.self], equals: 1)
        expect(container.child()[Label.self], equals: "written")
        goOn.open()
        try await thread.openedUnlessCancelled()
        expect((slow.all[0][Timeout.self], slow.all[0][Label.self]) == (5, "written"))
        expect(container.scope("/slow"), is: slow.all[0])
    }

    @Test("A value that code sets in a scope while its rules run again stays and wins (law 14)")
    func setMeanwhile() async throws {
        let (began, goOn, runs) = (Gate(), Gate(), Counter())
        let container = Container()
        container.configureScopes { handle in
            if runs.add() == 2 {
                began.open()
                goOn.wait()
            }
            handle[Timeout.self] = runs.value
        }
        let scope = container.scope("/a")
        let thread = startThread { container.invalidateScopes() }
        try await began.openedUnlessCancelled()
        scope[Timeout.self] = 100
        goOn.open()
        try await thread.openedUnlessCancelled()
        expect(scope[Timeout.self], equals: 100)
        scope.reset(Timeout.self)
        expect(scope[Timeout.self], equals: 2)
    }

    @Test("A rule may wait for another thread that reads the same container, or another scope (laws 3 and 14)")
    func waitsForOthers() {
        let container = Container()
        container.configureScopes("/other") { $0[Timeout.self] = 2 }
        container.configureScopes("/a") { [weak container] handle in
            guard let container else { return }
            handle[Timeout.self] = onAnotherThread { container.scope("/other")[Timeout.self] + container[Timeout.self] }
        }
        expect(container.scope("/a")[Timeout.self], equals: 32)
    }

    @Test("Rules that are added while rules run are applied before configureScopes returns (law 14)")
    func addedMeanwhile() async throws {
        let (began, goOn, once) = (Gate(), Gate(), Counter())
        let container = Container()
        container.configureScopes { handle in
            if once.add() == 1 {
                began.open()
                goOn.wait()
            }
            handle[Timeout.self] = 5
        }
        let (scopes, values) = (Log<Container>(), Log<Int>())
        let making = startThread { scopes.add(container.scope("/a")) }
        try await began.openedUnlessCancelled()
        let adding = startThread {
            container.configureScopes { $0[Timeout.self] += 1 }
            values.add(container.scope("/a")[Timeout.self])
        }
        goOn.open()
        for thread in [making, adding] { try await thread.openedUnlessCancelled() }
        expect(values.all == [6] && scopes.all[0][Timeout.self] == 6)
    }

    @Test("A rule may change rules elsewhere, and an observer of what a rule set may do so here (law 14)")
    func changesElsewhere() {
        let (container, other) = (Container(), Container())
        let child = container.child()
        let runs = Counter()
        container.configureScopes("/a") { [unowned container] in
            other.invalidateScopes()
            child.configureScopes { _ in }
            container[Label.self] = "changed"
            $0[Timeout.self] = runs.add()
        }
        container.observe(Label.self) { [unowned container] _ in container.invalidateScopes() }
        expect(container.scope("/a")[Timeout.self], equals: 2)
    }

    @Test("A set through a rule's container after the rule has run is reported and changes nothing (law 14)")
    func late() {
        let kept = Log<any PropertyContainer>()
        let container = Container()
        let reports = container.logReports()
        container.configureScopes { kept.add($0) }
        let scope = container.scope("/a")
        expect(scope[Timeout.self], equals: 30)
        kept.all[0][Timeout.self] = 5
        expect((scope[Timeout.self], container[Timeout.self]) == (30, 30))
        expect(reports.count == 1 && reports.all[0].contains("Timeout"))
        kept.removeAll()
    }
}

/// A rule that needs the scope it configures stops with a message, and does not hang (law 14).
struct ScopeTrapsTests {}

extension ScopeTrapsTests {
    typealias Timeout = ScopeRulesTests.Timeout

    @Test(
        "A rule that reads its own scope stops with a message, at its first run and later (law 14)", arguments: [1, 2])
    func ownScope(run: Int) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [run] in
            ThisProcess.mustStopSoon()
            let (container, runs) = (Container(), Counter())
            container.configureScopes("/a/*") { [unowned container] in
                if runs.add() == run { $0[Timeout.self] = container.scope("/a/b")[Timeout.self] }
            }
            let scope = container.scope("/a/b")
            container.invalidateScopes()
            _ = scope[Timeout.self]
        }
        expectMessage(of: result, "/a/b", "reads that scope while it is being configured")
    }

    @Test("So is a rule that reads its own scope through a feature, or a child of the scope (law 14)")
    func throughAFeature() async {
        struct Client: Feature {
            static func load(in container: any FeatureContainer) -> Client {
                _ = container[Timeout.self]
                return Client()
            }
        }
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ThisProcess.mustStopSoon()
            let container = Container()
            container.configureScopes { [unowned container] _ in
                _ = container.scope("/a").child()[Client.self]
            }
            _ = container.scope("/a")[Timeout.self]
        }
        expectMessage(of: result, "/a", "reads that scope while it is being configured")
    }

    @Test("So is a rule that adds rules for its own scope, or invalidates it (law 14)", arguments: [true, false])
    func withoutEnd(adds: Bool) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [adds] in
            ThisProcess.mustStopSoon()
            let container = Container()
            container.configureScopes("/a") { [unowned container] _ in
                if adds { container.configureScopes { _ in } } else { container.invalidateScopes() }
            }
            _ = container.scope("/a")[Timeout.self]
        }
        expectMessage(of: result, "/a", "configure that scope again without end")
    }

    @Test("So are two rules that read each other's scopes, on one thread and on two (law 14)", arguments: [1, 2])
    func eachOther(threads: Int) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [threads] in
            ThisProcess.mustStopSoon()
            let container = Container()
            let barrier = threads == 2 ? Barrier(of: 2) : nil
            for (mine, other) in [("/a", "/b"), ("/b", "/a")] {
                container.configureScopes(mine) { [unowned container] in
                    barrier?.wait()
                    $0[Timeout.self] = container.scope(other)[Timeout.self]
                }
            }
            onThreads(threads) { number in _ = container.scope(number == 0 ? "/a" : "/b")[Timeout.self] }
        }
        expectMessage(of: result, "/", "reads that scope while it is being configured")
    }
}

extension Container {
    /// How many scopes this container and its family still know of.
    fileprivate var scopesInMemory: Int {
        attachmentsBelow.compactMap { $0 as? ScopeTable }.reduce(0) { $0 + $1.scopes.withLock { $0.count } }
    }
}
