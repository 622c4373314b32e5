@testable import Fugu
import FuguInspection
@testable import FuguScopes
import Support
import Testing

// Law 20: with n observers, children, waiters, keys, events or reloads, ending, cancelling, releasing or closing them all
// takes time in proportion to n; a set or reset costs what it concerns, among ten keys or ten thousand. Nothing that is
// remembered grows while what is alive does not.
@Suite("Law 20: many of everything", .serialized, .timeLimit(.minutes(5))) struct ProportionOfFamiliesTests {}

extension ProportionOfFamiliesTests {
    struct Number: Property { static var defaultValue: Int { 0 } }
    struct Other: Property { static var defaultValue: Int { 0 } }

    /// Larger where everything is faster.
    #if DEBUG
    private static let scale = 1
    #else
    private static let scale = 4
    #endif

    private static func keys(_ count: Int) -> [PropertyKey<Int>] {
        (0..<count).map { PropertyKey(defaultValue: 0, id: $0) }
    }

    @Test(
        "Observers of events and of one key are cancelled in time in proportion, in any order (law 20)",
        arguments: 0..<3, [true, false])
    func observers(order: Int, ofEvents: Bool) {
        expectProportion(1_000 * Self.scale) { count in
            let container = Container()
            let tokens = (0..<count).map { _ in
                ofEvents ? container.observeEvents { _ in } : container.observe(Number.self) { _ in }
            }
            return threadTime {
                switch order {
                case 0: for token in tokens { token.cancel() }
                case 1: for token in tokens.reversed() { token.cancel() }
                default: for token in tokens.shuffled() { token.cancel() }
                }
            }
        }
    }

    @Test("A graph is drawn in time in proportion to its entries (law 20)")
    func drawnGraphs() {
        expectProportion(100 * Self.scale) { count in
            let container = Container()
            var keys: [FeatureKey<Int>] = []
            for id in 0..<count {
                let inputs = keys.suffix(3)
                keys.append(FeatureKey(id: id) { container in inputs.reduce(0) { $0 &+ container[$1] } })
                _ = container[keys[id]]
            }
            let graph = container.graph
            return threadTime { _ = (graph.mermaid, graph.dot, graph.description, graph.json, graph.html) }
        }
    }

    @Test("Elements and decorations are added, loaded, copied, and reset in time in proportion (law 20)")
    func layers() {
        let list = FeatureKey<[Int]>(id: UniqueID()) { _ in [] }
        expectProportion(1_000 * Self.scale) { count in
            let container = Container()
            return threadTime {
                for number in 0..<count { container.contribute(to: { _ in list }) { _ in number } }
                expect(container[list].count, equals: count)
                let copy = Container(copying: container)
                for container in [container, copy] {
                    for _ in 0..<count { container.decorate({ _ in list }) { list, _ in list } }
                    container.contribute(to: { _ in list }) { _ in 0 }
                    container.reset { _ in list }
                }
            }
        }
    }

    /// An operation on a family of ten generations with an observer in each container.
    enum DeepStep: CaseIterable { case cancelling, changing, releasing }

    @Test(
        "Generations that each observe a key are notified, canceled, and released in time in proportion (law 20)",
        arguments: DeepStep.allCases)
    func deepObservers(_ step: DeepStep) async throws {
        try await expectProportion(500 * Self.scale) { count in
            // On a stack that a deep family can be released on.
            try await finishing {
                let root = Container()
                var containers = [root]
                var tokens: [ObservationToken] = []
                for number in 0..<count {
                    containers.append((number.isMultiple(of: 10) ? root : containers.last!).child())
                    tokens.append(containers.last!.observe(Number.self) { _ in })
                }
                switch step {
                case .cancelling: return threadTime { for token in tokens { token.cancel() } }
                case .changing: return threadTime { for number in 1...4 { root[Number.self] = number } }
                case .releasing: return threadTime { while !containers.isEmpty { containers.removeLast() } }
                }
            }
        }
    }

    @Test("Observing at the bottom of a deep family costs what it concerns (law 20)")
    func bottomObservers() async throws {
        try await expectProportion(250 * Self.scale) { count in
            try await finishing {
                var container = Container()
                for _ in 0..<200 { container = container.child() }
                return threadTime { for _ in 0..<count { container.observe(Number.self) { _ in } } }
            }
        }
    }

    @Test(
        "The inputs of an observed feature are set in time in proportion, together or one by one (law 20)",
        arguments: [true, false])
    func inputsOfAnObservedFeature(isTogether: Bool) {
        expectProportion(100 * Self.scale) { count in
            let keys = Self.keys(count)
            let feature = FeatureKey<Int>(id: UniqueID()) { container in keys.reduce(0) { $0 &+ container[$1] } }
            let child = Container().child()
            _ = child[feature]
            child.observe({ _ in feature }) { _ in }
            return threadTime {
                if isTogether {
                    child.update { child in for key in keys { child[key] = 1 } }
                } else {
                    for key in keys { child[key] = 1 }
                }
            }
        }
    }

    @Test("Inputs that a child hides from an observed feature are set above in time in proportion (law 20)")
    func hiddenInputsOfAnObservedFeature() {
        expectProportion(250 * Self.scale) { count in
            let keys = Self.keys(count)
            let feature = FeatureKey<Int>(id: UniqueID()) { container in keys.reduce(0) { $0 &+ container[$1] } }
            let root = Container()
            let child = root.child()
            _ = child[feature]
            child.observe({ _ in feature }) { _ in }
            child.update { child in for key in keys { child[key] = 1 } }
            return threadTime { root.update { root in for key in keys { root[key] = 2 } } }
        }
    }

    @Test("Keys are set for the first time in a child that observes another in time in proportion (law 20)")
    func setBesideAnObserver() {
        expectProportion(1_000 * Self.scale) { count in
            let keys = Self.keys(count)
            let child = Container().child()
            child.observe(Number.self) { _ in }
            return threadTime { for key in keys { child[key] = 1 } }
        }
    }

    @Test("resetAll takes time in proportion to what is held, in roots and in children (law 20)", arguments: [0, 1, 3])
    func resetAll(depth: Int) {
        expectProportion(1_000 * Self.scale) { count in
            let keys = Self.keys(count)
            var container = Container()
            for _ in 0..<depth { container = container.child() }
            for key in keys { container[key] = 1 }
            return threadTime { container.resetAll() }
        }
    }

    @Test("Keys of a child are reset one by one in time in proportion, in any order (law 20)", arguments: 0..<3)
    func resetEach(order: Int) {
        expectProportion(1_000 * Self.scale) { count in
            let keys = Self.keys(count)
            let child = Container().child()
            for key in keys { child[key] = 1 }
            let order = order == 0 ? keys : order == 1 ? keys.reversed() : keys.shuffled()
            return threadTime { for key in order { child.reset { _ in key } } }
        }
    }

    @Test("An override and its reset cost the same among ten keys and ten thousand, observed or not (law 20)")
    func overrideAmongMany() {
        for isObserved in [false, true] {
            expectProportion(1_000 * Self.scale) { count in
                let keys = Self.keys(count)
                let child = Container().child()
                for key in keys { child[key] = 1 }
                if isObserved { child.observe(Other.self) { _ in } }
                return threadTime {
                    for _ in 0..<count {
                        child[Number.self] = 1
                        child.reset(Number.self)
                    }
                }
            }
        }
    }

    @Test("resetAll of an empty child costs the same below a root that holds ten keys and ten thousand (law 20)")
    func emptyChild() {
        expectProportion(500 * Self.scale) { count in
            let keys = Self.keys(count)
            let root = Container()
            for key in keys { root[key] = 1 }
            let child = root.child()
            return threadTime { for _ in 0..<count { child.resetAll() } }
        }
    }

    @Test("Rules of a container cost what stands below it, not what stands beside it (law 20)")
    func rulesElsewhere() {
        expectProportion(250 * Self.scale) { count in
            let root = Container()
            let scopes = (0..<count).map { root.scope("/a/\($0)") }
            for scope in scopes { _ = scope[Number.self] }
            let child = root.child()
            return threadTime { for _ in 0..<count { child.invalidateScopes() } }
        }
    }

    @Test("A rule that sets many keys, and an update that does, take time in proportion (law 20)")
    func ruleOfManyKeys() {
        expectProportion(500 * Self.scale) { count in
            let keys = Self.keys(count)
            let root = Container()
            root.configureScopes { handle in for key in keys { handle[key] = 1 } }
            return threadTime { _ = root.scope("/a")[Number.self] }
        }
        expectProportion(500 * Self.scale) { count in
            let keys = Self.keys(count)
            let root = Container()
            return threadTime { root.update { handle in for key in keys { handle[key] = 1 } } }
        }
    }

    @Test("Updates nested in one another, each with many changes, take time in proportion (laws 6 and 20)")
    func nestedUpdates() {
        struct Failure: Error {}
        expectProportion(300 * Self.scale) { count in
            let keys = Self.keys(count)
            let root = Container()
            return threadTime {
                root.update { handle in
                    for key in keys {
                        handle[key] = 1
                        try? root.update { inner throws(Failure) in
                            inner[key] = 2
                            throw Failure()
                        }
                    }
                }
                expect(keys.allSatisfy { root[$0] == 1 })
            }
        }
    }

    @Test("A diamond is loaded once for each feature by who reads it after closing (laws 18 and 20)")
    func diamondAfterClosing() async throws {
        let (loads, depth) = (Counter(), 14)
        let root = Container()
        root.handleReports { _ in }
        var keys: [FeatureKey<Int>] = []
        for number in 0..<depth {
            let below = keys.last
            keys.append(
                FeatureKey(id: "diamond \(number)") { container in
                    loads.add()
                    return below.map { container[$0] + container[$0] } ?? 1
                })
        }
        try await root.close()
        expect(root[keys[depth - 1]], equals: 1 << (depth - 1))
        expect(loads.value, equals: depth)
    }

    @Test("A load that catches the errors of many others takes time in proportion (law 20)")
    func caughtErrors() {
        struct Failing: ThrowingFeature {
            struct Failure: Error {}
            static func load(in container: any FeatureContainer) throws -> Int {
                _ = container[Number.self]
                throw Failure()
            }
        }
        expectProportion(200 * Self.scale) { count in
            let root = Container()
            root.handleReports { _ in }
            let children = (0..<count).map { number in root.child { $0[Number.self] = number } }
            let key = FeatureKey(id: UniqueID()) { _ in
                for child in children { _ = try? child[Failing.self] }
                return 1
            }
            return threadTime { _ = root[key] }
        }
    }
}

@Suite("Law 20: chains of features", .timeLimit(.minutes(5))) struct ProportionOfChainsTests {}

extension ProportionOfChainsTests {
    struct Bottom: Property { static var defaultValue: Int { 1 } }

    /// Features that are each made from the one before, the first from a property.
    private static func chain(_ count: Int, reloads: Bool, _ loads: Counter? = nil) -> [FeatureKey<Int>] {
        let family = UniqueID()
        var keys: [FeatureKey<Int>] = []
        keys.reserveCapacity(count)
        for number in 0..<count {
            let before = keys.last
            keys.append(
                FeatureKey(reloadsWhenInputsChange: reloads, id: Link(chain: family, number: number)) { container in
                    loads?.add()
                    return before.map { container[$0] + 1 } ?? container[Bottom.self]
                })
        }
        return keys
    }

    /// A load remembers everything that it was made from, so a chain takes memory in proportion to the square of its links.
    private static let count = 4_000
    #if DEBUG
    private static let resets = 5_000
    #else
    private static let resets = 20_000
    #endif

    private struct Link: Hashable, Sendable {
        let chain: UniqueID
        let number: Int
    }

    private func onSmallStack(_ body: @escaping @Sendable () -> Void) async {
        await startThread(stackSize: 256 << 10, body).opened()
    }

    @Test("A long chain is loaded, looked at by a child that overrides its bottom, and released on a small stack")
    func long() async {
        let keys = Self.chain(Self.count, reloads: false)
        let ended = Counter()
        let last = FeatureKey(id: UniqueID()) { container in
            _ = container[keys[Self.count - 1]]
            return Witness { ended.add() }
        }
        await onSmallStack {
            var container: Container? = Container()
            for key in keys { _ = container![key] }
            _ = container![last]
            expect(container![keys[Self.count - 1]], equals: Self.count)
            var child: Container? = container!.child()
            expect(child!.ifLoaded { _ in last } != nil)
            child![Bottom.self] = 5
            expect(child!.ifLoaded { _ in last } == nil && child!.ifLoaded { _ in keys[Self.count - 1] } == nil)
            // From the bottom up, one load within another at most.
            for key in keys.prefix(1_000) { _ = child![key] }
            expect(child![keys[999]], equals: 1_004)
            child!.reset(Bottom.self)
            expect(child!.ifLoaded { _ in last } != nil)
            child = nil
            container![Bottom.self] = 2
            expect(container![keys[Self.count - 1]], equals: Self.count)
            container!.reset { _ in keys[Self.count - 1] }
            container!.reset { _ in keys[0] }
            container = nil
        }
        expect(ended.value, equals: 1)
    }

    @Test("A chain of 1,500 above a feature with a teardown closure is released on a small stack (laws 18 and 20)")
    func aboveCloser() async {
        let keys = Self.chain(1_500, reloads: false)
        let closed = Counter()
        await onSmallStack {
            var container: Container? = Container()
            container!.handleReports { _ in }
            container!.replace({ _ in keys[0] }) { handle in
                handle.onClose { closed.add() }
                return 1
            }
            for key in keys { _ = container![key] }
            container = nil
        }
        expect(closed.value, equals: 0)
    }

    @Test(
        "A chain of 1,000 that reloads drops and loads each link once for each change, on a small stack (laws 12, 20)")
    func reloading() async {
        let loads = Counter()
        let keys = Self.chain(1_000, reloads: true, loads)
        await onSmallStack {
            let container = Container()
            for value in 1...3 {
                container[Bottom.self] = value
                expect(keys.allSatisfy { key in container.ifLoaded { _ in key } == nil })
                for key in keys { _ = container[key] }
                expect(container[keys[999]], equals: 999 + value)
                expect(loads.value, equals: value * 1_000)
            }
            // Cut in the middle, the upper half goes.
            container.reset { _ in keys[500] }
            expect(keys.filter { key in container.ifLoaded { _ in key } != nil }.count, equals: 500)
        }
    }

    @Test("An observed chain that reloads is loaded anew once for each change, on a small stack (laws 12 and 20)")
    func observed() async {
        let loads = Counter()
        let count = 4_000
        let keys = Self.chain(count, reloads: true, loads)
        await onSmallStack {
            let container = Container()
            for key in keys { _ = container[key] }
            let heard = Log<Int>()
            for key in keys { container.observe({ _ in key }) { heard.add($0) } }
            container[Bottom.self] = 2
            expect(loads.value, equals: 2 * count)
            expect(heard.removeAll().sorted(), equals: Array(2..<count + 2))
        }
    }

    @Test("Two that take over from one another's former instance remember no more after many resets (law 20)")
    func pingPong() async {
        struct Ping: Feature {
            static func load(in container: any FeatureContainer) -> Int {
                ((container as! Container).ifLoaded(Pong.self) ?? 0) + 1
            }
        }
        struct Pong: Feature {
            static func load(in container: any FeatureContainer) -> Int { container[Ping.self] + 1 }
        }
        await onSmallStack {
            var container: Container? = Container().unreported
            var largest = 0
            for _ in 0..<Self.resets {
                container!.reset(Ping.self)
                _ = container![Ping.self]
                container!.reset(Pong.self)
                _ = container![Pong.self]
            }
            for _ in 0..<100 {
                container!.reset(Ping.self)
                _ = container![Ping.self]
                container!.reset(Pong.self)
                _ = container![Pong.self]
                largest = max(largest, container!.size.provenances)
            }
            expect(container![Pong.self], equals: 2 * (Self.resets + 100))
            expect(largest <= 200, "\(largest) provenances")
            container = nil
        }
    }

    @Test("Children that go away while they're observed leave nothing behind (laws 7 and 20)")
    func observedChildren() {
        let root = Container()
        root[Bottom.self] = 1
        var size: RememberedSize?
        for number in 0..<3 {
            let child = root.child()
            child.observe(Bottom.self) { _ in }
            expect(root.size.readers > 0)
            if number == 0 { size = root.size }
            expect(root.size, equals: size)
        }
        expect(root.size.readers, equals: 0)
        expect(root.size.children, equals: 0)
    }

    @Test("A load that has ended is joined by nobody, however many others are under way (laws 3 and 20)")
    func endedAmongMany() {
        let root = Container()
        let gates = (0..<12).map { _ in Gate() }
        let began = Counter()
        let key = FeatureKey { handle in
            let number = handle[Bottom.self]
            guard number >= 0 else { return number }
            began.add()
            gates[number].wait()
            return number
        }
        // A key with known inputs is expected to have an instance in each child.
        root[Bottom.self] = -1
        expect(root[key], equals: -1)
        let children = gates.indices.map { number in root.child { $0[Bottom.self] = number } }
        let threads = children.map { child in startThread { _ = child[key] } }
        awaitState { began.value == children.count }
        gates[0].open()
        threads[0].wait()
        for _ in 0..<3 {
            children[0].reset { _ in key }
            expect(children[0][key], equals: 0)
        }
        expect(began.value, equals: children.count + 3)
        for gate in gates { gate.open() }
        for thread in threads { thread.wait() }
        expect(children.map { $0[key] }, equals: Array(gates.indices))
    }

    @Test("A child's copies of a chain, many times over, leave nothing behind (laws 10 and 20)")
    func copies() async {
        let keys = Self.chain(200, reloads: true)
        await onSmallStack {
            let root = Container()
            for key in keys { _ = root[key] }
            var size: RememberedSize?
            for number in 0..<20 {
                if number == 1 { size = root.size }
                let child = root.child { $0[Bottom.self] = number }
                for key in keys { _ = child[key] }
                expect(child[keys[199]], equals: 199 + number)
            }
            expect(root.size, equals: size)
            expect(root.size.children, equals: 0)
        }
    }
    @Test(
        "Provenance is released with its instances, however long their chain is (law 20)",
        arguments: 1...4)
    func forgotten(_ count: Int) {
        final class Weak { weak var provenance: Provenance? }
        var container: Container? = Container()
        for key in Self.chain(count, reloads: false) { _ = container![key] }
        let remembered = container!.provenances.map { provenance in
            let reference = Weak()
            reference.provenance = provenance
            return reference
        }
        expect(remembered.filter { $0.provenance != nil }.count, equals: count)
        container!.resetAll()
        container = nil
        expect(remembered.allSatisfy { $0.provenance == nil })
    }
}

/// How much a container's node remembers, counted and not weighed.
struct RememberedSize: Equatable {
    /// The provenances of what is there, each once.
    var provenances = 0
    /// All that these name.
    var inputs = 0
    /// The instances and followers that watch keys.
    var readers = 0
    var loads = 0
    var followers = 0
    var cells = 0
    var children = 0
    var scopes = 0
    var namings = 0
}

extension Container {
    var size: RememberedSize {
        let node = node
        var size = RememberedSize()
        node.family.lock.withLock { token in
            var seen: Set<ObjectIdentifier> = []
            for cell in node.storage.cells(token) {
                size.cells += 1
                guard let place = cell.place else { continue }
                let rare = place[token].rare
                for provenance in [place[token].provenance, place[token].record?.last].compactMap(\.self)
                where seen.insert(ObjectIdentifier(provenance)).inserted {
                    size.provenances += 1
                    size.inputs += provenance.keys.count
                }
                size.readers += place[token].watchers.count
                size.loads += place[token].record?.loads.all.count ?? 0
                size.followers += rare?.follower.value == nil ? 0 : 1
            }
            var child = node.storage[token].firstChild?.object
            while let next = child {
                size.children += 1
                child = next.storage[token].nextSibling?.object
            }
            size.namings = node.family.state[token].namings.count
        }
        size.scopes = ScopeTable.of(self).scopes.withLock { $0.count }
        return size
    }

    /// The provenance of this container's instances.
    var provenances: [Provenance] {
        let node = node
        return node.family.lock.withLock { token in
            node.storage.cells(token).compactMap { $0.place?[token].provenance }
        }
    }
}
