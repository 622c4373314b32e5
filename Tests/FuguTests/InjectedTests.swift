import Fugu
import FuguInspection
import Support
import Testing

extension ContainerKeys {
    fileprivate var greeting: PropertyKey<String> { .init(defaultValue: "hello") }
    fileprivate var name: PropertyKey<String> { .init(defaultValue: "world") }
}

extension ContainerKeys {
    fileprivate var phrase: FeatureKey<String> { .init { "\($0.greeting), \($0.name)" } }
}

@Suite("@Injected reads from a container under a key path")
struct InjectedTests {
    static let cases: [Case<InjectedTests>] = [
        Case("takes the container that is current where the wrapper is made, and reads anew each time", current),
        Case("takes the container it is given, and keeps it", given),
        Case(
            "takes a closure, in which a key path that is kept in a variable can be read, and a container (law 15)",
            closuresAndKeptKeyPaths),
        Case("suits main-actor classes and actors", isolated),
        Case(
            "inside load(in:) with the handle it is recorded: a child that sets what was read has its own (law 15)",
            handle),
        Case("inside load(in:) without a container it reads the load's own, and is recorded (law 15)", insideLoad),
        Case(
            "kept by a feature it answers from the feature's home, and such reads are no inputs (law 15)", keptByFeature
        ),
        Case("kept by a feature it does not keep the container (law 8)", noCircle),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<InjectedTests>) async throws { try await stated.run(self) }

    struct Speaker {
        @Injected(\.greeting) var greeting
        @Injected(\.phrase) var phrase
    }

    /// Reads through the handle it is given.
    struct Guest: Feature {
        @Injected var name: String
        let card: String

        init(in container: any FeatureContainer) {
            _name = Injected(\.name, in: container)
            card = _name.wrappedValue
        }
        static func load(in container: any FeatureContainer) -> Guest { Guest(in: container) }
    }

    /// Reads through `Container.current`, which inside a load is the load's own handle.
    struct Host: Feature {
        @Injected(\.greeting) var greeting
        let sign: String

        init() { sign = _greeting.wrappedValue }
        static func load(in container: any FeatureContainer) -> Host { Host() }
    }

    @MainActor final class Model {
        @Injected(\.greeting) var greeting
    }

    actor Worker {
        @Injected(\.greeting) var greeting
        func greet() -> String { greeting }
    }

    func current() {
        var made: Speaker?
        Container.with {
            $0.greeting = "ahoj"
        } operation: {
            made = Speaker()
            expect(made?.greeting, equals: "ahoj")
            Container.current.greeting = "hi"
        }
        expect(made?.greeting, equals: "hi")
        expect(made?.phrase, equals: "hi, world")
    }

    func given() {
        var container: Container? = Container()
        container!.greeting = "ahoj"
        weak let alive = container
        var injected: Injected<String>? = Injected(\.greeting, in: container!)
        container = nil
        expect(injected?.wrappedValue, equals: "ahoj")
        expect(alive != nil)
        injected = nil
        expect(alive == nil)
    }

    func closuresAndKeptKeyPaths() {
        let container = Container()
        container.greeting = "ahoj"
        let keyPath: any KeyPath<any FeatureContainer, String> & Sendable = \.greeting
        Container.with(container) {
            expect(Injected({ $0[keyPath: keyPath] }).wrappedValue, equals: "ahoj")
            expect(Injected({ $0[keyPath: keyPath] }, in: Container()).wrappedValue, equals: "hello")
            expect(Injected { $0.greeting.count }.wrappedValue, equals: 4)
        }
    }

    func isolated() async {
        let container = Container()
        container.greeting = "ahoj"
        await Container.with(container) {
            await expect(Worker().greet(), equals: "ahoj")
            await expect(MainActor.run { Model().greeting }, equals: "ahoj")
        }
    }

    func handle() {
        let root = Container()
        expect(root[Guest.self].card, equals: "world")
        let child = root.child { $0.name = "Ada" }
        expect(child[Guest.self].card, equals: "Ada")
        expect(child[Guest.self].name, equals: "Ada")
        expect(root[Guest.self].card, equals: "world")
        expect(child.graph.entries.first { $0.name == "Guest" && $0.depth == 1 }?.inputs.count, equals: 1)
    }

    func insideLoad() {
        let root = Container()
        let child = root.child { $0.greeting = "ahoj" }
        expect(child[Host.self].sign, equals: "ahoj")
        expect(child[Host.self].greeting, equals: "ahoj")
        expect(root[Host.self].sign, equals: "hello")
        expect(root.child()[Host.self].sign, equals: "hello")
    }

    func keptByFeature() {
        let root = Container()
        expect(root.child()[Guest.self].name, equals: "world")
        root.name = "Ada"
        expect(root[Guest.self].name, equals: "Ada")
        expect(root[Guest.self].card, equals: "world")
        let other = root.child { $0.greeting = "ahoj" }
        expect(other[Guest.self].name, equals: "Ada")
    }

    func noCircle() {
        var container: Container? = Container()
        weak let alive = container
        _ = container![Guest.self]
        _ = container![Host.self]
        container = nil
        expect(alive == nil)
    }
}
