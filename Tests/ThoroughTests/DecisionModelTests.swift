import Support
import Testing

@testable import Fugu

/// The decisions that the engine makes under the lock, as functions of its state: on one thread, without loaders.
@Suite("The engine's decisions against the words of the laws") struct DecisionModelTests {}

extension DecisionModelTests {
    @Test("What counts changes if a write gives or removes what the first origin gives (laws 13 and 15)")
    func origins() {
        for given in [
            [], [.code], [.rule], [.source], [.code, .rule], [.code, .source], [.rule, .source],
            [Origin.code, .rule, .source],
        ] {
            for origin in [Origin.code, .rule, .source] {
                for givesNothing in [false, true] {
                    let after = givesNothing ? given.filter { $0 != origin } : (given + [origin]).sorted()
                    let changes = given.first != after.first || !givesNothing && after.first == origin
                    expect(
                        Binding.changes(origin, givesNothing: givesNothing, over: given.first), equals: changes,
                        "\(given) \(origin) \(givesNothing)")
                }
            }
        }
    }

    @Test("A closing runs next what nothing that is left was made from, and the container's own last (law 18)")
    func closingOrder() throws {
        for seed in seeds(60, for: "closing order") {
            var random = SeededGenerator(seed: seed)
            let node = Container().unreported.node
            let key = TypedKey(FeatureKey<Int>(id: UniqueID()) { _ in 0 }).key
            var made: [(lifetime: Lifetime, uses: [Int])] = []
            var state = node.family.lock.withLock { token -> ClosingState in
                for index in 0..<12 {
                    let uses = (0..<index).filter { _ in random.happens(25) }
                    let closers = random.happens(60) ? [Closer(close: {})] : []
                    let lifetime = Lifetime(
                        token, key, home: node, closers: closers, uses: uses.map { made[$0].lifetime })
                    made.append((lifetime, uses))
                }
                return node.storage[token].more().closing
            }
            state.closers.append(Closer(close: {}))
            var left = Set(made.indices.filter { made[$0].lifetime.teardown.hasClosers })
            func isUsed(_ index: Int, by other: Int) -> Bool {
                made[other].uses.contains { $0 == index || isUsed(index, by: $0) }
            }
            while !left.isEmpty {
                let taken = state.takeNext(of: node)
                let teardown = try #require(taken)
                let next = try #require(made.firstIndex { $0.lifetime.teardown === teardown })
                #expect(left.remove(next) != nil)
                #expect(!left.contains { isUsed(next, by: $0) })
            }
            let own = state.takeNext(of: node)
            let isOver = state.takeNext(of: node) == nil
            #expect(own?.key == nil && own?.closers.count == 1 && isOver)
            _ = node.family.lock.withLock { token in node.storage[token].more().closing.teardowns.takeAll() }
        }
    }

    @Test("Homes, looks, and whom a write concerns follow from the state (laws 6 and 9 to 13)")
    func states() {
        for seed in seeds(60, for: "decisions") {
            var world = World(seed)
            for _ in 0..<120 { world.step() }
            if !world.findings.isEmpty {
                Issue.record("seed \(seed):\n\(world.steps.suffix(40).joined(separator: "\n"))\n\(world.findings)")
            }
        }
    }

    /// A family whose instances are made by hand: the engine decides, and nothing is read through a container.
    private struct World {
        /// What a node sees of a key: a cell, and the time of what's in it.
        struct Sight: Equatable {
            let cell: CellReference
            let time: UInt64
            static func == (one: Sight, other: Sight) -> Bool { one.cell == other.cell && one.time == other.time }
        }
        struct Kept {
            let home: Int
            let feature: Int
            let direct: [Key]
            let keys: [Key]
            let isLocal: Bool
            let reloads: Bool
        }

        let containers: [Container]
        let parents: [Int?]
        let properties: [TypedKey]
        let features: [TypedKey]
        /// The containers and properties of which an observer was called.
        private let told = Log<[Int]>()
        private var observations: [any Sendable] = []
        private var observers: Set<[Int]> = []
        var kept: [Kept] = []
        var random: SeededGenerator
        var steps: [String] = []
        var findings: [String] = []

        init(_ seed: UInt64) {
            random = SeededGenerator(seed: seed)
            let root = Container().unreported
            var (containers, parents) = ([root], [Int?.none])
            for index in 1..<7 {
                let parent = random.below(index)
                containers.append(containers[parent].child())
                parents.append(parent)
            }
            (self.containers, self.parents) = (containers, parents)
            let observed = (0..<4).map { _ in PropertyKey<Int>(defaultValue: 0, id: UniqueID()) }
            properties = observed.map { TypedKey($0) }
            features = (0..<5).map { _ in TypedKey(FeatureKey<Int>(id: UniqueID()) { _ in 0 }) }
            for property in properties { write(property, .value(Payload(0)), in: 0) }
            for (number, key) in observed.enumerated() {
                for (box, container) in containers.enumerated() where random.happens(60) {
                    observers.insert([box, number])
                    observations.append(container.observe({ _ in key }) { [told] _ in told.add([box, number]) })
                }
            }
        }

        var family: Family { containers[0].node.family }
        var keys: [TypedKey] { properties + features }
        func node(_ index: Int) -> Node { containers[index].node }
        /// A container and those above it, nearest first.
        func path(_ index: Int) -> [Int] { Array(sequence(first: index) { parents[$0] }) }

        func sights() -> [[Sight?]] {
            family.lock.withLock { token in
                containers.indices.map { index in
                    keys.map { key in
                        guard case .found(let cell, _) = node(index).look(token, key.key) else { return nil }
                        return Sight(cell: cell, time: cell.time)
                    }
                }
            }
        }

        func holds(_ index: Int, _ key: Key) -> Bool {
            family.lock.withLock { token in node(index).holds(token, key) }
        }

        mutating func find(_ isRight: Bool, _ text: @autoclosure () -> String) {
            if !isRight { findings.append("\(steps.last ?? ""): \(text())") }
        }

        mutating func step() {
            let (box, kind) = (random.below(containers.count), random.below(10))
            switch kind {
            case 0..<2: set(random.below(properties.count), in: box)
            case 2: reset(properties[random.below(properties.count)].key, in: box)
            case 3: reset(features[random.below(features.count)].key, in: box)
            default: load(random.below(features.count), in: box)
            }
            checkLooks()
        }

        // MARK: Writes

        private func write(_ key: TypedKey, _ setting: Setting, in box: Int) {
            family.commit([Write(node(box), key, setting, by: .code)])
        }

        mutating func set(_ property: Int, in box: Int) {
            steps.append("set \(property) in \(box)")
            let (before, number) = (sights(), Int.random(in: 1..<1_000_000, using: &random))
            write(properties[property], .value(Payload(number)), in: box)
            let after = sights()
            for other in containers.indices {
                let holder = path(other).first { holds($0, properties[property].key) }
                find(
                    (before[other][property] == after[other][property]) == (holder != box),
                    "\(other) sees the set property")
            }
            checkWrite(written: properties[property].key, in: box, before)
        }

        mutating func reset(_ key: Key, in box: Int) {
            // The root's properties stay, so that each look finds something.
            if box == 0, key.kind == .property { return }
            steps.append("reset \(keys.firstIndex { $0.key == key }!) in \(box)")
            let before = sights()
            write(keys.first { $0.key == key }!, .nothing, in: box)
            checkWrite(written: key, in: box, before)
        }

        /// Each observer that sees another value is called once.
        ///
        /// An instance is dropped if it was reset, if it has no reason left to live below the root or if it reloads and its
        /// home sees another input.
        private mutating func checkWrite(written key: Key, in box: Int, _ before: [[Sight?]]) {
            let after = sights()
            let concerned = observers.filter { before[$0[0]][$0[1]] != after[$0[0]][$0[1]] }
            let told = told.removeAll()
            find(Set(told) == concerned && told.count == concerned.count, "observers \(told), not \(concerned)")
            var left: [Kept] = []
            for instance in kept {
                let isThere = isKept(instance)
                let inputs = instance.direct.map { input in keys.firstIndex { $0.key == input }! }
                let isOutdated =
                    instance.reloads && inputs.contains { before[instance.home][$0] != after[instance.home][$0] }
                let isAnchored =
                    instance.home == 0 || instance.isLocal || instance.keys.contains { holds(instance.home, $0) }
                let isReset = instance.home == box && features[instance.feature].key == key
                find(
                    isThere == !(isOutdated || isReset || !isAnchored),
                    "instance of \(instance.feature) in \(instance.home) is there: \(isThere)")
                if isThere { left.append(instance) }
            }
            kept = left
        }

        private func isKept(_ instance: Kept) -> Bool {
            family.lock.withLock { token in
                node(instance.home).storage.existingCell(token, features[instance.feature].key)?.has(CellFlags.loaded)
                    == true
            }
        }

        // MARK: Looks

        /// A container sees the nearest value or instance above, unless a container on the way holds an input of the instance.
        private mutating func checkLooks() {
            let seen = sights()
            for (index, feature) in features.enumerated() {
                for box in containers.indices {
                    var passed: [Int] = []
                    var expected: Int?
                    for owner in path(box) {
                        if let instance = kept.first(where: { $0.home == owner && $0.feature == index }) {
                            let isHidden = passed.contains { between in instance.keys.contains { holds(between, $0) } }
                            if owner == box || !instance.isLocal && !isHidden {
                                expected = owner
                                break
                            }
                        }
                        passed.append(owner)
                    }
                    let cell = expected.flatMap { owner in
                        family.lock.withLock { token in node(owner).storage.existingCell(token, feature.key) }
                    }
                    find(seen[box][properties.count + index]?.cell == cell, "\(box) looks for feature \(index)")
                }
            }
        }

        // MARK: Loads

        /// Ends a load that has read some of what its container sees, maybe after a write.
        mutating func load(_ feature: Int, in box: Int) {
            let read = sights()
            if read[box][properties.count + feature] != nil { return }
            let isReadable = { read[box][$0] != nil && ($0 < properties.count || $0 - properties.count < feature) }
            let readable = keys.indices.filter(isReadable)
            var reads: [Int] = []
            for _ in 0..<random.below(4) { reads.append(readable[random.below(readable.count)]) }
            // A key has one home and reloads or not, whoever asks.
            let (isLocal, reloads) = (feature == 1, feature.isMultiple(of: 2))
            let load = begin(feature, in: box, reads.map { keys[$0].key }, isLocal: isLocal, reloads)
            var resetIn: Int?
            if random.happens(30) {
                let other = random.below(containers.count)
                if random.happens(60) {
                    set(random.below(properties.count), in: other)
                } else {
                    resetIn = other
                    reset(features[feature].key, in: other)
                }
            }
            steps.append("load \(feature) in \(box) from \(reads)")
            let before = sights()
            let (home, provenance) = end(load)
            let isOld = reads.contains { read[box][$0] != before[box][$0] }
            // A reset below discards nothing that others share.
            let wasReset = resetIn.map { path(home).contains($0) } ?? false
            let isAnchored = home == 0 || provenance.isLocal || provenance.keys.contains { holds(home, $0) }
            let stays = !isOld && !wasReset && isAnchored
            let after = sights()
            // An older instance, which the container doesn't see, may be there.
            let isThere = after[home][properties.count + feature] != before[home][properties.count + feature]
            find(isThere == stays, "the load in \(home) is kept: \(isThere)")
            if !isThere { return }
            let instance = Kept(
                home: home, feature: feature, direct: provenance.direct, keys: provenance.keys,
                isLocal: provenance.isLocal, reloads: reloads)
            find(path(box).contains(home), "the home \(home) is the container or above")
            find(after[box][properties.count + feature] != nil, "the container sees the instance in \(home)")
            // Whoever shared an older instance keeps it.
            for other in containers.indices where before[other][properties.count + feature] != nil {
                find(
                    before[other][properties.count + feature] == after[other][properties.count + feature],
                    "\(other) keeps its instance")
            }
            let madeFrom = Set(reads)
            let isMine = isLocal || madeFrom.contains { index in made(index, before[box][index])?.isLocal == true }
            if isMine {
                find(home == box && provenance.isLocal, "a local instance lives in \(home)")
            } else {
                for input in madeFrom {
                    find(before[home][input] == before[box][input], "the home \(home) sees the same input \(input)")
                }
                // In no higher container could it live.
                for higher in path(home).dropFirst() {
                    let differs = madeFrom.contains { before[higher][$0] != before[box][$0] }
                    let isHiddenThere = path(box).prefix { $0 != higher }.contains { between in
                        provenance.keys.contains { holds(between, $0) }
                    }
                    find(differs || isHiddenThere || provenance.isLocal, "it could live in \(higher), not \(home)")
                }
            }
            kept.removeAll { $0.home == home && $0.feature == feature }
            kept.append(instance)
        }

        private func made(_ index: Int, _ sight: Sight?) -> Kept? {
            guard index >= properties.count, let sight else { return nil }
            return kept.first { instance in
                instance.feature == index - properties.count
                    && family.lock.withLock { token in
                        node(instance.home).storage.existingCell(token, keys[index].key) == sight.cell
                    }
            }
        }

        private func begin(
            _ feature: Int, in box: Int, _ reads: [Key], isLocal: Bool, _ reloads: Bool
        ) -> Load {
            let (asker, container) = (node(box), containers[box])
            return family.lock.withLock { token in
                let facts = LoadFacts(
                    key: features[feature].key, node: asker, home: isLocal ? .local : .inferred, floor: nil,
                    isReplaced: false, reloads: reloads,
                    isExternal: false, isStandIn: false, expected: UnmanagedReference(asker),
                    begun: family.state[token].now, undeclared: nil)
                let load = Load(facts, asking: UnmanagedReference(container), under: nil, within: nil)
                let record = node(0).place(token, load.key)[token].moreRecord()
                load.begin(token, in: record)
                for read in reads { _ = asker.read(token, read, for: load) }
                return load
            }
        }

        private func end(_ load: Load) -> (home: Int, provenance: Provenance) {
            var effects = Effects()
            let found = family.lock.withLock { token -> (Int, Provenance) in
                let outcome = LoadOutcome(token, of: load, failedWay: [])
                load.work.markFinished()
                var result = Result<Payload, any Error>.success(Payload(0))
                _ = outcome.settle(token, &result, for: nil, &effects)
                outcome.retire(token, &effects)
                return (containers.firstIndex { $0.node === outcome.home }!, outcome.provenance)
            }
            effects.perform()
            return found
        }
    }
}
