import Fugu
import Support
import Testing

@Suite("What a child decorates, or adds to, follows what changes above (law 14)") struct LayersOfChildrenTests {}

extension LayersOfChildrenTests {
    struct Level: Property { static var defaultValue: Int { 1 } }

    struct Mailer: Feature {
        let text: String
        static func load(in container: any FeatureContainer) -> Mailer { Mailer(text: "own") }
    }
    struct Signup: Feature {
        static var reloadsWhenInputsChange: Bool { true }
        let text: String
        static func load(in container: any FeatureContainer) -> Signup {
            Signup(text: "signup \(container[Mailer.self].text)")
        }
    }
    struct Broken: Error {}
    struct Ticket: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> String { throw Broken() }
    }
    enum Journey: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> String { "own" }
    }

    private static func decorate(_ container: Container, _ name: String) {
        container.decorate(Mailer.self) { mailer, _ in Mailer(text: "\(name)(\(mailer.text))") }
    }

    @Test("What is set, replaced, decorated, and reset above is what a child wraps at its next read")
    func follows() {
        let container = Container()
        let child = container.child()
        let grandchild = child.child()
        Self.decorate(child, "a")
        Self.decorate(child, "b")
        Self.decorate(grandchild, "c")
        func texts() -> [String] { [container, child, grandchild].map { $0[Mailer.self].text } }
        expect(texts(), equals: ["own", "b(a(own))", "c(b(a(own)))"])
        container[Mailer.self] = Mailer(text: "set")
        expect(texts(), equals: ["set", "b(a(set))", "c(b(a(set)))"])
        container.replace(Mailer.self) { _ in Mailer(text: "replaced") }
        expect(texts(), equals: ["replaced", "b(a(replaced))", "c(b(a(replaced)))"])
        Self.decorate(container, "d")
        expect(texts(), equals: ["d(replaced)", "b(a(d(replaced)))", "c(b(a(d(replaced))))"])
        container.reset(Mailer.self)
        expect(texts(), equals: ["own", "b(a(own))", "c(b(a(own)))"])
        child.reset(Mailer.self)
        container[Mailer.self] = Mailer(text: "last")
        expect(texts(), equals: ["last", "last", "c(last)"])
    }

    @Test("What a container above has loaded and resets is loaded again for what children wrap (law 20)")
    func resets() {
        let (made, container) = (Counter(), Container())
        let key = FeatureKey(id: UniqueID()) { _ in "\(made.add())" }
        let list = FeatureKey<[String]>(id: UniqueID()) { _ in ["\(made.add())"] }
        let child = container.child()
        let below = child.child { $0[Level.self] = 7 }
        child.decorate({ _ in key }) { "\($0) at \($1[Level.self])" }
        child.contribute(to: { _ in list }) { _ in "child" }
        expect(child[key], equals: "1 at 1")
        expect(below[key], equals: "1 at 7")
        expect(child[list], equals: ["2", "child"])
        container.reset { _ in key }
        container.reset { _ in list }
        expect(below[key], equals: "3 at 7")
        expect(child[key], equals: "3 at 1")
        expect(child[list], equals: ["4", "child"])
        // What a child wraps is what its parent has.
        expect(container[key], equals: "3")
        container.reset { _ in key }
        expect(child[key], equals: "5 at 1")
        let seen = Log<String>()
        let rule = container.child()
        rule.observe({ _ in key }) { seen.add($0) }
        expect(rule[key], equals: "5")
        child.reset { _ in key }
        rule.reset { _ in key }
        expect(seen.all, equals: [])
        container[key] = "set"
        container.reset { _ in key }
        child.decorate({ _ in key }) { value, _ in "again \(value)" }
        expect(child[key], equals: "again \(made.value)")
        expect(made.value > 5)
    }

    struct Pool: ThrowingFeature {
        static var home: Home { .shared }
        static func load(in container: any FeatureContainer) throws -> String { "own" }
    }

    @Test("What a loader above creates is shared by all that wrap it, or is where it's declared to be (laws 15 and 17)")
    func shared() async throws {
        let (made, container) = (Counter(), Container())
        container.replace(Mailer.self) { _ in Mailer(text: "\(made.add())") }
        container.replace(Journey.self) { _ in "\(made.add())" }
        container.replace(Pool.self) { "pool \($0[Level.self])" }
        let children = (0..<3).map { level in container.child { $0[Level.self] = level } }
        for child in children {
            child.decorate(Mailer.self) { Mailer(text: "\($0.text) at \($1[Level.self])") }
            child.decorate(Journey.self) { journey, _ in "a(\(journey))" }
            child.decorate(Pool.self) { pool, _ in "a(\(pool))" }
        }
        expect(children.map { $0[Mailer.self].text }, equals: ["1 at 0", "1 at 1", "1 at 2"])
        for child in children { try await expect(child[Journey.self], equals: "a(2)") }
        #expect(throws: LoadError.self) { try children[0][Pool.self] }.map { expect($0.code, equals: .inputOverridden) }
        let plain = container.child()
        plain.decorate(Pool.self) { pool, _ in "a(\(pool))" }
        try expect(plain[Pool.self], equals: "a(pool 1)")
        container.decorate(Mailer.self) { mailer, _ in Mailer(text: "\(mailer.text) + \(made.add())") }
        expect(children.map { $0[Mailer.self].text }, equals: ["3 + 4 at 0", "3 + 4 at 1", "3 + 4 at 2"])
        container.replace(Mailer.self) { _ in Mailer(text: "\(made.add())") }
        expect(children.map { $0[Mailer.self].text }, equals: ["5 at 0", "5 at 1", "5 at 2"])
        container.reset(Mailer.self)
        expect(children.map { $0[Mailer.self].text }, equals: ["own at 0", "own at 1", "own at 2"])
    }

    @Test("A setting between the two hides what is above it, and uncovers it when it's reset")
    func between() {
        let container = Container()
        let middle = container.child()
        let child = middle.child()
        Self.decorate(child, "a")
        expect(child[Mailer.self].text, equals: "a(own)")
        middle[Mailer.self] = Mailer(text: "middle")
        expect(child[Mailer.self].text, equals: "a(middle)")
        container[Mailer.self] = Mailer(text: "set")
        expect(child[Mailer.self].text, equals: "a(middle)")
        middle.reset(Mailer.self)
        expect(child[Mailer.self].text, equals: "a(set)")
        child[Mailer.self] = Mailer(text: "child")
        container[Mailer.self] = Mailer(text: "later")
        Self.decorate(child, "b")
        expect(child[Mailer.self].text, equals: "b(child)")
        container[Mailer.self] = Mailer(text: "last")
        expect(child[Mailer.self].text, equals: "b(child)")
    }

    @Test(
        "Observers of a child, and what reloads there, get the new wrapper; what doesn't reload keeps the old one (law 19)"
    )
    func observers() {
        let container = Container().unreported
        let child = container.child()
        let kept = FeatureKey(id: UniqueID()) { "kept \($0[Mailer.self].text)" }
        let (seen, reloaded, others) = (Log<String>(), Log<String>(), Log<String>())
        child.observe(Mailer.self) { seen.add($0.text) }
        child.observe(Signup.self) { reloaded.add($0.text) }
        Self.decorate(child, "a")
        let sibling = container.child()
        sibling.observe(Mailer.self) { others.add($0.text) }
        expect(child[kept], equals: "kept a(own)")
        expect(child[Signup.self].text, equals: "signup a(own)")
        container[Mailer.self] = Mailer(text: "set")
        expect(seen.all.last, equals: "a(set)")
        expect(reloaded.all.last, equals: "signup a(set)")
        expect(others.all, equals: ["own", "set"])
        expect(child[kept], equals: "kept a(own)")
        let count = seen.count
        child[Mailer.self] = Mailer(text: "child")
        container[Mailer.self] = Mailer(text: "later")
        expect(seen.all.dropFirst(count), equals: ["child"])
    }

    @Test("A container below that overrides an input of the wrapper wraps the new value, too (law 16)")
    func ownWrapper() {
        let container = Container()
        let child = container.child()
        child.decorate(Mailer.self) { Mailer(text: "\($0.text) \($1[Level.self])") }
        let below = child.child { $0[Level.self] = 7 }
        expect(child[Mailer.self].text, equals: "own 1")
        expect(below[Mailer.self].text, equals: "own 7")
        container[Mailer.self] = Mailer(text: "set")
        expect(child[Mailer.self].text, equals: "set 1")
        expect(below[Mailer.self].text, equals: "set 7")
    }

    @Test("A child's own elements stay when the list above changes, and so do those above that stay in it (law 3)")
    func elements() {
        let list = FeatureKey<[String]>(id: UniqueID()) { _ in ["own"] }
        let (made, container) = (Counter(), Container())
        func element(_ name: String) -> @Sendable (any FeatureContainer) -> String { { _ in "\(name) \(made.add())" } }
        container.contribute(to: { _ in list }, load: element("root"))
        let child = container.child()
        child.contribute(to: { _ in list }, load: element("child"))
        expect(child[list], equals: ["own", "root 1", "child 2"])
        container.contribute(to: { _ in list }, load: element("late"))
        expect(child[list], equals: ["own", "root 1", "late 3", "child 2"])
        expect(container[list], equals: ["own", "root 1", "late 3"])
        container[list] = ["set"]
        expect(child[list], equals: ["set", "child 2"])
    }

    @Test("A feature that failed in a child loads again once something above replaces what it wraps (law 19)")
    func failed() throws {
        let container = Container()
        let child = container.child()
        child.decorate(Ticket.self) { ticket, _ in "a(\(ticket))" }
        #expect(throws: Broken.self) { try child[Ticket.self] }
        container.set(Ticket.self, to: "set")
        try expect(child[Ticket.self], equals: "a(set)")
    }

    @Test(
        "A load of the wrapper, or of what it wraps, that began before a set above isn't kept (law 5)",
        arguments: [false, true])
    func during(isInner: Bool) async throws {
        let container = Container()
        let child = container.child()
        let (began, goesOn) = (Gate(), Gate())
        @Sendable func wait() async {
            began.open()
            await goesOn.opened()
        }
        if isInner {
            container.replace(Journey.self) { _ in
                await wait()
                return "old"
            }
        }
        child.decorate(Journey.self) { journey, _ in
            if !isInner, !began.isOpen { await wait() }
            return "a(\(journey))"
        }
        async let first = child[Journey.self]
        await began.opened()
        container.set(Journey.self, to: "set")
        async let second = child[Journey.self]
        goesOn.open()
        _ = try await first
        try await expect(second, equals: "a(set)")
        try await expect(child[Journey.self], equals: "a(set)")
    }

    struct Copied: Feature {
        static var reloadsWhenInputsChange: Bool { true }
        static func load(in container: any FeatureContainer) -> String {
            let child = Container.current.child()
            child.decorate(Mailer.self) { mailer, _ in Mailer(text: "k(\(mailer.text))") }
            return child[Mailer.self].text
        }
    }

    @Test("What a load wraps in a child of its own is its input (laws 15, 16, and 19)", arguments: [false, true])
    func inLoad(isRootFirst: Bool) {
        let container = Container()
        let tenant = container.child { $0[Mailer.self] = Mailer(text: "tenant") }
        if isRootFirst { expect(container[Copied.self], equals: "k(own)") }
        expect(tenant[Copied.self], equals: "k(tenant)")
        expect(container[Copied.self], equals: "k(own)")
        expect(container.child()[Copied.self], equals: "k(own)")
        container[Mailer.self] = Mailer(text: "set")
        expect(container[Copied.self], equals: "k(set)")
        expect(tenant[Copied.self], equals: "k(tenant)")
    }

    @Test("A decorated instance stays when the value that it wraps is set to an equal one (laws 10 and 14)")
    func equalAbove() {
        let key = FeatureKey<Int>(id: UniqueID()) { _ in 1 }
        let container = Container()
        let child = container.child()
        let wrapped = Log<Int>()
        child.decorate({ _ in key }) { value, _ in
            wrapped.add(value)
            return value + 1
        }
        expect(child[key], equals: 2)
        container[key] = 1
        expect(child[key], equals: 2)
        expect(wrapped.all, equals: [1])
        container[key] = 5
        expect(child[key], equals: 6)
    }

    @Test("A child that goes leaves nothing behind above, and an update above reaches it once (laws 7 and 8)")
    func goes() {
        let container = Container()
        weak let gone: Probe?
        do {
            let child = container.child()
            let probe = Probe()
            gone = probe
            child.decorate(Mailer.self) { [probe] mailer, _ in
                withExtendedLifetime(probe) { Mailer(text: "a(\(mailer.text))") }
            }
            let seen = Log<String>()
            child.observe(Mailer.self) { seen.add($0.text) }
            _ = child[Mailer.self]
            container.update {
                $0[Mailer.self] = Mailer(text: "1")
                $0[Mailer.self] = Mailer(text: "2")
            }
            expect(seen.all, equals: ["a(own)", "a(2)"])
        }
        container[Mailer.self] = Mailer(text: "after")
        expect(gone == nil)
        expect(container[Mailer.self].text, equals: "after")
    }

    private final class Probe: Sendable {}
}
