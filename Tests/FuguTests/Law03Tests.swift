import Foundation
import Fugu
import FuguInspection
import Support
import Testing

@Suite("Law 3: lazy, once") struct Law03LazyTests {}

extension Law03LazyTests {
    static let cases: [Case<Law03LazyTests>] = [
        Case("A default that makes a fresh UUID gives the same one until it is reset (law 3)", defaults),
        Case("A feature of any kind is kept until it is reset (law 3)", features),
        Case("Nothing runs before the first read, and then once (law 3)", lazy),
        Case("A feature that is set before its first read is never loaded (law 3)", setFirst),
        Case("Resetting everything lets everything load anew (law 3)", resetAll),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<Law03LazyTests>) async throws { try await stated.run(self) }

    struct Identifier: Property { static var defaultValue: UUID { UUID() } }
    struct Session: Feature {
        let id = UUID()
        static func load(in container: any FeatureContainer) -> Session { Session() }
    }
    struct Parsed: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> UUID { UUID() }
    }
    struct Fetched: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> UUID { UUID() }
    }

    func defaults() {
        let container = Container()
        let first = container[Identifier.self]
        expect(container[Identifier.self], equals: first)
        expect(container[Identifier.self], equals: first)
        container.reset(Identifier.self)
        let second = container[Identifier.self]
        expect(second != first)
        expect(container[Identifier.self], equals: second)
    }

    func features() async throws {
        let container = Container()
        let key = FeatureKey { _ in UUID() }
        let first = container[Session.self].id
        let firstOfKey = container[key]
        let firstParsed = try container[Parsed.self]
        let firstFetched = try await container[Fetched.self]
        expect(container[Session.self].id, equals: first)
        expect(container[key], equals: firstOfKey)
        try expect(container[Parsed.self], equals: firstParsed)
        try await expect(container[Fetched.self], equals: firstFetched)
        container.reset(Session.self)
        container.reset(key)
        container.reset(Parsed.self)
        container.reset(Fetched.self)
        expect(container[Session.self].id != first)
        expect(container[key] != firstOfKey)
        try expect(container[Parsed.self] != firstParsed)
        try await expect(container[Fetched.self] != firstFetched)
    }

    func lazy() {
        let runs = Counter()
        let property = PropertyKey(defaultValue: runs.add())
        let feature = FeatureKey { _ in runs.add() }
        let container = Container()
        let child = container.child()
        expect(container.ifLoaded(property) == nil)
        expect(container.ifLoaded(feature) == nil)
        expect(runs.value, equals: 0)
        for _ in 0..<10 { _ = (container[property], container[feature], child[property], child[feature]) }
        expect(runs.value, equals: 2)
        expect(container.ifLoaded(property), equals: 1)
        expect(child.ifLoaded(feature), equals: 2)
    }

    func setFirst() throws {
        let runs = Counter()
        let property = PropertyKey(defaultValue: runs.add())
        let feature = FeatureKey { _ in runs.add() }
        let container = Container()
        container[property] = 10
        container[feature] = 20
        container.replace(Session.self) { _ in
            runs.add()
            return Session()
        }
        let session = Session()
        container[Session.self] = session
        expect(container[property], equals: 10)
        expect(container[feature], equals: 20)
        expect(container[Session.self].id, equals: session.id)
        expect(runs.value, equals: 0)
    }

    func resetAll() {
        let container = Container()
        let (id, session) = (container[Identifier.self], container[Session.self].id)
        container.resetAll()
        expect(container.ifLoaded(Identifier.self) == nil)
        expect(container.ifLoaded(Session.self) == nil)
        expect(container[Identifier.self] != id)
        expect(container[Session.self].id != session)
    }
}

// Law 3: defaultValue runs at the first read, and not before, in debug builds either.
@Suite("Law 3: what nobody reads is not evaluated") struct Law03UnreadTests {}

extension Law03UnreadTests {
    private static func counted(_ counter: Counter, _ number: Int = 0) -> PropertyKey<Int> {
        PropertyKey(defaultValue: counter.add() + number, id: "counted")
    }

    @Test(
        "However often a key is made, compared, set, observed and reset, its default waits for the first read (law 3)")
    func unread() {
        let container = Container()
        let evaluated = Counter()
        for _ in 0..<5 {
            let key = Self.counted(evaluated)
            expect(key, equals: Self.counted(evaluated))
            container[key] = 5
            expect(container[key], equals: 5)
            container.observe(key) { _ in }.cancel()
            _ = (container.graph, "\(key)", Container(copying: container))
        }
        expect(evaluated.value, equals: 0)
        container.reset(Self.counted(evaluated))
        expect(container[Self.counted(evaluated)], equals: 1)
        expect(container[Self.counted(evaluated)], equals: 1)
        expect(evaluated.value, equals: 1)
    }

    @Test("A default that captures an object keeps it alive and is asked once for each root (laws 2 and 3)")
    func captured() {
        final class Base: Sendable {
            let number: Int
            init(_ number: Int) { self.number = number }
        }
        func key(_ base: Base) -> PropertyKey<Int> { PropertyKey(defaultValue: base.number, id: "captured") }
        let first = key(Base(1))
        for _ in 0..<100 { _ = key(Base(1)) }
        expect(Container()[first], equals: 1)
        expect(Container()[key(Base(1))], equals: 1)
    }
}
