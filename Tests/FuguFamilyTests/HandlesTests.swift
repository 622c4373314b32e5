import Fugu
import FuguInspection
import FuguScopes
import Support
import Testing

extension ContainerKeys {
    fileprivate var nickname: PropertyKey<String?> { .init(id: 1) }
    fileprivate var surname: PropertyKey<String?> { .init(id: 2) }
    fileprivate var salute: FeatureKey<String> { .init { "hello \($0.nickname ?? "you")" } }
}

private struct Fetched: AsyncFeature {
    static func load(in container: any FeatureContainer) async throws -> Int { 1 }
}

private struct Parsed: ThrowingFeature {
    static func load(in container: any FeatureContainer) throws -> Int { 2 }
}

private struct Plain: Feature {
    static func load(in container: any FeatureContainer) -> String { "loaded" }
}

/// Handles of updates and views are used like containers.
struct HandlesTests {}

extension HandlesTests {
    @Test("An update's handle gives async features, says what is there, and keeps what is registered (laws 6 and 18)")
    func updateReadsAsync() async throws {
        // An update's handle gives async features, what the update has set before what is there.
        do {
            let container = Container()
            let handles = Log<any FeatureContainer>()
            let set = Gate()
            let read = Gate()
            async let inside: Int? = {
                await set.opened()
                defer { read.open() }
                return try? await handles.first(1).first?[Fetched.self]
            }()
            let updated = startThread {
                container.update {
                    $0.set(Fetched.self, to: 7)
                    handles.add($0)
                    set.open()
                    read.wait()
                }
            }
            await expect(inside, equals: 7)
            await updated.opened()
            let handle = await handles.first(1)[0]
            try await expect(handle[Fetched.self], equals: 7)
            container.reset(Fetched.self)
            try await expect(handle[Fetched.self], equals: 1)
        }
        // An update's handle says what is there, and keeps what is registered.
        do {
            let container = Container()
            let log = Log<String>()
            container.update {
                $0.set(Fetched.self, to: 7)
                expect($0.loaded(Fetched.self), equals: 7)
                $0.onClose { log.add("closed") }
            }
            try await container.close()
            expect(log.removeAll(), equals: ["closed"])
        }
    }

    @Test("Through an observable, what is there is read without loading, and closers are registered (laws 4, 9, 18)")
    func observable() async throws {
        let container = Container()
        let log = Log<String>()
        let observable = container.observable
        container.set(Fetched.self, to: 3)
        container.set(Parsed.self, to: 4)
        let child = container.child().observable
        expect(child.loaded(Fetched.self), equals: 3)
        expect(child.loaded(Parsed.self), equals: 4)
        observable[Plain.self] = "set"
        expect(observable[Plain.self], equals: "set")
        expect(container[Plain.self], equals: "set")
        observable.onClose { log.add("closed") }
        try await container.close()
        expect(log.removeAll(), equals: ["closed"])
    }

    @Test("Keys that are nil unless set are distinguished by their ids (law 1)")
    func ids() {
        let container = Container()
        expect(container.nickname == nil)
        expect(container.surname == nil)
        container.nickname = "Anna"
        expect(container.nickname, equals: "Anna")
        expect(container.surname == nil)
        container.modify(\.salute) { $0 += "!" }
        expect(container.salute, equals: "hello Anna!")
    }

    @Test(
        "An observer that a load adds outlives the load's handle, and one added through a kept handle is called, too (laws 7 and 9)"
    )
    func observedInLoad() {
        // An observer that a load adds through Container.current outlives the load's handle.
        do {
            let container = Container()
            _ = container[Watching.self]
            container[Number.self] = 1
            expect(container[Heard.self].all, equals: [1])
            let heard = Log<Int>()
            container.observe(Number.self) { heard.add($0) }
            container[Number.self] = 2
            container.reset(Watching.self)
            container[Number.self] = 3
            expect(container[Heard.self].all == [1, 2, 3] && heard.all == [2, 3])
        }
        // An observer added through a kept handle after its load is called, beside the container's own.
        do {
            let container = Container()
            let handles = Log<any FeatureContainer>()
            let early = Log<Int>()
            _ = container[FeatureKey { handles.add($0) }]
            (handles.all[0] as! Container).observe(Number.self) { early.add($0) }
            container[Number.self] = 1
            expect(early.all, equals: [1])
            let late = Log<Int>()
            container.observe(Number.self) { late.add($0) }
            container.resetAll()
            handles.removeAll()
            container[Number.self] = 2
            expect(early.all == [1, 0, 2] && late.all == [0, 2])
        }
    }

    @Test("The description lists what was set and replaced, and says that a container is closed (law 18)")
    func described() async throws {
        // The description for debugging lists what was set and what was replaced.
        do {
            let container = Container()
            container[Number.self] = 1
            container.replace(Plain.self) { _ in "replaced" }
            let text = container.debugDescription
            let set = try #require(text.split(separator: "; ").first { $0.hasPrefix("set: ") })
            expect(set.contains("Number") && set.contains("Plain"), "\(text)")
        }
        // A container that is closed says so.
        do {
            let container = Container()
            expect(!"\(container)".contains("closed"))
            try await container.close()
            expect("\(container)".contains("closed"))
        }
    }

    @Test("An external feature has a double line in a drawing")
    func external() {
        let container = Container()
        container.set(Outside.self, to: 1)
        container[Plain.self] = "set"
        let lines = container.graph.dot.split(separator: "\n")
        expect(lines.contains { $0.contains("Outside") && $0.contains("peripheries=2") })
        expect(!lines.contains { $0.contains("Plain") && $0.contains("peripheries=2") })
    }
}

private struct Number: Property { static var defaultValue: Int { 0 } }
private struct Heard: Property { static var defaultValue: Log<Int> { Log() } }

private struct Watching: Feature {
    static func load(in container: any FeatureContainer) -> Int {
        let log = container[Heard.self]
        Container.current.observe(Number.self) { log.add($0) }
        return 1
    }
}

private struct Outside: ThrowingFeature, External {
    static func load(in container: any FeatureContainer) throws -> Int { 1 }
}

extension ContainerKeys {
    fileprivate var greeting: PropertyKey<String> { .init(defaultValue: "hello") }
    fileprivate var name: PropertyKey<String> { .init(defaultValue: "world") }
    fileprivate var phrase: FeatureKey<String> { .init { "\($0.greeting), \($0.name)" } }
}

/// @Injected reads from a container under a key path.
struct InjectedTests {}

extension InjectedTests {
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

    @Test(
        "takes the container that is current where the wrapper is made, or the one it is given, and reads anew each time"
    )
    func current() {
        // takes the container that is current where the wrapper is made, and reads anew each time.
        do {
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
        // takes the container it is given, and keeps it.
        do {
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
    }

    @Test("takes a closure, in which a key path that is kept in a variable can be read, and a container (law 11)")
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

    @Test("suits main-actor classes and actors")
    func isolated() async {
        let container = Container()
        container.greeting = "ahoj"
        await Container.with(container) {
            await expect(Worker().greet(), equals: "ahoj")
            await expect(MainActor.run { Model().greeting }, equals: "ahoj")
        }
    }

    @Test(
        "inside load(in:), with the handle or without a container, it reads what the load reads, and is recorded (law 11)"
    )
    func handle() {
        // inside load(in:) with the handle it is recorded: a child that sets what was read has its own.
        do {
            let root = Container()
            expect(root[Guest.self].card, equals: "world")
            let child = root.child { $0.name = "Ada" }
            expect(child[Guest.self].card, equals: "Ada")
            expect(child[Guest.self].name, equals: "Ada")
            expect(root[Guest.self].card, equals: "world")
            expect(child.graph.entries.first { $0.name == "Guest" && $0.depth == 1 }?.inputs.count, equals: 1)
        }
        // inside load(in:) without a container it reads the load's own, and is recorded.
        do {
            let root = Container()
            let child = root.child { $0.greeting = "ahoj" }
            expect(child[Host.self].sign, equals: "ahoj")
            expect(child[Host.self].greeting, equals: "ahoj")
            expect(root[Host.self].sign, equals: "hello")
            expect(root.child()[Host.self].sign, equals: "hello")
        }
    }

    @Test(
        "kept by a feature it answers from the feature's home, is no input, and does not keep the container (laws 7 and 11)"
    )
    func keptByFeature() {
        // kept by a feature it answers from the feature's home, and such reads are no inputs.
        do {
            let root = Container().unreported
            expect(root.child()[Guest.self].name, equals: "world")
            root.name = "Ada"
            expect(root[Guest.self].name, equals: "Ada")
            expect(root[Guest.self].card, equals: "world")
            let other = root.child { $0.greeting = "ahoj" }
            expect(other[Guest.self].name, equals: "Ada")
        }
        // kept by a feature it does not keep the container.
        do {
            var container: Container? = Container()
            weak let alive = container
            _ = container![Guest.self]
            _ = container![Host.self]
            container = nil
            expect(alive == nil)
        }
    }
}
