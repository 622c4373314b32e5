@testable import Fugu
import Support
import Testing

@Suite("Law 17: who waits for whose load") struct Law17WaitingTests {
    struct Number: Property { static var defaultValue: Int { 0 } }
    struct Own: Feature {
        static var home: Home { .local }
        static func load(in container: any FeatureContainer) -> Token { Token() }
    }

    @Test("Instances made from something local load in parallel in each container (laws 15, 17)")
    func localInputs() {
        struct Loads: Property { static var defaultValue: Counter { Counter() } }
        struct FromOwn: Feature {
            static func load(in container: any FeatureContainer) -> Int {
                let loads = container[Loads.self]
                _ = container[Own.self]
                // The first lets the family know that each container has its own.
                guard loads.add() > 1 else { return 1 }
                let handle = container as! Container
                let root = handle.ancestor(handle.node.ancestor(at: 0))
                awaitState { loads.value == 3 || root.waiterCount(for: Key(raw: Key.feature(FromOwn.self))) > 0 }
                return loads.value
            }
        }
        let root = Container()
        _ = root.child()[FromOwn.self]
        let counts = Log<Int>()
        onThreads(2) { _ in counts.add(root.child()[FromOwn.self]) }
        expect(counts.all, equals: [3, 3])
    }

    @Test("A reader that waited four times for instances of old values loads beside the others (laws 17, 19)")
    func outdatedAgainAndAgain() {
        let gates = (0..<6).map { _ in Gate() }
        let loads = Counter()
        let key = FeatureKey(reloadsWhenInputsChange: true, id: UniqueID()) { container in
            let number = container[Number.self]
            gates[loads.add() - 1].wait()
            return number
        }
        let root = Container()
        var threads = [startThread { _ = root[key] }]
        awaitState { loads.value == 1 }
        let patient = startThread { _ = root[key] }
        root.awaitWaiters(1, for: key)
        for round in 1...4 {
            root[Number.self] = round
            // The load in progress is outdated now, so that a new reader doesn't join it.
            threads.append(startThread { _ = root[key] })
            awaitState { loads.value == round + 1 }
            gates[round - 1].open()
            threads[round - 1].wait()
            if round < 4 { root.awaitWaiters(1, for: key) }
        }
        awaitState { loads.value == 6 || root.waiterCount(for: Key(raw: key.raw)) > 0 }
        expect(loads.value, equals: 6)
        gates.forEach { $0.open() }
        (threads + [patient]).forEach { $0.wait() }
    }
}
