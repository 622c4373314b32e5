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
    private let container = Container()

    private func source(_ size: Int64) -> DictionarySource {
        DictionarySource(["pool.size": .integer(size)], name: "x")
    }

    @Test("What is made from a value of the root's source lives in the root and is shared (laws 15, 23)")
    func root() throws {
        try container.apply(source(1))
        let (first, second) = (container.child(), container.child())
        #expect(first[Service.self].pool.size == 1)
        #expect(first[Service.self] === second[Service.self] && container[Service.self] === first[Service.self])
    }

    @Test("A child with its own source gets its own copy of what reads the name, whoever asks first (laws 16, 23)")
    func ownCopy() throws {
        for isChildFirst in [true, false] {
            let root = Container()
            let child = root.child()
            try child.apply(source(2))
            if !isChildFirst { #expect(root[Service.self].pool.size == 4) }
            #expect(child[Service.self].pool.size == 2)
            #expect(root[Service.self].pool.size == 4)
            #expect(child.child()[Service.self] === child[Service.self])
        }
    }

    @Test("A child whose source does not have the name shares its parent's instance (laws 16, 23)")
    func shared() throws {
        let child = container.child()
        try child.apply(DictionarySource(["pool.other": 1], name: "x"))
        #expect(child[Service.self] === container[Service.self])
        #expect(child.other == 1 && container.other == 0)
    }

    @Test("A source that is applied after the child read the feature gives it its own copy (laws 16, 23)")
    func appliedLater() throws {
        let child = container.child()
        #expect(child[Service.self] === container[Service.self])
        try child.apply(source(2))
        #expect(child[Service.self].pool.size == 2 && container[Service.self].pool.size == 4)
    }

    @Test(
        "A wrong value in a child's source is its own input too: the child's copy is made with the default (laws 16, 25)"
    )
    func wrong() throws {
        try container.apply(source(1))
        let child = container.child()
        let reports = container.reports()
        try child.apply(DictionarySource(["pool.size": "many"], name: "child"))
        #expect(child[Service.self].pool.size == 4 && container[Service.self].pool.size == 1)
        #expect(reports.all == ["child: pool.size: expected Int, found string \"many\""])
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
        #expect(sizes.all.sorted() == [2, 4])
        #expect(container[Slow.self].size == 4 && child[Slow.self].size == 2)
    }

    @Test("Async features heed a child's source as well")
    func async() async throws {
        let child = container.child()
        try child.apply(source(2))
        #expect(try await container[Later.self].size == 4)
        #expect(try await child[Later.self].size == 2)
    }

    @Test("A feature stays when its source changes, unless it reloads; in the graph it is stale (law 19)")
    func changes() throws {
        let source = ChangingSource(["pool.size": 1])
        try container.apply(source)
        #expect(container[Pool.self].size == 1 && container[Reloading.self].size == 1)
        let heard = Log<Int>()
        container.observe(Reloading.self) { heard.add($0.size) }
        source.change(to: ["pool.size": 2])
        try container.reload()
        #expect(container[Pool.self].size == 1 && container[Reloading.self].size == 2)
        #expect(heard.all == [2])
        #expect(container.graph.entries.first { $0.name == "Pool" }?.isStale == true)
    }

    @Test("A name that a source no longer has is the parent's again, and so is what was made from it (law 16)")
    func gone() throws {
        let source = ChangingSource(["pool.size": 2])
        let child = container.child()
        try child.apply(source)
        #expect(child[Pool.self].size == 2)
        source.change(to: [:])
        try child.reload()
        #expect(child.size == 4 && child[Pool.self] === container[Pool.self])
    }

    @Test("What asks for a name without a key inside a load is made from the answer, even if there is none (law 15)")
    func untyped() throws {
        struct Asker: ThrowingFeature {
            let size: Int?
            static func load(in container: any FeatureContainer) throws -> Asker {
                Asker(size: try Container.current.property("pool.untyped"))
            }
        }
        let child = container.child()
        #expect(try container[Asker.self].size == nil)
        try child.apply(DictionarySource(["pool.untyped": 3], name: "x"))
        #expect(try child[Asker.self].size == 3)
        #expect(try container[Asker.self].size == nil)
    }
}
