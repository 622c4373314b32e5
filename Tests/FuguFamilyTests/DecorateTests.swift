import Fugu
import FuguInspection
import Support
import Testing

extension ContainerKeys {
    fileprivate var decoratedWindow: MainActorFeatureKey<DecorateTests.Window> { .init(DecorateTests.Window.self) }
}

@Suite("Decorations: a container wraps what would be loaded") struct DecorateTests {}

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

    struct Signup: Feature {
        let mailer: Mailer
        static func load(in container: any FeatureContainer) -> Signup { Signup(mailer: container[Mailer.self]) }
    }

    @Test(
        "The wrapper receives what the feature's own load creates, for who reads it directly and for who loads from it")
    func wraps() {
        let container = Container()
        container.decorate(Mailer.self) { mailer, _ in Mailer("logged \(mailer.text)", around: mailer) }
        expect(container[Mailer.self].text, equals: "logged mailer 1")
        expect(container[Signup.self].mailer, is: container[Mailer.self])
        expect(container.child()[Mailer.self], is: container[Mailer.self])
    }

    @Test("Decorations stack: the last one is the outermost, and those of a child wrap those of its parent")
    func stacks() {
        let container = Container()
        let child = container.child()
        child.decorate(Mailer.self) { mailer, _ in Mailer("3(\(mailer.text))", around: mailer) }
        container.decorate(Mailer.self) { mailer, _ in Mailer("1(\(mailer.text))", around: mailer) }
        container.decorate(Mailer.self) { mailer, _ in Mailer("2(\(mailer.text))", around: mailer) }
        expect(container[Mailer.self].text, equals: "2(1(mailer 1))")
        expect(child[Mailer.self].text, equals: "3(2(1(mailer 1)))")
        expect(child.child()[Mailer.self], is: child[Mailer.self])
        child.decorate(Mailer.self) { mailer, _ in Mailer("4(\(mailer.text))", around: mailer) }
        expect(child[Mailer.self].text, equals: "4(3(2(1(mailer 1))))")
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

    @Test("A child that overrides an input of what is wrapped has its own of both (laws 15 and 16)")
    func childOverridesInner() {
        let container = Container()
        container.decorate(Mailer.self) { mailer, _ in Mailer("logged \(mailer.text)", around: mailer) }
        let shared = container[Mailer.self]
        let child = container.child { $0[Level.self] = 5 }
        expect(child[Mailer.self].text, equals: "logged mailer 5")
        child.reset(Level.self)
        expect(child[Mailer.self], is: shared)
    }

    @Test("A child that overrides an input of the wrapper has its own wrapper around the shared instance (law 15)")
    func childOverridesWrapper() {
        let container = Container()
        container.decorate(Mailer.self) { mailer, container in
            Mailer("\(mailer.text) for \(container[RequestID.self])", around: mailer)
        }
        let (first, second) = (container.child { $0[RequestID.self] = 7 }, container.child { $0[RequestID.self] = 8 })
        expect(first[Mailer.self].text, equals: "mailer 1 for 7")
        expect(second[Mailer.self].text, equals: "mailer 1 for 8")
        expect(first[Mailer.self].inner, is: second[Mailer.self].inner)
        expect(first[Mailer.self].inner, is: container[Mailer.self].inner)
    }

    @Test("A decoration of a child concerns nobody above or beside it (law 14)")
    func childAlone() {
        let container = Container()
        let (child, other) = (container.child(), container.child())
        child.decorate(Mailer.self) { mailer, _ in Mailer("logged \(mailer.text)", around: mailer) }
        expect(child[Mailer.self].text, equals: "logged mailer 1")
        expect(container[Mailer.self].text, equals: "mailer 1")
        expect(other[Mailer.self], is: container[Mailer.self])
        expect(child[Mailer.self].inner, is: container[Mailer.self])
    }

    @Test(
        "Reset removes the decorations of this container and releases what they wrapped, those above stay (laws 8 and 20)"
    )
    func resets() {
        let container = Container()
        let child = container.child()
        weak let inner: Mailer?
        do {
            container.decorate(Mailer.self) { mailer, _ in Mailer("1(\(mailer.text))") }
            child.decorate(Mailer.self) { mailer, _ in Mailer("2(\(mailer.text))", around: mailer) }
            child.decorate(Mailer.self) { mailer, _ in Mailer("3(\(mailer.text))", around: mailer) }
            inner = child[Mailer.self].inner
        }
        expect(inner?.text, equals: "2(1(mailer 1))")
        child.reset(Mailer.self)
        expect(inner == nil)
        expect(child[Mailer.self], is: container[Mailer.self])
        expect(child[Mailer.self].text, equals: "1(mailer 1)")
        expect(child.graph.entries.allSatisfy { $0.container == 0 })
        container[Mailer.self] = Mailer("stub")
        expect(container.graph.entries.map(\.name).sorted(), equals: ["Level", "Mailer"])
    }

    @Test("A copy has the decorations of a container and of its ancestors, and loads what they wrap anew (law 18)")
    func copies() {
        let container = Container()
        container.decorate(Mailer.self) { mailer, _ in Mailer("1(\(mailer.text))") }
        let child = container.child { $0[Level.self] = 5 }
        child.decorate(Mailer.self) { mailer, _ in Mailer("2(\(mailer.text))") }
        let copy = Container(copying: child)
        expect(copy[Mailer.self].text, equals: "2(1(mailer 5))")
        let stub = Container()
        stub[Mailer.self] = Mailer("stub")
        let decorated = Container()
        decorated.decorate(Mailer.self) { mailer, _ in Mailer("3(\(mailer.text))") }
        expect(Container(copying: stub, decorated)[Mailer.self].text, equals: "3(stub)")
        expect(Container(copying: container, decorated)[Mailer.self].text, equals: "3(1(mailer 1))")
    }

    @Test("A wrapped instance is loaded once for all who ask at the same moment (law 4)")
    func once() {
        let loads = Counter()
        let key = FeatureKey<Int>(id: UniqueID()) { _ in loads.add() }
        let container = Container()
        container.decorate({ _ in key }) { number, _ in number * 10 }
        let numbers = Log<Int>()
        onThreads(8) { _ in numbers.add(container.child()[key]) }
        expect(Set(numbers.all), equals: [10])
        expect(loads.value, equals: 1)
    }

    @Test("What children wrap is loaded once for them and for those that aren't decorated (laws 4 and 17)")
    func onceAmongDecorated() {
        let loads = Counter()
        let key = FeatureKey<Int>(id: UniqueID()) { _ in loads.add() }
        for round in 1...50 {
            let container = Container()
            let children = (0..<8).map { number in
                container.child { if number > 3 { $0.decorate({ _ in key }) { plain, _ in -plain } } }
            }
            let given = Log<Int>()
            onThreads(8) { given.add(children[$0][key]) }
            expect(Set(given.all), equals: [round, -round])
        }
        expect(loads.value, equals: 50)
    }

    @Test("A decorated feature that reloads follows its own inputs and those of what it wraps (law 19)")
    func reloads() {
        struct Offset: Property { static var defaultValue: Int { 0 } }
        let key = FeatureKey(reloadsWhenInputsChange: true, id: UniqueID()) { $0[Level.self] }
        let container = Container()
        container.decorate({ _ in key }) { number, container in number * 10 + container[Offset.self] }
        expect(container[key], equals: 10)
        container[Level.self] = 2
        expect(container[key], equals: 20)
        container[Offset.self] = 3
        expect(container[key], equals: 23)
    }

    @Test("A decorated feature that is shared has one instance in the root, and each wrapper its own (law 15)")
    func shared() {
        let key = FeatureKey(home: .shared, id: UniqueID()) { _ in Mailer("pool") }
        let container = Container()
        container.decorate({ _ in key }) { pool, container in Mailer("\(container[RequestID.self])", around: pool) }
        let child = container.child { $0[RequestID.self] = 7 }
        expect(child[key].text, equals: "7")
        expect(child[key].inner, is: container[key].inner)
    }

    @Test("A parent's value is set and decorated after a child has decorated the feature (law 14)")
    func parentAfterChild() {
        let container = Container()
        let child = container.child()
        child.decorate(Mailer.self) { mailer, _ in Mailer("logged \(mailer.text)", around: mailer) }
        expect(child[Mailer.self].text, equals: "logged mailer 1")
        container[Mailer.self] = Mailer("set")
        container.decorate(Mailer.self) { mailer, _ in Mailer("counted \(mailer.text)", around: mailer) }
        expect(container[Mailer.self].text, equals: "counted set")
    }

    @Test("The graph shows what is wrapped as an input of the wrapper")
    func graph() {
        let container = Container()
        container.decorate(Mailer.self) { mailer, _ in mailer }
        _ = container[Mailer.self]
        let entry = container.graph.entries.first { $0.name == "Mailer" }
        let inner = container.graph.entries.first { $0.name == "Mailer (undecorated)" }
        expect(entry?.inputs, equals: inner.map { [$0.id] })
        expect(inner?.inputs.count, equals: 1)
    }

    @Test("A decorated feature that needs itself ends with its path, which names what is wrapped (law 6)")
    func cycle() {
        struct Loop: ThrowingFeature {
            static func load(in container: any FeatureContainer) throws -> Loop { try container[Loop.self] }
        }
        let container = Container()
        container.decorate(Loop.self) { loop, _ in loop }
        let error = #expect(throws: LoadError.self) { try container[Loop.self] }
        expect(error?.path, equals: ["Loop", "Loop (undecorated)", "Loop"])
    }

    @Test("A replacement that reads its own key ends with a message that names decorate (law 6)")
    func ownReplacement() async {
        struct Loop: ThrowingFeature {
            static func load(in container: any FeatureContainer) throws -> Loop { Loop() }
        }
        let container = Container()
        container.replace(Loop.self) { try $0[Loop.self] }
        let error = #expect(throws: LoadError.self) { try container[Loop.self] }
        expect(
            error?.description.contains("call decorate, and use the instance that its closure receives"), equals: true)
        expect(error?.code, equals: .ownReplacement)
        expect(error?.path, equals: ["Loop", "Loop"])
        let decorated = Container()
        decorated.decorate(Loop.self) { try $1[Loop.self] }
        let child = container.child()
        child.decorate(Loop.self) { loop, _ in loop }
        #expect(throws: LoadError.self) { try child[Loop.self] }.map {
            expect($0.code, equals: .ownReplacement, "\($0)")
        }
        let own = #expect(throws: LoadError.self) { try decorated[Loop.self] }
        expect(own?.description.contains("decorates Loop reads Loop itself"), equals: true, "\(own?.description ?? "")")
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ThisProcess.mustStopSoon()
            let container = Container()
            container.replace(Mailer.self) { $0[Mailer.self] }
            _ = container[Mailer.self]
        }
        expectMessage(of: result, "closure that replaces or decorates Mailer reads Mailer")
    }

    @Test("A load can't decorate anything (law 15)")
    func inLoad() async {
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

    @Test("A copy, its children, and what they decorate wrap each layer once, wherever the layers come from (law 18)")
    func copiesOfDecoratedChildren() {
        let root = Container()
        root.decorate(Mailer.self) { inner, _ in Mailer("1(\(inner.text))", around: inner) }
        root.decorate(Mailer.self) { inner, _ in Mailer("2(\(inner.text))", around: inner) }
        let child = root.child()
        child.decorate(Mailer.self) { inner, _ in Mailer("3(\(inner.text))", around: inner) }
        let copy = Container(copying: child)
        expect(copy[Mailer.self].text, equals: "3(2(1(mailer 1)))")
        copy.decorate(Mailer.self) { inner, _ in Mailer("4(\(inner.text))", around: inner) }
        expect(copy[Mailer.self].text, equals: "4(3(2(1(mailer 1))))")
        let below = copy.child()
        below.decorate(Mailer.self) { inner, _ in Mailer("5(\(inner.text))", around: inner) }
        expect(below[Mailer.self].text, equals: "5(4(3(2(1(mailer 1)))))")
        let again = Container(copying: below)
        again.decorate(Mailer.self) { inner, _ in Mailer("6(\(inner.text))", around: inner) }
        expect(again[Mailer.self].text, equals: "6(5(4(3(2(1(mailer 1))))))")
    }

    @Test(
        "A reset of a copy removes the layers within, too, so that the next ones wrap a new instance (laws 18 and 20)")
    func resetOfCopy() {
        let root = Container()
        root.decorate(Mailer.self) { inner, _ in Mailer("1", around: inner) }
        let child = root.child()
        child.decorate(Mailer.self) { inner, _ in Mailer("2", around: inner) }
        let copy = Container(copying: child)
        let innermost = copy[Mailer.self].inner?.inner
        expect(innermost != nil)
        copy.reset(Mailer.self)
        for text in ["1", "2"] { copy.decorate(Mailer.self) { inner, _ in Mailer(text, around: inner) } }
        expect(copy[Mailer.self].inner?.inner != nil)
        expect(copy[Mailer.self].inner?.inner !== innermost)
    }

    @Test("A set at the same moment as a decoration is decorated, or wins, and is never lost (law 10)")
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

    @Test("Throwing and async features are wrapped, too")
    func keyPaths() async throws {
        let container = Container()
        container.decorate(Ticket.self) { ticket, _ in "[\(ticket)]" }
        container.decorate(Journey.self) { journey, _ in "(\(journey))" }
        try expect(container[Ticket.self], equals: "[ticket]")
        try await expect(container[Journey.self], equals: "(journey)")
    }
}
