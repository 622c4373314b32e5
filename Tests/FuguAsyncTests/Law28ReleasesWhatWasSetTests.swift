import Fugu
import Support
import Testing

// Laws 8 and 28: with close(), features are released, set ones as well as loaded ones; properties keep answering.
@Suite("Closing releases every feature (laws 8 and 28)", .timeLimit(.minutes(1)))
struct Law28ReleasesWhatWasSetTests {
    struct Plain: Feature {
        static func load(in container: any FeatureContainer) -> Thing { Thing("loaded") }
    }
    struct Failing: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> Thing { Thing("loaded") }
    }
    struct Suspending: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing { Thing("loaded") }
    }
    struct Slot: Property { static var defaultValue: Thing? { nil } }

    @Test("Set instances of every kind are released, in the container and in its children (laws 8 and 28)")
    func set() async throws {
        let root = Container()
        let child = root.child()
        let key = FeatureKey { _ in Thing("loaded") }
        let ended = Log<String>()
        func thing(_ name: String) -> Thing { Thing(name, onEnd: { ended.add(name) }) }
        for (container, name) in [(root, "root"), (child, "child")] {
            container[Plain.self] = thing("\(name) plain")
            container.set(Failing.self, to: thing("\(name) failing"))
            container.set(Suspending.self, to: thing("\(name) suspending"))
            container[key] = thing("\(name) key")
            container[Slot.self] = thing("\(name) property")
        }
        try await child.close()
        expect(ended.all.sorted(), equals: ["child failing", "child key", "child plain", "child suspending"])
        ended.removeAll()
        try await root.close()
        expect(ended.all.sorted(), equals: ["root failing", "root key", "root plain", "root suspending"])
        expect(root[Slot.self]?.name, equals: "root property")
        expect(child[Slot.self]?.name, equals: "child property")
        withExtendedLifetime(child) {}
    }

    @Test("Closing refuses what was set, too: throwing kinds throw, and nothing is there (law 28)")
    func refused() async throws {
        let container = Container()
        _ = container.logReports()
        container.set(Failing.self, to: Thing("set"))
        container.set(Suspending.self, to: Thing("set"))
        container[Plain.self] = Thing("set")
        try await container.close()
        expect(container.ifLoaded(Plain.self) == nil)
        expect(container.ifLoaded(Failing.self) == nil)
        #expect(throws: LoadError.self) { try container[Failing.self] }
        await #expect(throws: LoadError.self) { try await container[Suspending.self] }
    }
}
