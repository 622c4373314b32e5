@testable import Fugu
import Support
import Testing

@Suite("Laws 17 and 30: chains of features", .timeLimit(.minutes(5))) struct Law30ChainsTests {
    static let cases: [Case<Law30ChainsTests>] = [
        Case(
            "A chain of 1,500 above a feature with a teardown closure is released on a small stack (laws 17 and 28)",
            aboveCloser),
        Case(
            "A chain of 1,000 that reloads drops and loads each link once for each change, on a small stack (laws 17, 19)",
            reloading),
        Case(
            "An observed chain that reloads is loaded anew once for each change, on a small stack (laws 19 and 30)",
            observed),
        Case("Children that go away while they're observed leave nothing behind (laws 8 and 30)", observedChildren),
        Case("A child's copies of a chain, many times over, leave nothing behind (laws 16 and 30)", copies),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<Law30ChainsTests>) async throws { try await stated.run(self) }

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

    @Test("A chain of 4,000 is loaded, looked at by a child that overrides its bottom, and released on a small stack")
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
            expect(child!.ifLoaded(last) != nil)
            child![Bottom.self] = 5
            expect(child!.ifLoaded(last) == nil && child!.ifLoaded(keys[Self.count - 1]) == nil)
            // From the bottom up, one load within another at most.
            for key in keys.prefix(1_000) { _ = child![key] }
            expect(child![keys[999]], equals: 1_004)
            child!.reset(Bottom.self)
            expect(child!.ifLoaded(last) != nil)
            child = nil
            container![Bottom.self] = 2
            expect(container![keys[Self.count - 1]], equals: Self.count)
            container!.reset(keys[Self.count - 1])
            container!.reset(keys[0])
            container = nil
        }
        expect(ended.value, equals: 1)
    }

    func aboveCloser() async {
        let keys = Self.chain(1_500, reloads: false)
        let closed = Counter()
        await onSmallStack {
            var container: Container? = Container()
            container!.handleReports { _ in }
            container!.replace(keys[0]) { handle in
                handle.onClose { closed.add() }
                return 1
            }
            for key in keys { _ = container![key] }
            container = nil
        }
        expect(closed.value, equals: 0)
    }

    func reloading() async {
        let loads = Counter()
        let keys = Self.chain(1_000, reloads: true, loads)
        await onSmallStack {
            let container = Container()
            for value in 1...3 {
                container[Bottom.self] = value
                expect(keys.allSatisfy { container.ifLoaded($0) == nil })
                for key in keys { _ = container[key] }
                expect(container[keys[999]], equals: 999 + value)
                expect(loads.value, equals: value * 1_000)
            }
            // Cut in the middle, the upper half goes.
            container.reset(keys[500])
            expect(keys.filter { container.ifLoaded($0) != nil }.count, equals: 500)
        }
    }

    func observed() async {
        let loads = Counter()
        let count = rounds(4_000, few: 600)
        let keys = Self.chain(count, reloads: true, loads)
        await onSmallStack {
            let container = Container()
            for key in keys { _ = container[key] }
            let heard = Log<Int>()
            for key in keys { container.observe(key) { heard.add($0) } }
            container[Bottom.self] = 2
            expect(loads.value, equals: 2 * count)
            expect(heard.removeAll().sorted(), equals: Array(2..<count + 2))
        }
    }

    @Test("Two that take over from one another's former instance remember no more after 20,000 resets (laws 17 and 30)")
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
            var container: Container? = Container()
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

    func observedChildren() {
        let root = Container()
        root[Bottom.self] = 1
        var size: RememberedSize?
        for number in 0..<3 {
            let child = root.child()
            child.observe(Bottom.self) { _ in }
            expect(root.size.places > 0)
            if number == 0 { size = root.size }
            expect(root.size, equals: size)
        }
        expect(root.size.places, equals: 0)
        expect(root.size.children, equals: 0)
    }

    @Test("A load that has ended is joined by nobody, however many others are under way (laws 4 and 30)")
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
            children[0].reset(key)
            expect(children[0][key], equals: 0)
        }
        expect(began.value, equals: children.count + 3)
        for gate in gates { gate.open() }
        for thread in threads { thread.wait() }
        expect(children.map { $0[key] }, equals: Array(gates.indices))
    }

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
        "Provenance is released with its instances, however long their chain is (law 30)",
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
