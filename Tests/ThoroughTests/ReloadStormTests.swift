import Support
import Testing

@testable import Fugu

@Suite("Laws 9 and 12: whoever observes what reloads is left with the value that stays") struct ReloadStormTests {}

extension ReloadStormTests {
    struct Number: Property { static var defaultValue: Int { 0 } }
    struct Other: Property { static var defaultValue: Int { 0 } }
    struct Live: Feature {
        static var reloadsWhenInputsChange: Bool { true }
        static func load(in container: any FeatureContainer) -> Int { container[Number.self] }
    }
    struct Above: Feature {
        static var reloadsWhenInputsChange: Bool { true }
        static func load(in container: any FeatureContainer) -> Int { container[Live.self] * 100 }
    }

    /// An event in the life of a container.
    enum Step: CaseIterable {
        case setInput, resetInput, setFeature, resetFeature, replaceFeature, resetAbove

        func perform(in container: any FeatureContainer, _ number: Int) {
            switch self {
            case .setInput: container[Number.self] = number
            case .resetInput: container.reset(Number.self)
            case .setFeature: container[Live.self] = number
            case .resetFeature: container.reset(Live.self)
            case .replaceFeature: container.replace(Live.self) { $0[Number.self] + number * 1_000 }
            case .resetAbove: container.reset(Above.self)
            }
        }
    }

    /// Within what it happens.
    enum Manner: CaseIterable {
        case alone, modify, update, transaction, mixed, mixedBelow, load, observer, ownObserver

        func perform(
            _ root: Container, _ child: Container,
            _ steps: @escaping @Sendable (any FeatureContainer, any FeatureContainer) -> Void
        ) {
            let once = Counter()
            switch self {
            case .alone: steps(root, child)
            case .modify: child.modify(Other.self) { _ in steps(root, child) }
            case .update: child.update { _ in steps(root, child) }
            // Some by the handle, others beside it.
            case .mixed: root.update { steps($0, child) }
            case .mixedBelow: child.update { steps(root, $0) }
            case .transaction: root.update { root in child.update { child in steps(root, child) } }
            case .load: _ = child[FeatureKey(home: .local, id: UniqueID()) { _ in steps(root, child) }]
            case .observer:
                let token = child.observe(Other.self) { _ in steps(root, child) }
                child[Other.self] += 1
                token.cancel()
            case .ownObserver:
                let token = child.observe(Live.self) { _ in if once.add() == 1 { steps(root, child) } }
                child[Number.self] = 99
                token.cancel()
            }
        }
    }

    /// Two containers whose observers of two features hear what happens.
    private struct World: Sendable {
        let root = Container()
        let child: Container
        let heard: [Log<Int>]

        init(startsWithOwn: Bool) {
            child = root.child()
            _ = root[Above.self]
            let (root, child) = (root, child)
            heard = (0..<4).map { _ in
                let log = Log<Int>()
                log.add(0)
                return log
            }
            let (inRoot, aboveInRoot, inChild, aboveInChild) = (heard[0], heard[1], heard[2], heard[3])
            root.observe(Live.self) { inRoot.add($0) }
            root.observe(Above.self) { aboveInRoot.add($0) }
            child.observe(Live.self) { inChild.add($0) }
            child.observe(Above.self) { aboveInChild.add($0) }
            if startsWithOwn { child[Number.self] = 7 }
        }

        /// The value that was delivered last and the present one; equal unless something is wrong.
        var ends: (heard: [Int?], present: [Int?]) {
            (
                heard.map { $0.all.last },
                [
                    root.ifLoaded(Live.self), root.ifLoaded(Above.self), child.ifLoaded(Live.self),
                    child.ifLoaded(Above.self),
                ]
            )
        }

        /// The value if nothing had been kept.
        var right: [Int] {
            let (live, own) = (root[Live.self], child[Live.self])
            return [live, live * 100, own, own * 100]
        }
    }

    @Test(
        "Whatever is set, reset or replaced, and within what, the last call carries the value that stays (laws 9, 12)",
        arguments: Manner.allCases, [false, true])
    func everySequence(_ manner: Manner, _ startsWithOwn: Bool) {
        let all = [false, true].flatMap { isInChild in Step.allCases.map { (isInChild, $0) } }
        let pairs = all.flatMap { start in all.map { [start, $0] } }
        let longer = pairs.flatMap { start in all.map { start + [$0] } }
        var sequences = all.map { [$0] }
        // All of them take a while where nothing is optimised.
        #if DEBUG
        let part = rounds(11, few: 260)
        sequences += stride(from: Int.random(in: 0..<part), to: longer.count, by: part).map { longer[$0] }
        let share = rounds(1, few: 4)
        sequences += stride(from: Int.random(in: 0..<share), to: pairs.count, by: share).map { pairs[$0] }
        #else
        sequences += pairs + longer
        #endif
        var wrong = 0
        for sequence in sequences {
            let world = World(startsWithOwn: startsWithOwn)
            manner.perform(world.root, world.child) { root, child in
                for (number, (isInChild, step)) in sequence.enumerated() {
                    step.perform(in: isInChild ? child : root, number + 1)
                }
            }
            let (ends, right) = (world.ends, world.right)
            if ends.heard == ends.present, ends.present == right { continue }
            wrong += 1
            guard wrong <= 3 else { continue }
            let text = sequence.map { "\($0.1) in the \($0.0 ? "child" : "root")" }.joined(separator: ", ")
            Issue.record(
                "\(text): heard \(ends.heard), there is \(ends.present), right \(right); \(world.heard.map(\.all))")
        }
        expect(wrong, equals: 0, "of \(sequences.count) sequences")
    }

    @Test("Whatever several threads do at once, the last call carries the value that stays (laws 9, 12)")
    func manyThreads() async {
        for seed in seeds(20, for: "laws 9 and 12") {
            let world = World(startsWithOwn: seed % 2 == 0)
            await onThreads(3) { thread in
                var random = SeededGenerator(seed: seed &* 4 &+ UInt64(thread))
                for step in 0..<30 {
                    let number = thread * 30 + step + 1
                    let manner = Manner.allCases[Int.random(in: 0..<8, using: &random)]
                    let kind = Step.allCases.randomElement(using: &random)!
                    let isInChild = Bool.random(using: &random)
                    manner.perform(world.root, world.child) { root, child in
                        kind.perform(in: isInChild ? child : root, number)
                    }
                }
            }
            let (ends, right) = (world.ends, world.right)
            expect(ends.heard == ends.present && ends.present == right, "seed \(seed): \(ends), right \(right)")
        }
    }
}

/// Random graphs of derived values, compared with a model that asks each value's inputs one by one.
extension ReloadStormTests {
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

    @Test("Who reads a new value never reads what was made from an older one afterward, here or below (laws 12 and 16)")
    func order() async {
        struct Default: Property { static var defaultValue: Int { Container.current[Number.self] } }
        for isTogether in [false, true] {
            let root = Container()
            let (child, count) = (root.child(), rounds(20_000, few: 2_000))
            let older = Log<String>()
            await onThreads(4) { thread in
                if thread == 0 {
                    for number in 1...count {
                        root.update { root in
                            if isTogether { root[Other.self] = number }
                            root[Number.self] = number
                        }
                    }
                    return
                }
                let container = thread == 1 ? child : root
                var number = 0
                while number < count {
                    number = container[Number.self]
                    let made = (container[Default.self], container[Live.self], container[Above.self])
                    let isOld = made.0 < number || made.1 < number || made.2 < number * 100
                    if isOld { older.add("\(made) after \(number)") }
                }
            }
            expect(older.all, equals: [])
        }
    }

    @Test(
        "Random derived values load as often as a model that asks input by input, and only changes are heard (laws 9, 12)"
    )
    func model() {
        for seed in seeds(rounds(40, few: 40), for: "ReloadStormTests.model") {
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
