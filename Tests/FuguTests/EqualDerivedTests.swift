import Fugu
import Observation
import Support
import Testing

/// Laws 9 and 12: derived values that stay equal.
struct EqualDerivedTests {}

extension EqualDerivedTests {
    enum Level: Property { static let defaultValue = 1 }
    /// The same for every positive level.
    enum Sign: Property { static var defaultValue: Int { Container.current[Level.self].signum() } }

    /// What a pool of each kind does in this test.
    struct Tally: Sendable {
        let loads = Counter()
        let closed = Counter()
    }
    enum Tallied: Property { static let defaultValue = Tally() }

    final class Pool: Feature, Sendable {
        let sign: Int
        init(_ sign: Int) { self.sign = sign }
        static var reloadsWhenInputsChange: Bool { true }
        static func load(in container: any FeatureContainer) -> Pool {
            let tally = container[Tallied.self]
            tally.loads.add()
            container.onClose { tally.closed.add() }
            return Pool(container[Sign.self])
        }
    }
    final class ThrowingPool: ThrowingFeature, Sendable {
        let pool: Pool
        init(_ pool: Pool) { self.pool = pool }
        static var reloadsWhenInputsChange: Bool { true }
        static func load(in container: any FeatureContainer) throws -> ThrowingPool {
            ThrowingPool(Pool.load(in: container))
        }
    }
    final class AsyncPool: AsyncFeature, Sendable {
        let pool: Pool
        init(_ pool: Pool) { self.pool = pool }
        static var reloadsWhenInputsChange: Bool { true }
        static func load(in container: any FeatureContainer) async throws -> AsyncPool {
            await Task.yield()
            return AsyncPool(Pool.load(in: container))
        }
    }
    @MainActor final class MainPool: MainActorFeature {
        let pool: Pool
        init(_ pool: Pool) { self.pool = pool }
        static var reloadsWhenInputsChange: Bool { true }
        static func load(in container: any FeatureContainer) -> MainPool { MainPool(Pool.load(in: container)) }
    }

    private func container(_ tally: Tally) -> Container {
        let container = Container().unreported
        container[Tallied.self] = tally
        return container
    }

    @Test(
        "What is made from a derived value that stays equal stays open, observed or not, and nobody hears (laws 9, 12, 18)"
    )
    func plain() async throws {
        // What is made from a derived value that stays equal stays open, and nobody hears.
        do {
            let tally = Tally()
            let container = container(tally)
            let heard = Log<Int>()
            container.observe(Sign.self) { heard.add($0) }
            let pools = Log<Pool>()
            container.observe(Pool.self) { pools.add($0) }
            let pool = container[Pool.self]
            expect(pools.all.count, equals: 1)
            for level in 2...5 { container[Level.self] = level }
            expect(container[Pool.self], is: pool)
            expect(heard.all == [1] && pools.all.count == 1, "\(heard.all), \(pools.all.count)")
            expect(tally.loads.value == 1 && tally.closed.value == 0)
            container[Level.self] = -1
            expect(container[Pool.self].sign, equals: -1)
            expect(heard.all == [1, -1] && pools.all.count == 2)
            try await container.close()
            expect(tally.loads.value == 2 && tally.closed.value == 2)
        }
        // So does what nobody observes, at the next read.
        do {
            let tally = Tally()
            let container = container(tally)
            let pool = container[Pool.self]
            container[Level.self] = 7
            container[Level.self] = -7
            container[Level.self] = 8
            expect(container[Pool.self], is: pool)
            try await container.close()
            expect(tally.loads.value == 1 && tally.closed.value == 1)
        }
    }

    @Test("What is in doubt at the end is closed once, and released (laws 7, 18)")
    func closedInDoubt() async throws {
        let tally = Tally()
        let container = container(tally)
        weak let pool = container[Pool.self]
        container[Level.self] = 7
        expect(pool != nil && tally.closed.value == 0)
        try await container.close()
        expect(pool == nil && tally.closed.value == 1)
    }

    @Test("A reset, a set and a replacement end the doubt (laws 12, 13)", arguments: 0..<3)
    func ended(_ manner: Int) async throws {
        let tally = Tally()
        let container = container(tally)
        let former = container[Pool.self]
        container[Level.self] = 7
        switch manner {
        case 0: container.reset(Pool.self)
        case 1: container[Pool.self] = Pool(100)
        default: container.replace(Pool.self) { _ in Pool(100) }
        }
        expect(container[Pool.self] !== former)
        expect(container[Pool.self].sign, equals: manner == 0 ? 1 : 100)
        try await container.close()
        expect(tally.closed.value, equals: manner == 0 ? 2 : 1)
    }

    @Test("Features that throw or suspend stay, too (laws 9, 12)")
    func failable() async throws {
        let (first, second) = (Tally(), Tally())
        let (one, two) = (container(first), container(second))
        let throwing = try one[ThrowingPool.self]
        let async = try await two[AsyncPool.self]
        for container in [one, two] { container[Level.self] = 7 }
        expect(try one[ThrowingPool.self], is: throwing)
        expect(try await two[AsyncPool.self], is: async)
        for container in [one, two] { container[Level.self] = -7 }
        expect(try one[ThrowingPool.self] !== throwing)
        expect(try await two[AsyncPool.self] !== async)
        try await one.close()
        try await two.close()
        for tally in [first, second] { expect(tally.loads.value == 2 && tally.closed.value == 2) }
    }

    @Test("So do features of the main actor (laws 8, 9, 12)")
    @MainActor func mainActor() async throws {
        let tally = Tally()
        let container = container(tally)
        let pool = container[MainPool.self]
        container[Level.self] = 7
        expect(container[MainPool.self], is: pool)
        container[Level.self] = -7
        expect(container[MainPool.self] !== pool)
        try await container.close()
        expect(tally.loads.value == 2 && tally.closed.value == 2)
    }

    @Test(
        "A child's own copy stays, and what it shares, and several changes of an update are one question (laws 6, 9, 10, 12)"
    )
    func children() async throws {
        // A child's own copy stays, and so does what a child shares.
        do {
            let (tally, own) = (Tally(), Tally())
            let root = container(tally)
            let sharing = root.child()
            let child = root.child {
                $0[Tallied.self] = own
                $0[Level.self] = 3
            }
            let (shared, copy) = (root[Pool.self], child[Pool.self])
            expect(sharing[Pool.self], is: shared)
            root[Level.self] = 7
            child[Level.self] = 8
            expect(sharing[Pool.self], is: shared)
            expect(child[Pool.self], is: copy)
            try await root.close()
            expect(tally.loads.value == 1 && tally.closed.value == 1 && own.loads.value == 1 && own.closed.value == 1)
        }
        // Several changes of an update are one question.
        do {
            let container = container(Tally())
            let heard = Log<Int>()
            container.observe(Sign.self) { heard.add($0) }
            let pool = container[Pool.self]
            container.update {
                $0[Level.self] = -4
                $0[Level.self] = 4
            }
            expect(container[Pool.self], is: pool)
            expect(heard.all, equals: [1])
        }
    }

    @Test("Sequences and views hear of nothing that stays equal (laws 9, 12)")
    func sequenceAndView() async {
        let container = container(Tally())
        var iterator = container.values(of: Sign.self).makeAsyncIterator()
        expect(await iterator.next(), equals: 1)
        let changes = Counter()
        withObservationTracking {
            _ = container.observable[Sign.self]
        } onChange: {
            changes.add()
        }
        container[Level.self] = 7
        expect(changes.value, equals: 0)
        container[Level.self] = -7
        expect(changes.value, equals: 1)
        expect(await iterator.next(), equals: -1)
    }

    @Test("A load that fails and then would give the same is heard of again (laws 4, 9, 12)")
    func failsBetween() throws {
        struct Failure: Error {}
        struct Picky: ThrowingFeature {
            static var reloadsWhenInputsChange: Bool { true }
            static func load(in container: any FeatureContainer) throws -> Int {
                let level = container[Level.self]
                if level > 100 { throw Failure() }
                return level.signum()
            }
        }
        let container = container(Tally())
        let heard = Log<Int>()
        container.observe(Picky.self) { heard.add($0) }
        _ = try container[Picky.self]
        container[Level.self] = 50
        expect(heard.all, equals: [1])
        container[Level.self] = 500
        #expect(throws: Failure.self) { try container[Picky.self] }
        container[Level.self] = 60
        expect(try container[Picky.self], equals: 1)
    }

    @Test("A diamond of derived values evaluates each once, and only as far as something has changed (law 12)")
    func diamond() {
        let counts = Log<String>()
        let left = FeatureKey<Int>(reloadsWhenInputsChange: true, id: UniqueID()) {
            counts.add("left")
            return $0[Level.self] / 10
        }
        let right = FeatureKey<Int>(reloadsWhenInputsChange: true, id: UniqueID()) {
            counts.add("right")
            return $0[Level.self] % 10
        }
        let top = FeatureKey<Int>(reloadsWhenInputsChange: true, id: UniqueID()) {
            counts.add("top")
            return $0[left] + $0[right]
        }
        let container = Container()
        container[Level.self] = 12
        let heard = Log<Int>()
        container.observe({ _ in top }) { heard.add($0) }
        expect(container[top], equals: 3)
        counts.removeAll()
        container[Level.self] = 13
        expect(counts.removeAll().sorted(), equals: ["left", "right", "top"])
        container[Level.self] = 22
        expect(counts.removeAll().sorted(), equals: ["left", "right", "top"])
        expect(heard.all, equals: [3, 4])
        expect(container[top], equals: 4)
    }
}
