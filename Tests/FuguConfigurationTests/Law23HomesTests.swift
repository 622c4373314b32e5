import FuguConfiguration
import Support
import Testing

@testable import Fugu
import FuguInspection

extension ContainerKeys {
    fileprivate var size: PropertyKey<Int> { .init("pool.size", defaultValue: 4) }
    fileprivate var other: PropertyKey<Int> { .init("pool.other", defaultValue: 0) }
}

private final class Pool: Feature, Sendable {
    let size: Int
    init(size: Int) { self.size = size }
    static func load(in container: any FeatureContainer) -> Pool { Pool(size: container.size) }
}

private final class Service: Feature, Sendable {
    let pool: Pool
    init(pool: Pool) { self.pool = pool }
    static func load(in container: any FeatureContainer) -> Service { Service(pool: container[Pool.self]) }
}

private final class Reloading: Feature, Sendable {
    let size: Int
    init(size: Int) { self.size = size }
    static let reloadsWhenInputsChange = true
    static func load(in container: any FeatureContainer) -> Reloading { Reloading(size: container.size) }
}

/// Waits in its load of the root until the test lets it go on.
private final class Slow: Feature, Sendable {
    struct Gates: Sendable {
        let began = Gate()
        let goOn = Gate()
    }
    @TaskLocal static var gates: Gates?
    let size: Int
    init(size: Int) { self.size = size }
    static func load(in container: any FeatureContainer) -> Slow {
        let slow = Slow(size: container.size)
        if let gates {
            gates.began.open()
            gates.goOn.wait()
        }
        return slow
    }
}

private struct Later: AsyncFeature {
    let size: Int
    static func load(in container: any FeatureContainer) async throws -> Later { Later(size: container.size) }
}

extension Container {
    /// How many wait for loads of the feature that are under way in the family.
    fileprivate func waiterCount<F: Feature>(of _: F.Type) -> Int {
        let family = node.family
        return family.lock.withLock { token in
            let loads = family.rootPlace(token, of: Key(raw: Key.feature(F.self)))?[token].rare?.loads.all ?? []
            return loads.reduce(0) { $0 + ($1.state[token].rare?.waiters.count ?? 0) }
        }
    }
}

@Suite struct Law23HomesTests {
    static let cases: [Case<Law23HomesTests>] = [
        Case("What is made from a value of the root's source lives in the root and is shared (laws 15, 23)", root),
        Case(
            "A child with its own source gets its own copy of what reads the name, whoever asks first (laws 16, 23)",
            ownCopy),
        Case("A child whose source does not have the name shares its parent's instance (laws 16, 23)", shared),
        Case(
            "A source that is applied after the child read the feature gives it its own copy (laws 16, 23)",
            appliedLater),
        Case(
            "A wrong value in a child's source is its own input too: the child's copy is made with the default (laws 16, 25)",
            wrong),
        Case("Async features heed a child's source as well", async),
        Case("A feature stays when its source changes, unless it reloads; in the graph it is stale (law 19)", changes),
        Case(
            "A name that a source no longer has is the parent's again, and so is what was made from it (law 16)", gone),
        Case(
            "What asks for a name without a key inside a load is made from the answer, even if there is none (law 15)",
            untyped),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<Law23HomesTests>) async throws { try await stated.run(self) }

    private let container = Container()

    private func source(_ size: Int64) -> DictionarySource {
        DictionarySource(["pool.size": .integer(size)], name: "x")
    }

    func root() throws {
        try container.apply(source(1))
        let (first, second) = (container.child(), container.child())
        expect(first[Service.self].pool.size, equals: 1)
        expect(first[Service.self], is: second[Service.self])
        expect(container[Service.self], is: first[Service.self])
    }

    func ownCopy() throws {
        for isChildFirst in [true, false] {
            let root = Container()
            let child = root.child()
            try child.apply(source(2))
            if !isChildFirst { expect(root[Service.self].pool.size, equals: 4) }
            expect(child[Service.self].pool.size, equals: 2)
            expect(root[Service.self].pool.size, equals: 4)
            expect(child.child()[Service.self], is: child[Service.self])
        }
    }

    func shared() throws {
        let child = container.child()
        try child.apply(DictionarySource(["pool.other": 1], name: "x"))
        expect(child[Service.self], is: container[Service.self])
        expect(child.other, equals: 1)
        expect(container.other, equals: 0)
    }

    func appliedLater() throws {
        let child = container.child()
        expect(child[Service.self], is: container[Service.self])
        try child.apply(source(2))
        expect(child[Service.self].pool.size, equals: 2)
        expect(container[Service.self].pool.size, equals: 4)
    }

    func wrong() throws {
        try container.apply(source(1))
        let child = container.child()
        let reports = container.reports()
        try child.apply(DictionarySource(["pool.size": "many"], name: "child"))
        expect(child[Service.self].pool.size, equals: 4)
        expect(container[Service.self].pool.size, equals: 1)
        expect(reports.all, equals: ["child: pool.size: expected Int, found string \"many\""])
    }

    @Test(
        "A child that waits for its parent's load gets its own copy if its source has what that load read (laws 16, 17)"
    )
    func waiting() async throws {
        let child = container.child()
        try child.apply(source(2))
        let gates = Slow.Gates()
        let sizes = Log<Int>()
        await onThreads(3) { [container] index in
            switch index {
            case 0: sizes.add(Slow.$gates.withValue(gates) { container[Slow.self].size })
            case 1:
                gates.began.wait()
                sizes.add(child[Slow.self].size)
            default:
                awaitState { container.waiterCount(of: Slow.self) == 1 }
                gates.goOn.open()
            }
        }
        expect(sizes.all.sorted(), equals: [2, 4])
        expect(container[Slow.self].size, equals: 4)
        expect(child[Slow.self].size, equals: 2)
    }

    func async() async throws {
        let child = container.child()
        try child.apply(source(2))
        try await expect(container[Later.self].size, equals: 4)
        try await expect(child[Later.self].size, equals: 2)
    }

    func changes() throws {
        let source = ChangingSource(["pool.size": 1])
        try container.apply(source)
        expect(container[Pool.self].size, equals: 1)
        expect(container[Reloading.self].size, equals: 1)
        let heard = Log<Int>()
        container.observe(Reloading.self) { heard.add($0.size) }
        source.change(to: ["pool.size": 2])
        try container.reload()
        expect(container[Pool.self].size, equals: 1)
        expect(container[Reloading.self].size, equals: 2)
        expect(heard.all, equals: [2])
        expect(container.graph.entries.first { $0.name == "Pool" }?.isStale, equals: true)
    }

    func gone() throws {
        let source = ChangingSource(["pool.size": 2])
        let child = container.child()
        try child.apply(source)
        expect(child[Pool.self].size, equals: 2)
        source.change(to: [:])
        try child.reload()
        expect(child.size, equals: 4)
        expect(child[Pool.self], is: container[Pool.self])
    }

    func untyped() throws {
        struct Asker: ThrowingFeature {
            let size: Int?
            static func load(in container: any FeatureContainer) throws -> Asker {
                Asker(size: try Container.current.property("pool.untyped"))
            }
        }
        let child = container.child()
        try expect(container[Asker.self].size == nil)
        try child.apply(DictionarySource(["pool.untyped": 3], name: "x"))
        try expect(child[Asker.self].size, equals: 3)
        try expect(container[Asker.self].size == nil)
    }
}
