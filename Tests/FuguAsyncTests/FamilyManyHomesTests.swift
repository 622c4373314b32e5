import Fugu
import Support
import Testing

extension ContainerKeys {
    fileprivate var tenant: PropertyKey<Int> { .init(defaultValue: 0) }
    fileprivate var region: PropertyKey<Int> { .init(defaultValue: 0) }
}

/// Reads the tenant, except in a container without one.
private struct Sometimes: AsyncFeature {
    static func load(in container: any FeatureContainer) async throws -> Thing {
        let (stage, region) = (container.stage, container.region)
        stage.tally("sometimes").add()
        if region > 0 { return Thing("region \(region)") }
        let tenant = container.tenant
        if tenant < 100 { await stage.gate("sometimes").opened() }
        return Thing("tenant \(tenant)")
    }
}

/// Reads something else in its second life, so that its last instance no longer shows where it lives.
private struct Moved: AsyncFeature {
    static func load(in container: any FeatureContainer) async throws -> Thing {
        let stage = container.stage
        let isSecond = stage.tally("moved").value > 0
        let name = isSecond ? "region \(container.region)" : "tenant \(container.tenant)"
        stage.tally("begun").add()
        await stage.gate("moved").opened()
        return Thing(name)
    }
}

@Suite("Many homes load one key at once (law 17)", .timeLimit(.minutes(5))) struct FamilyManyHomesTests {
    private let root = Container()
    private let stage = Stage()
    private let children: [Container]
    init() {
        root[StageProperty.self] = stage
        children = (0..<12).map { [root] number in root.child { $0.tenant = number + 1 } }
    }
}

extension FamilyManyHomesTests {
    @Test(
        "If inputs have changed since the last load, each container still gets an instance of the values it sees (laws 16 and 17)"
    )
    func otherInputs() async throws {
        stage.gate("moved").open()
        for child in children { try await expect(child[Moved.self].name.hasPrefix("tenant")) }
        for (number, child) in children.enumerated() {
            child.reset(Moved.self)
            child.region = number + 1
        }
        stage.tally("moved").add()
        let tasks = children.flatMap { child in (0..<3).map { _ in Task { try await child[Moved.self] } } }
        for (index, task) in tasks.enumerated() { try await expect(task.value.name, equals: "region \(index / 3 + 1)") }
    }

    @Test(
        "However many loads are in progress, a reader joins its container's, whatever the last one read (laws 4 and 17)"
    )
    func otherExpectation() async throws {
        _ = try await root.child { $0.tenant = 100 }[Sometimes.self]
        let tasks = children.map { child in Task { try await child[Sometimes.self] } }
        await stage.tally("sometimes").reaches(13)
        _ = try await root.child { $0.region = 1 }[Sometimes.self]
        let others = children.map { child in Task { try await child[Sometimes.self] } }
        await root.untilWaiting(for: Sometimes.self, 24)
        stage.gate("sometimes").open()
        for (task, other) in zip(tasks, others) { try await expect(task.value === other.value) }
        expect(stage.tally("sometimes").value, equals: 14)
    }

    @Test("Each child begins its own load of a local feature without waiting for another's (laws 15 and 17)")
    func localFeatures() async throws {
        let tasks = children.map { child in Task { try await child[Cache.self] } }
        await stage.tally("caches").reaches(12)
        stage.gate("caches").open()
        var caches: [Thing] = []
        for task in tasks { caches.append(try await task.value) }
        expect(Set(caches.map(ObjectIdentifier.init)).count, equals: 12)
    }
}

/// One for each container that asks.
private struct Cache: AsyncFeature {
    static var home: Home { .local }
    static func load(in container: any FeatureContainer) async throws -> Thing {
        let stage = container.stage
        stage.tally("caches").add()
        await stage.gate("caches").opened()
        return Thing("cache")
    }
}
