import Fugu
import FuguInspection
import FuguTesting
import Support
import Synchronization
import Testing

// Every public name as users spell it, without @testable.

private enum Limit: Property {
    static var defaultValue: Int { 5 }
}
private enum Password: Property {
    static var defaultValue: String { "none" }
    static var isSecret: Bool { true }
}
extension ContainerKeys {
    fileprivate var portKey: PropertyKey<Int> { .init("server.port", defaultValue: 80) }
}
private struct Greeter: Feature {
    let text: String
    static func load(in container: any FeatureContainer) -> Greeter { Greeter(text: "Hi \(container[Limit.self])") }
}
private struct Flagged: Feature {
    typealias Instance = Int
    static func load(in container: any FeatureContainer) -> Int { container[Limit.self] }
    static var reloadsWhenInputsChange: Bool { true }
    static var home: Home { .local }
}
private struct Mailer: Feature, External {
    var name = "live"
    static func load(in container: any FeatureContainer) -> Mailer { Mailer() }
    static var placeholder: Mailer { Mailer(name: "none") }
}
private struct Parsed: ThrowingFeature, Equatable {
    let number: Int
    static func load(in container: any FeatureContainer) throws -> Parsed { Parsed(number: container[Limit.self]) }
}
private struct Database: AsyncFeature, Equatable {
    let number: Int
    static func load(in container: any FeatureContainer) async throws -> Database {
        Database(number: container[Limit.self])
    }
}
@MainActor private final class Model: MainActorFeature {
    let text: String
    init(text: String) { self.text = text }
    static func load(in container: any FeatureContainer) -> Model { Model(text: "\(container[Limit.self])") }
}

extension ContainerKeys {
    fileprivate var apiTimeout: PropertyKey<Int> { .init(defaultValue: 30) }
    fileprivate var apiSecret: PropertyKey<String> { .init(defaultValue: "x", isSecret: true) }
    fileprivate var apiNamed: PropertyKey<Int> { .init("naming.plain", defaultValue: 1) }
    fileprivate var apiNamedSecret: PropertyKey<String> { .init("naming.hidden", defaultValue: "s", isSecret: true) }
    fileprivate var apiNil: PropertyKey<Int?> { .init() }
    fileprivate var apiNilSecret: PropertyKey<Int?> { .init(isSecret: true) }
    fileprivate var apiNilNamed: PropertyKey<Int?> { .init("naming.nil") }
    fileprivate var apiNilNamedSecret: PropertyKey<Int?> { .init("naming.hiddenNil", isSecret: true) }
    fileprivate var apiNilFive: PropertyKey<Int?> { .init(defaultValue: 5) }
    fileprivate var apiText: FeatureKey<String> { .init { "limit \($0[Limit.self])" } }
    fileprivate var apiAll: FeatureKey<Int> {
        .init(
            reloadsWhenInputsChange: true, home: .local, placeholder: { 0 }, id: "all",
            member: "apiAll", fileID: #fileID, line: #line, column: #column
        ) { $0[Limit.self] }
    }
    fileprivate var apiAllInits: FeatureKey<Int> {
        .init(reloadsWhenInputsChange: false, home: .with(\.apiTimeout), placeholder: nil, load: { _ in 1 })
    }
}
extension FeatureContainer {
    fileprivate var greeter: Greeter {
        get { self[Greeter.self] }
        set { self[Greeter.self] = newValue }
    }
    fileprivate var database: Database { get async throws { try await self[Database.self] } }
    fileprivate var parsed: Parsed { get throws { try self[Parsed.self] } }
}

private struct Oops: Error, Equatable {}
private final class Owner: Sendable {}
private final class Box<Value: Sendable>: Sendable {
    private let values = Mutex<[Value]>([])
    func add(_ value: Value) { values.withLock { $0.append(value) } }
    var all: [Value] { values.withLock { $0 } }
}

@Suite("The names of the container compile and do what they say") struct CoreApiTests {}

extension CoreApiTests {
    static let cases: [Case<CoreApiTests>] = [
        Case("child throws what its closure throws, typed; without it, it does not throw (law 14)", children),
        Case("Every kind of key is observed while an owner lives (law 11)", observeWhile),
        Case("values(of:) takes every kind of key (law 12)", values),
        Case("observable is a feature container with the same accessors (law 13)", observable),
        Case("Rules, scopes and their invalidation (law 21)", scopes),
        Case("graph is Sendable and Codable, and prints as Mermaid and DOT", graph),
        Case("@Injected reads from the current container or the one it is given", injected),
        Case("Configurable assigns and gives back", configurable),
        Case("The standard features have the doubles that are named", standard),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<CoreApiTests>) async throws { try await stated.run(self) }

    @Test("Properties are read, set and reset through every spelling (law 1)")
    func properties() {
        let container = Container()
        expect(container[Limit.self], equals: 5)
        container[Limit.self] = 6
        expect(container[Limit.self], equals: 6)
        container.reset(Limit.self)
        expect(container[Limit.self], equals: 5)
        expect(container.apiTimeout, equals: 30)
        container.apiTimeout += 1
        expect(container.apiTimeout, equals: 31)
        container.reset(\.apiTimeout)
        expect(container.apiTimeout, equals: 30)
        expect(container.apiNil == nil)
        expect(container.apiNilNamed == nil)
        expect(container.apiNilSecret == nil)
        expect(container.apiNilNamedSecret == nil)
        expect(container.apiNilFive, equals: 5)
        container.apiNilFive = nil
        expect(container.apiNilFive == nil)
        container.reset(\.apiNilFive)
        expect(container.apiNilFive, equals: 5)
        expect(ContainerKeys().apiNamed.name, equals: "naming.plain")
        expect(ContainerKeys().apiTimeout.name == nil)
        expect(PropertyKey("naming.plain", defaultValue: 2), equals: ContainerKeys().apiNamed)
        expect(PropertyKey("naming.plain", defaultValue: "2").name, equals: "naming.plain")
        let copy = ContainerKeys().apiTimeout
        expect(copy, equals: ContainerKeys().apiTimeout)
        expect(Set([copy, ContainerKeys().apiTimeout]).count, equals: 1)
        let (one, other) = (PropertyKey(defaultValue: 30), PropertyKey(defaultValue: 30))
        expect(one != other)
        let some: any PropertyContainer = container
        some[Limit.self] = 9
        some.apiTimeout = 8
        expect(some[Limit.self], equals: 9)
        expect(some.apiTimeout, equals: 8)
        some.reset(Limit.self)
        some.reset(\.apiTimeout)
        expect(container[Limit.self], equals: 5)
        expect(container.apiTimeout, equals: 30)
    }

    @Test("Features are read, set, replaced, reset and looked up through every spelling (laws 1, 3)")
    func features() async throws {
        let container = Container.program()
        let any: any FeatureContainer = container
        expect(container.ifLoaded(Greeter.self) == nil)
        expect(container.ifLoaded(\.apiText) == nil)
        expect(container.ifLoaded(Parsed.self) == nil)
        expect(container.ifLoaded(Database.self) == nil)
        expect(container.greeter.text, equals: "Hi 5")
        expect(container.apiText, equals: "limit 5")
        try expect(container.parsed, equals: Parsed(number: 5))
        try await expect(container.database, equals: Database(number: 5))
        expect(any.apiText, equals: "limit 5")
        expect(container.ifLoaded(Greeter.self)?.text, equals: "Hi 5")
        expect(container.ifLoaded(\.apiText), equals: "limit 5")
        expect(container.ifLoaded(Parsed.self), equals: Parsed(number: 5))
        expect(container.ifLoaded(Database.self), equals: Database(number: 5))
        container.greeter = Greeter(text: "set")
        container.apiText = "set"
        container.set(Parsed.self, to: Parsed(number: 1))
        container.set(Database.self, to: Database(number: 1))
        expect(container.greeter.text, equals: "set")
        expect(container.apiText, equals: "set")
        try expect(container.parsed.number, equals: 1)
        try await expect(container.database.number, equals: 1)
        container.replace(Greeter.self) { Greeter(text: "replaced \($0[Limit.self])") }
        container.replace(\.apiText) { "replaced \($0[Limit.self])" }
        container.replace(Parsed.self) { Parsed(number: $0[Limit.self] + 1) }
        container.replace(Database.self) { Database(number: try await $0[Database2.self].number + 1) }
        container.replace(Greeter.self, load: { Greeter(text: "replaced \($0[Limit.self])") })
        any.replace(Parsed.self) { Parsed(number: $0[Limit.self] + 1) }
        expect(container.greeter.text, equals: "replaced 5")
        expect(container.apiText, equals: "replaced 5")
        try expect(container.parsed.number, equals: 6)
        try await expect(container.database.number, equals: 8)
        any.reset(Greeter.self)
        any.reset(\.apiText)
        any.reset(Parsed.self)
        any.reset(Database.self)
        expect(container.greeter.text, equals: "Hi 5")
        expect(container.apiText, equals: "limit 5")
        try expect(container.parsed.number, equals: 5)
        try await expect(container.database.number, equals: 5)
        container.resetAll()
        expect(container.ifLoaded(Greeter.self) == nil)
        expect(container.ifLoaded(Limit.self) == nil)
        expect(container.ifLoaded(\.apiTimeout) == nil)
        expect(container.apiAll, equals: 5)
        expect(container.apiAllInits, equals: 1)
        expect(container[Flagged.self], equals: 5)
        expect(container[Mailer.self].name, equals: "live")
    }

    @Test("A main-actor type is a feature like others (law 9)") @MainActor
    func mainActor() async {
        let container = Container()
        let (texts, continuation) = AsyncStream.makeStream(of: String.self)
        container.observe(Model.self) { model in
            MainActor.assumeIsolated { _ = continuation.yield(model.text) }
        }
        expect(container[Model.self].text, equals: "5")
        container[Model.self] = Model(text: "6")
        expect(container[Model.self].text, equals: "6")
        var heard = texts.makeAsyncIterator()
        await expect(heard.next(), equals: "5")
        await expect(heard.next(), equals: "6")
        container[Model.self] = Model(text: container[Model.self].text + "!")
        expect(container.ifLoaded(Model.self)?.text, equals: "6!")
        container.reset(Model.self)
        container.replace(Model.self) { _ in fatalError() }
        container.reset(Model.self)
        expect(container.ifLoaded(Model.self) == nil)
        container.observe(Model.self, while: Owner()) { _ in }
        _ = container.values(of: Model.self)
    }

    @Test("modify returns what its body returns and throws what it throws, for both kinds of property (law 7)")
    func modify() throws {
        let container = Container()
        let before: Int = container.modify(Limit.self) { value in
            defer { value += 1 }
            return value
        }
        expect(before, equals: 5)
        expect(container[Limit.self], equals: 6)
        container.modify(\.apiTimeout) { $0 += 1 }
        expect(container.apiTimeout, equals: 31)
        #expect(throws: Oops.self) {
            try container.modify(\.apiTimeout) { value in
                value = 0
                throw Oops()
            }
        }
        expect(container.apiTimeout, equals: 31)
        do throws(Oops) {
            try container.modify(Limit.self) { (value: inout Int) throws(Oops) in
                value = 0
                throw Oops()
            }
        } catch {
            let oops: Oops = error
            expect(oops, equals: Oops())
        }
        expect(container[Limit.self], equals: 6)
    }

    @Test("update throws what its body throws, typed (law 7)")
    func update() {
        let container = Container()
        container.update { changes in
            changes[Limit.self] = 1
            changes.apiTimeout = 2
            changes.greeter = Greeter(text: "u")
            changes.set(Parsed.self, to: Parsed(number: 3))
            changes.set(Database.self, to: Database(number: 3))
            changes.replace(\.apiText) { _ in "u" }
            expect(container[Limit.self], equals: 5)
            expect(changes[Limit.self], equals: 1)
        }
        expect(container[Limit.self], equals: 1)
        expect(container.apiTimeout, equals: 2)
        expect(container.greeter.text, equals: "u")
        expect(container.apiText, equals: "u")
        expect(container.ifLoaded(Parsed.self)?.number, equals: 3)
        do throws(Oops) {
            try container.update { (changes: any FeatureContainer) throws(Oops) in
                changes[Limit.self] = 100
                throw Oops()
            }
            Issue.record("nothing was thrown")
        } catch {
            let oops: Oops = error
            expect(oops, equals: Oops())
        }
        expect(container[Limit.self], equals: 1)
    }

    func children() {
        let container = Container()
        let child = container.child()
        let configured = container.child { $0[Limit.self] = 2 }
        expect(child[Limit.self], equals: 5)
        expect(configured[Limit.self], equals: 2)
        do throws(Oops) {
            _ = try container.child { (_: Container) throws(Oops) in throw Oops() }
            Issue.record("nothing was thrown")
        } catch {
            let oops: Oops = error
            expect(oops, equals: Oops())
        }
        let copy = Container(copying: container, configured)
        expect(copy[Limit.self], equals: 2)
        expect(Container(copying: container)[Limit.self], equals: 5)
    }

    @Test("Container.with is synchronous where its closures are and its caller is not async")
    func withoutSuspension() throws {
        let read = Container.with {
            $0[Limit.self] = 7
        } operation: {
            Container.current[Limit.self]
        }
        expect(read, equals: 7)
        expect(Container.with({ $0.apiTimeout = 1 }, operation: { Container.current.apiTimeout }), equals: 1)
        do throws(Oops) {
            try Container.with { (_: Container) throws(Oops) in
            } operation: { () throws(Oops) in
                throw Oops()
            }
        } catch {
            let oops: Oops = error
            expect(oops, equals: Oops())
        }
        #expect(throws: Oops.self) {
            try Container.with { _ in
                throw Oops()
            } operation: {
            }
        }
    }

    @Test("Container.with binds a configured child of the current container, sync and async")
    func with() async throws {
        let root = Container()
        try await Container.with(root) {
            let read = Container.with {
                $0[Limit.self] = 7
            } operation: {
                Container.current[Limit.self]
            }
            expect(read, equals: 7)
            let number = Container.with({ $0[Limit.self] = 7 }, operation: { Container.current[Limit.self] })
            expect(number, equals: 7)
            let later = try await Container.with {
                $0[Limit.self] = 8
            } operation: {
                await Task.yield()
                return try await Container.current[Database.self].number
            }
            expect(later, equals: 8)
            await #expect(throws: Oops.self) {
                try await Container.with { _ in
                } operation: {
                    await Task.yield()
                    throw Oops()
                }
            }
            expect(Container.current, is: root)
        }
        expect(Container.shared, is: Container.shared)
    }

    @Test("Every kind of key is observed (law 10)")
    func observe() async throws {
        let container = Container()
        let numbers = Box<Int>()
        let texts = Box<String>()
        let tokens: [ObservationToken] = [
            container.observe(Limit.self) { numbers.add($0) },
            container.observe(Limit.self, observer: { numbers.add($0) }),
            container.observe(\.apiTimeout) { numbers.add($0) },
            container.observe(Greeter.self) { texts.add($0.text) },
            container.observe(\.apiText) { texts.add($0) },
            container.observe(Parsed.self) { numbers.add($0.number) },
            container.observe(Database.self) { numbers.add($0.number) },
        ]
        container.observe(Limit.self) { _ in }
        container[Limit.self] = 1
        container.apiTimeout = 2
        container.greeter = Greeter(text: "a")
        container.apiText = "b"
        container.set(Parsed.self, to: Parsed(number: 3))
        container.set(Database.self, to: Database(number: 4))
        expect(numbers.all, equals: [1, 1, 2, 3, 4])
        expect(texts.all, equals: ["a", "b"])
        tokens.forEach { $0.cancel() }
        container[Limit.self] = 9
        expect(numbers.all, equals: [1, 1, 2, 3, 4])
    }

    func observeWhile() {
        let container = Container()
        let numbers = Box<Int>()
        var owner: Owner? = Owner()
        container.observe(Limit.self, while: owner!) { numbers.add($0) }
        container.observe(\.apiTimeout, while: owner!) { numbers.add($0) }
        container.observe(Greeter.self, while: owner!) { numbers.add($0.text.count) }
        container.observe(\.apiText, while: owner!) { numbers.add($0.count) }
        container.observe(Parsed.self, while: owner!) { numbers.add($0.number) }
        container.observe(Database.self, while: owner!, observer: { numbers.add($0.number) })
        container[Limit.self] = 1
        expect(numbers.all, equals: [1])
        owner = nil
        container[Limit.self] = 2
        container.apiTimeout = 2
        expect(numbers.all, equals: [1])
    }

    func values() async throws {
        let container = Container()
        func first<S: AsyncSequence & Sendable>(_ sequence: S) async -> S.Element? where S.Failure == Never {
            for await value in sequence { return value }
            return nil
        }
        await expect(first(container.values(of: Limit.self)), equals: 5)
        await expect(first(container.values(of: \.apiTimeout)), equals: 30)
        await expect(first(container.values(of: Greeter.self))?.text, equals: "Hi 5")
        await expect(first(container.values(of: \.apiText)), equals: "limit 5")
        await expect(first(container.values(of: Parsed.self))?.number, equals: 5)
        await expect(first(container.values(of: Database.self))?.number, equals: 5)
    }

    func observable() async throws {
        let container = Container()
        let observable: ObservableContainer = container.observable
        let some: any FeatureContainer = observable
        expect(observable[Limit.self], equals: 5)
        expect(observable.apiTimeout, equals: 30)
        expect(observable.greeter.text, equals: "Hi 5")
        expect(some.apiText, equals: "limit 5")
        try expect(observable.parsed.number, equals: 5)
        try await expect(observable.database.number, equals: 5)
        observable[Limit.self] = 7
        observable.apiTimeout = 7
        expect(container[Limit.self], equals: 7)
        expect(container.apiTimeout, equals: 7)
    }

    func scopes() {
        let container = Container()
        container.configureScopes { $0[Limit.self] += 1 }
        container.configureScopes("/a/*") { $0[Limit.self] *= 2 }
        container.configureScopes(where: { $0.hasSuffix("b") }, description: "b") { $0.apiTimeout = 1 }
        let scope = container.scope("/a/b")
        expect(scope[Limit.self], equals: 12)
        expect(scope.apiTimeout, equals: 1)
        expect(container.scope("a/b?x=1"), is: scope)
        container.invalidateScopes()
        expect(scope[Limit.self], equals: 12)
    }

    @Test("warmUp, onClose, close and its deadline (laws 27, 28)")
    func lifetime() async throws {
        let container = Container()
        try await container.warmUp {
            $0.load(Greeter.self)
            $0.load(\.apiText)
            $0.load(Parsed.self)
            $0.load(Database.self)
        }
        expect(container.ifLoaded(Database.self) != nil)
        expect(container.ifLoaded(\.apiText) != nil)
        let closed = Box<Int>()
        container.onClose { closed.add(1) }
        try await container.close(deadline: .seconds(60))
        try await container.close()
        expect(closed.all, equals: [1])
        expect(container[Limit.self], equals: 5)
        do {
            _ = try container[Parsed2.self]
            Issue.record("nothing was thrown")
        } catch let error as LoadError {
            expect(error.path, equals: ["Parsed2"])
            expect("\(error)".contains("closed"))
        }
    }

    func graph() throws {
        let container = Container()
        _ = container.greeter
        let graph: any Sendable & Codable = container.graph
        _ = graph
        expect(container.graph.mermaid.contains("Greeter"))
        expect(container.graph.dot.contains("Greeter"))
    }

    func injected() {
        struct Reader {
            @Injected(\.greeter) var greeter
            @Injected(\.apiTimeout) var timeout
        }
        struct Holder: Feature {
            @Injected var greeter: Greeter
            static func load(in container: any FeatureContainer) -> Holder {
                Holder(greeter: Injected(\.greeter, in: container))
            }
        }
        let container = Container()
        let reader = Container.with(container) { Reader() }
        container.apiTimeout = 4
        expect(reader.greeter.text, equals: "Hi 5")
        expect(reader.timeout, equals: 4)
        expect(container[Holder.self].greeter.text, equals: "Hi 5")
    }

    func configurable() {
        final class View: Configurable {
            var count = 0
            var configuration = Container() { didSet { count += 1 } }
        }
        let view = View()
        let container = Container()
        view.with(configuration: container)
        expect(view.with(configuration: container).configuration, is: container)
        view.reloadConfiguration()
        expect(view.count, equals: 3)
    }

    func standard() async throws {
        let container = Container()
        container.timestamp = .system
        container.timestamp = .constant(5)
        expect(container.timestamp.now, equals: 5)
        container.randomness = .system
        container.randomness = .constant(1)
        container.randomness = .linearCongruential(withSeed: 1)
        var generator = container.randomness
        _ = Int.random(in: 1...6, using: &generator)
        let clock = ManualClock()
        container.clock = ErasedClock(clock)
        expect(container.clock.now.offset, equals: .zero)
    }
}

private struct Database2: AsyncFeature {
    let number: Int
    static func load(in container: any FeatureContainer) async throws -> Database2 { Database2(number: 7) }
}
private struct Parsed2: ThrowingFeature {
    static func load(in container: any FeatureContainer) throws -> Parsed2 { Parsed2() }
}
