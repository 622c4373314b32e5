import Fugu
import FuguInspection
import Support
import Testing

extension ContainerKeys {
    fileprivate var decoratedWindow: MainActorFeatureKey<DecorateTests.Window> { .init(DecorateTests.Window.self) }
}

/// Decorations: a container wraps what would be loaded.
struct DecorateTests {}

extension DecorateTests {
    struct Level: Property { static var defaultValue: Int { 1 } }
    struct RequestID: Property { static var defaultValue: Int { 0 } }

    /// Says what it was made from; every instance is another one.
    final class Mailer: Feature, Sendable {
        let text: String
        let inner: Mailer?
        init(_ text: String, around inner: Mailer? = nil) { (self.text, self.inner) = (text, inner) }
        static func load(in container: any FeatureContainer) -> Mailer { Mailer("mailer \(container[Level.self])") }
    }

    private static func add(_ name: String, to container: Container) {
        container.decorate(Mailer.self) { mailer, _ in Mailer("\(name)(\(mailer.text))", around: mailer) }
    }

    struct Signup: Feature {
        let mailer: Mailer
        static func load(in container: any FeatureContainer) -> Signup { Signup(mailer: container[Mailer.self]) }
    }

    @Test("The wrapper receives what the feature's own load creates, of every kind")
    func wraps() async throws {
        // The wrapper receives what the feature's own load creates, for who reads it directly and for who loads from it.
        do {
            let container = Container()
            container.decorate(Mailer.self) { mailer, _ in Mailer("logged \(mailer.text)", around: mailer) }
            expect(container[Mailer.self].text, equals: "logged mailer 1")
            expect(container[Signup.self].mailer, is: container[Mailer.self])
            expect(container.child()[Mailer.self], is: container[Mailer.self])
        }
        // Throwing and async features are wrapped, too.
        do {
            let container = Container()
            container.decorate(Ticket.self) { ticket, _ in "[\(ticket)]" }
            container.decorate(Journey.self) { journey, _ in "(\(journey))" }
            try expect(container[Ticket.self], equals: "[ticket]")
            try await expect(container[Journey.self], equals: "(journey)")
        }
    }

    @Test("A decoration wraps what was set or replaced, here or above")
    func wrapsOverrides() {
        let (container, replaced) = (Container(), Container())
        let stub = Mailer("stub")
        container[Mailer.self] = stub
        let child = container.child()
        for container in [container, child] {
            container.decorate(Mailer.self) { mailer, _ in Mailer("logged \(mailer.text)", around: mailer) }
        }
        expect(container[Mailer.self].inner, is: stub)
        expect(child[Mailer.self].text, equals: "logged logged stub")
        replaced.replace(Mailer.self) { Mailer("replaced \($0[Level.self])") }
        let below = replaced.child { $0[Level.self] = 5 }
        below.decorate(Mailer.self) { mailer, _ in Mailer("logged \(mailer.text)", around: mailer) }
        expect(below[Mailer.self].text, equals: "logged replaced 5")
        replaced.decorate(Mailer.self) { mailer, _ in Mailer("logged \(mailer.text)", around: mailer) }
        expect(replaced[Mailer.self].text, equals: "logged replaced 1")
    }

    @Test("Decorations stack: the last one is the outermost, and those of a child wrap what it inherits (law 10)")
    func stacks() {
        let container = Container()
        Self.add("1", to: container)
        Self.add("2", to: container)
        let child = container.child()
        Self.add("3", to: child)
        expect(container[Mailer.self].text, equals: "2(1(mailer 1))")
        expect(child[Mailer.self].text, equals: "3(2(1(mailer 1)))")
        expect(child.child()[Mailer.self], is: child[Mailer.self])
        Self.add("4", to: child)
        expect(child[Mailer.self].text, equals: "4(3(2(1(mailer 1))))")
        expect(container[Mailer.self].text, equals: "2(1(mailer 1))")
    }

    @Test("Sixty decorations of one key, and ten thousand, load without nesting (law 5)", arguments: [60, 10_000])
    func many(count: Int) {
        let key = FeatureKey<Int>(id: UniqueID()) { _ in 0 }
        let container = Container()
        for _ in 0..<count { container.decorate({ _ in key }) { number, _ in number + 1 } }
        expect(container[key], equals: count)
        expect(container.child { $0.decorate({ _ in key }) { number, _ in -number } }[key], equals: -count)
    }

    @Test(
        "Threads that decorate one key at one moment lose nothing, and a decorated feature is loaded once for all (laws 3 and 6)"
    )
    func threads() {
        // Threads that decorate one key at the same moment lose none of the decorations.
        do {
            let key = FeatureKey<Int>(id: UniqueID()) { _ in 0 }
            let container = Container()
            onThreads(8) { _ in
                for _ in 0..<50 { container.decorate({ _ in key }) { number, _ in number + 1 } }
            }
            expect(container[key], equals: 400)
        }
        // A decorated feature is loaded once for all who ask at the same moment.
        do {
            let loads = Counter()
            let key = FeatureKey<Int>(id: UniqueID()) { _ in loads.add() }
            let container = Container()
            container.decorate({ _ in key }) { number, _ in number * 10 }
            let numbers = Log<Int>()
            onThreads(8) { _ in numbers.add(container.child()[key]) }
            expect(Set(numbers.all), equals: [10])
            expect(loads.value, equals: 1)
        }
    }

    @Test(
        "A child has its own of what it decorates, or of what is made from its overrides, which concerns nobody above (laws 10 and 11)"
    )
    func childOverrides() {
        // A child that overrides an input of the wrapper or of what it wraps has its own of both.
        do {
            let container = Container()
            container.decorate(Mailer.self) { mailer, container in
                Mailer("\(mailer.text) for \(container[RequestID.self])", around: mailer)
            }
            let shared = container[Mailer.self]
            let (first, second) = (container.child { $0[RequestID.self] = 7 }, container.child { $0[Level.self] = 8 })
            expect(first[Mailer.self].text, equals: "mailer 1 for 7")
            expect(second[Mailer.self].text, equals: "mailer 8 for 0")
            expect(first[Mailer.self].inner !== shared.inner)
            second.reset(Level.self)
            expect(second[Mailer.self], is: shared)
        }
        // A decoration of a child concerns nobody above or beside it, and loads an instance of its own.
        do {
            let container = Container()
            let (child, other) = (container.child(), container.child())
            Self.add("logged", to: child)
            expect(child[Mailer.self].text, equals: "logged(mailer 1)")
            expect(container[Mailer.self].text, equals: "mailer 1")
            expect(other[Mailer.self], is: container[Mailer.self])
            expect(child[Mailer.self].inner !== container[Mailer.self])
            other[Mailer.self] = Mailer("tagged", around: other[Mailer.self])
            expect(other[Mailer.self].inner, is: container[Mailer.self])
        }
    }

    @Test("A child decorates what it inherits at the call; what changes above later doesn't reach it (law 10)")
    func changesAbove() {
        let container = Container()
        let child = container.child()
        Self.add("a", to: child)
        let made = child[Mailer.self]
        container[Mailer.self] = Mailer("set")
        Self.add("b", to: container)
        container.reset(Mailer.self)
        expect(child[Mailer.self], is: made)
        container[Mailer.self] = Mailer("set")
        expect(child[Mailer.self], is: made)
        child.reset(Mailer.self)
        expect(child[Mailer.self].text, equals: "set")
        Self.add("c", to: child)
        expect(child[Mailer.self].text, equals: "c(set)")
    }

    @Test("Reset removes the decorations of this container and releases what they wrapped (laws 7 and 13)")
    func resets() {
        let container = Container()
        let child = container.child()
        weak let inner: Mailer?
        weak let set: Mailer?
        do {
            let stub = Mailer("stub")
            set = stub
            Self.add("1", to: container)
            child[Mailer.self] = stub
            Self.add("2", to: child)
            Self.add("3", to: child)
            inner = child[Mailer.self].inner
        }
        expect(inner?.text, equals: "2(stub)")
        child.reset(Mailer.self)
        expect(inner == nil)
        expect(set == nil)
        expect(child[Mailer.self], is: container[Mailer.self])
        expect(child[Mailer.self].text, equals: "1(mailer 1)")
        expect(child.graph.entries.allSatisfy { $0.container == 0 })
    }

    @Test("A copy has what the nearest decorated, and loads it anew; the last container wins (law 2)")
    func copies() {
        let container = Container()
        Self.add("1", to: container)
        let child = container.child { $0[Level.self] = 5 }
        Self.add("2", to: child)
        let copy = Container(copying: child)
        expect(copy[Mailer.self].text, equals: "2(1(mailer 5))")
        Self.add("3", to: copy)
        expect(copy[Mailer.self].text, equals: "3(2(1(mailer 5)))")
        expect(child[Mailer.self].text, equals: "2(1(mailer 5))")
        let (stub, decorated) = (Container(), Container())
        stub[Mailer.self] = Mailer("stub")
        Self.add("3", to: decorated)
        expect(Container(copying: stub, decorated)[Mailer.self].text, equals: "3(mailer 1)")
        expect(Container(copying: decorated, stub)[Mailer.self].text, equals: "stub")
        expect(Container(copying: container, decorated)[Mailer.self].text, equals: "3(mailer 1)")
    }

    @Test("A decorated feature that reloads follows its own inputs and those of what it wraps (law 12)")
    func reloads() {
        struct Offset: Property { static var defaultValue: Int { 0 } }
        let key = FeatureKey(reloadsWhenInputsChange: true, id: UniqueID()) { $0[Level.self] }
        let container = Container()
        container.decorate({ _ in key }) { number, container in number * 10 + container[Offset.self] }
        let seen = Log<Int>()
        container.observe({ _ in key }) { seen.add($0) }
        expect(container[key], equals: 10)
        container[Level.self] = 2
        container[Offset.self] = 3
        expect(seen.all, equals: [10, 20, 23])
    }

    @Test("A declared home is that of the wrapper, too, where it's decorated at home or above (law 11)")
    func shared() throws {
        let key = FeatureKey(home: .shared, id: UniqueID()) { _ in Mailer("pool") }
        let container = Container()
        container.decorate({ _ in key }) { pool, container in Mailer("shared", around: pool) }
        let child = container.child { $0[RequestID.self] = 7 }
        expect(child[key], is: container[key])
        child.decorate({ _ in key }) { pool, container in Mailer("\(container[RequestID.self])", around: pool) }
        expect(child[key].text, equals: "7")
        expect(child[key].inner?.text, equals: "shared")
    }

    @Test("A replacement or a decoration that reads its own key ends with a message that names decorate (law 5)")
    func ownReplacement() async {
        struct Loop: ThrowingFeature {
            static func load(in container: any FeatureContainer) throws -> Loop { Loop() }
        }
        let (replaced, decorated) = (Container(), Container())
        replaced.replace(Loop.self) { try $0[Loop.self] }
        decorated.decorate(Loop.self) { try $1[Loop.self] }
        for container in [replaced, decorated] {
            let error = #expect(throws: LoadError.self) { try container[Loop.self] }
            expect(
                error?.description.contains("call decorate, and use the instance that its closure receives"),
                equals: true)
            expect(error?.description.contains("decorates Loop reads Loop itself"), equals: true)
            expect(error?.code, equals: .ownReplacement)
            expect(error?.path, equals: ["Loop", "Loop"])
        }
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ThisProcess.mustStopSoon()
            let container = Container()
            container.replace(Mailer.self) { $0[Mailer.self] }
            _ = container[Mailer.self]
        }
        expectMessage(of: result, "closure that replaces or decorates Mailer reads Mailer")
    }

    @Test("A load can't decorate anything, except in a child of its own (law 11)")
    func inLoad() async {
        // A load can't decorate anything.
        do {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                ThisProcess.mustStopSoon()
                let key = FeatureKey<Int>(id: UniqueID()) { _ in
                    Container.current.decorate(Mailer.self) { mailer, _ in mailer }
                    return 1
                }
                _ = Container()[key]
            }
            expectMessage(of: result, "changes Mailer while it loads")
        }
        // What a load decorates in a child of its own is loaded there.
        do {
            let reader = FeatureKey<String>(id: UniqueID()) { _ in
                let child = Container.current.child()
                Self.add("k", to: child)
                return child[Mailer.self].text
            }
            let tenant = Container().child { $0[Mailer.self] = Mailer("tenant") }
            expect(tenant[reader], equals: "k(tenant)")
            expect(Container()[reader], equals: "k(mailer 1)")
        }
    }

    @Test("A set at the same moment as a decoration is decorated, or wins, and is never lost (law 9)")
    func setMeanwhile() async {
        for round in 1...300 {
            let container = Container()
            container[Mailer.self] = Mailer("first")
            await withTaskGroup { group in
                group.addTask { container[Mailer.self] = Mailer("\(round)") }
                group.addTask { container.decorate(Mailer.self) { inner, _ in Mailer("d", around: inner) } }
            }
            let mailer = container[Mailer.self]
            expect(mailer.text == "\(round)" || mailer.inner?.text == "\(round)")
        }
    }

    @MainActor final class Window: MainActorFeature {
        let title: String
        init(title: String) { self.title = title }
        static func load(in container: any FeatureContainer) -> Window { Window(title: "untitled") }
    }

    @Test("A main-actor feature is wrapped on the main actor, by type and by key path") @MainActor
    func mainActor() {
        let container = Container()
        container.decorate(Window.self) { window, handle in Window(title: "\(window.title) \(handle[Level.self])") }
        container.decorate(\.decoratedWindow) { window, _ in Window(title: "last \(window.title)") }
        expect(container[Window.self].title, equals: "last untitled 1")
        expect(container[Window.self], is: container[Window.self])
    }

    struct Ticket: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> String { "ticket" }
    }
    struct Journey: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> String { "journey" }
    }
}
