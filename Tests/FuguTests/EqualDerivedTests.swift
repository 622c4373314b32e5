import Fugu
import Observation
import Support
import Testing

@Suite("Laws 9 and 12: derived values that stay equal") struct EqualDerivedTests {}

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
        "What is made from a derived value that stays equal stays open, and nobody hears (laws 9, 12, 18)"
    )
    func plain() async throws {
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

    @Test("So does what nobody observes, at the next read (laws 9, 12)")
    func unobserved() async throws {
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

    @Test("A child's own copy stays, and so does what a child shares (laws 9, 10, 12)")
    func children() async throws {
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

    @Test("Several changes of an update are one question (laws 6, 9, 12)")
    func update() {
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

/// Random graphs of derived values, compared with a model that asks each value's inputs one by one.
extension EqualDerivedTests {
    private struct Graph {
        let sources: [PropertyKey<Int>]
        let derived: [FeatureKey<Int>]
        /// What each derived value may read: sources first, then derived values before it.
        let inputs: [[Int]]
        let loads: [Counter]

        init(_ random: inout SeededGenerator, _ count: Int) {
            let sources = (0..<4).map { _ in PropertyKey<Int>(defaultValue: 0, id: UniqueID()) }
            var derived: [FeatureKey<Int>] = []
            var inputs: [[Int]] = []
            let loads = (0..<count).map { _ in Counter() }
            for index in 0..<count {
                let reads = (0..<(1 + random.below(3))).map { _ in random.below(4 + index) }
                let (before, count) = (derived, loads[index])
                inputs.append(reads)
                derived.append(
                    FeatureKey(reloadsWhenInputsChange: true, id: UniqueID()) { container in
                        count.add()
                        return Self.value(reads) { $0 < 4 ? container[sources[$0]] : container[before[$0 - 4]] }
                    })
            }
            (self.sources, self.derived, self.inputs, self.loads) = (sources, derived, inputs, loads)
        }

        /// The value of what reads some inputs: the first one decides whether it reads the others.
        static func value(_ inputs: [Int], _ read: (Int) -> Int) -> Int {
            let first = read(inputs[0])
            return first == 2 ? 2 : inputs.dropFirst().reduce(first) { $0 + read($1) } % 3
        }
    }

    /// Keeps of each derived value what it read and when it last changed.
    private struct Model {
        struct Entry {
            var value: Int
            var changed: Int
            var checked: Int
            var reads: [(input: Int, changed: Int)]
        }
        let graph: Graph
        var now = 1
        var sources = Array(repeating: (value: 0, changed: 0), count: 4)
        var entries: [Int: Entry] = [:]
        var loads: [Int]

        init(_ graph: Graph) {
            self.graph = graph
            loads = Array(repeating: 0, count: graph.derived.count)
        }

        mutating func set(_ index: Int, _ value: Int) {
            now += 1
            // Setting a key for the first time is a change.
            if sources[index].changed > 0, sources[index].value == value { return }
            sources[index] = (value, now)
        }

        mutating func read(_ input: Int) -> (value: Int, changed: Int) {
            if input < 4 { return sources[input] }
            let index = input - 4
            if var entry = entries[index] {
                if entry.checked == now { return (entry.value, entry.changed) }
                if entry.reads.allSatisfy({ read($0.input).changed == $0.changed }) {
                    entry.checked = now
                    entries[index] = entry
                    return (entry.value, entry.changed)
                }
            }
            loads[index] += 1
            var reads: [(input: Int, changed: Int)] = []
            let value = Graph.value(graph.inputs[index]) { input in
                let (value, changed) = read(input)
                reads.append((input, changed))
                return value
            }
            let former = entries[index]
            let changed = former?.value == value ? former!.changed : now
            entries[index] = Entry(value: value, changed: changed, checked: now, reads: reads)
            return (value, changed)
        }
    }

    @Test(
        "Random derived values load as often as a model that asks input by input, and only changes are heard (laws 9, 12)"
    )
    func model() {
        for seed in seeds(rounds(40, few: 40), for: "EqualDerivedTests.model") {
            var random = SeededGenerator(seed: seed)
            let graph = Graph(&random, 8)
            var model = Model(graph)
            let container = Container()
            let observed = (0..<8).filter { _ in random.happens(30) }
            let heard = (0..<8).map { _ in Log<Int>() }
            var expected = Array(repeating: [Int](), count: 8)
            for index in observed {
                container.observe({ _ in graph.derived[index] }) { heard[index].add($0) }
            }
            var last: [Int: Int] = [:]
            func hear() {
                for index in observed where last[index] != nil {
                    let value = model.read(4 + index).value
                    if value != last[index] { expected[index].append(value) }
                    last[index] = value
                }
            }
            for step in 0..<60 {
                if random.happens(50) {
                    let (index, value) = (random.below(4), random.below(3))
                    container[graph.sources[index]] = value
                    model.set(index, value)
                    hear()
                } else {
                    let index = random.below(8)
                    expect(
                        container[graph.derived[index]], equals: model.read(4 + index).value,
                        "seed \(seed), step \(step)")
                }
                // What is loaded for the first time is heard.
                for index in observed where last[index] == nil {
                    guard let entry = model.entries[index] else { continue }
                    last[index] = entry.value
                    expected[index].append(entry.value)
                }
                expect(graph.loads.map(\.value), equals: model.loads, "seed \(seed), step \(step)")
                for index in observed {
                    expect(heard[index].all, equals: expected[index], "seed \(seed), step \(step), derived \(index)")
                }
            }
        }
    }
}
