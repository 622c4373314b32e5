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

    @Test("takes the container that is current where the wrapper is made, and reads anew each time")
    func current() {
        var made: Speaker?
        Container.with {
            $0.greeting = "ahoj"
        } operation: {
            made = Speaker()
            #expect(made?.greeting == "ahoj")
            Container.current.greeting = "hi"
        }
        #expect(made?.greeting == "hi")
        #expect(made?.phrase == "hi, world")
    }

    @Test("takes the container it is given, and keeps it")
    func given() {
        var container: Container? = Container()
        container!.greeting = "ahoj"
        weak let alive = container
        var injected: Injected<String>? = Injected(\.greeting, in: container!)
        container = nil
        #expect(injected?.wrappedValue == "ahoj")
        #expect(alive != nil)
        injected = nil
        #expect(alive == nil)
    }

    @Test("takes a closure, in which a key path that is kept in a variable can be read, and a container (law 15)")
    func closuresAndKeptKeyPaths() {
        let container = Container()
        container.greeting = "ahoj"
        let keyPath: any KeyPath<any FeatureContainer, String> & Sendable = \.greeting
        Container.with(container) {
            #expect(Injected({ $0[keyPath: keyPath] }).wrappedValue == "ahoj")
            #expect(Injected({ $0[keyPath: keyPath] }, in: Container()).wrappedValue == "hello")
            #expect(Injected { $0.greeting.count }.wrappedValue == 4)
        }
    }

    @Test("suits main-actor classes and actors")
    func isolated() async {
        let container = Container()
        container.greeting = "ahoj"
        await Container.with(container) {
            #expect(await Worker().greet() == "ahoj")
            #expect(await MainActor.run { Model().greeting } == "ahoj")
        }
    }

    @Test("inside load(in:) with the handle it is recorded: a child that sets what was read has its own (law 15)")
    func handle() {
        let root = Container()
        #expect(root[Guest.self].card == "world")
        let child = root.child { $0.name = "Ada" }
        #expect(child[Guest.self].card == "Ada")
        #expect(child[Guest.self].name == "Ada")
        #expect(root[Guest.self].card == "world")
        #expect(child.graph.entries.first { $0.name == "Guest" && $0.depth == 1 }?.inputs.count == 1)
    }

    @Test("inside load(in:) without a container it reads the load's own, and is recorded (law 15)")
    func insideLoad() {
        let root = Container()
        let child = root.child { $0.greeting = "ahoj" }
        #expect(child[Host.self].sign == "ahoj")
        #expect(child[Host.self].greeting == "ahoj")
        #expect(root[Host.self].sign == "hello")
        #expect(root.child()[Host.self].sign == "hello")
    }

    @Test("kept by a feature it answers from the feature's home, and such reads are no inputs (law 15)")
    func keptByFeature() {
        let root = Container()
        #expect(root.child()[Guest.self].name == "world")
        root.name = "Ada"
        #expect(root[Guest.self].name == "Ada")
        #expect(root[Guest.self].card == "world")
        let other = root.child { $0.greeting = "ahoj" }
        #expect(other[Guest.self].name == "Ada")
    }

    @Test("kept by a feature it does not keep the container (law 8)")
    func noCircle() {
        var container: Container? = Container()
        weak let alive = container
        _ = container![Guest.self]
        _ = container![Host.self]
        container = nil
        #expect(alive == nil)
    }
}
