import Foundation
import Fugu
import Support
import Testing

@Suite("Law 3: lazy, once") struct Law03LazyTests {
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

    @Test("A default that makes a fresh UUID gives the same one until it is reset (law 3)")
    func defaults() {
        let container = Container()
        let first = container[Identifier.self]
        #expect(container[Identifier.self] == first && container[Identifier.self] == first)
        container.reset(Identifier.self)
        let second = container[Identifier.self]
        #expect(second != first)
        #expect(container[Identifier.self] == second)
    }

    @Test("A feature of any kind is kept until it is reset (law 3)")
    func features() async throws {
        let container = Container()
        let key = FeatureKey { _ in UUID() }
        let first = container[Session.self].id
        let firstOfKey = container[key]
        let firstParsed = try container[Parsed.self]
        let firstFetched = try await container[Fetched.self]
        #expect(container[Session.self].id == first && container[key] == firstOfKey)
        #expect(try container[Parsed.self] == firstParsed)
        #expect(try await container[Fetched.self] == firstFetched)
        container.reset(Session.self)
        container.reset(\.[key])
        container.reset(Parsed.self)
        container.reset(Fetched.self)
        #expect(container[Session.self].id != first && container[key] != firstOfKey)
        #expect(try container[Parsed.self] != firstParsed)
        #expect(try await container[Fetched.self] != firstFetched)
    }

    @Test("Nothing runs before the first read, and then once (law 3)")
    func lazy() {
        let runs = Counter()
        let property = PropertyKey(defaultValue: runs.add())
        let feature = FeatureKey { _ in runs.add() }
        let container = Container()
        let child = container.child()
        #expect(container.ifLoaded(\.[property]) == nil && container.ifLoaded(\.[feature]) == nil)
        #expect(runs.value == 0)
        for _ in 0..<10 { _ = (container[property], container[feature], child[property], child[feature]) }
        #expect(runs.value == 2)
        #expect(container.ifLoaded(\.[property]) == 1 && child.ifLoaded(\.[feature]) == 2)
    }

    @Test("A feature that is set before its first read is never loaded (law 3)")
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
        #expect(container[property] == 10 && container[feature] == 20 && container[Session.self].id == session.id)
        #expect(runs.value == 0)
    }

    @Test("Resetting everything lets everything load anew (law 3)")
    func resetAll() {
        let container = Container()
        let (id, session) = (container[Identifier.self], container[Session.self].id)
        container.resetAll()
        #expect(container.ifLoaded(Identifier.self) == nil && container.ifLoaded(Session.self) == nil)
        #expect(container[Identifier.self] != id && container[Session.self].id != session)
    }
}
