import Foundation
import Support
import Synchronization
import Testing

@testable import Fugu

@Suite("Law 3: single flight, however many ask, and whenever") struct SingleFlightStormTests {}

extension SingleFlightStormTests {
    struct Device: Feature {
        static let loads = Counter()
        static func load(in container: any FeatureContainer) -> Witness {
            loads.add()
            return Witness()
        }
    }

    struct Parsed: ThrowingFeature {
        static let loads = Counter()
        static func load(in container: any FeatureContainer) throws -> Witness {
            loads.add()
            return Witness()
        }
    }
    struct Slow: Feature {
        static func load(in container: any FeatureContainer) -> Int { 0 }
    }

    @Test("Eight threads on each of thousands of fresh containers load once and get one value, of every kind (law 3)")
    func manyContainers() async {
        let count = rounds(10_000, few: 1_000)
        let loads = Counter()
        let property = PropertyKey(defaultValue: loads.add())
        let feature = FeatureKey { container in container[property] + loads.add(1_000_000) }
        let containers = (0..<count).map { _ in Container() }
        let barrier = Barrier(of: 8)
        let seen = (0..<8).map { _ in Log<String>() }
        await onThreads(8) { thread in
            for container in containers {
                barrier.wait()
                let parsed = (try? container[Parsed.self]).map { "\(ObjectIdentifier($0))" } ?? "failed"
                let device = ObjectIdentifier(container[Device.self])
                seen[thread].add("\(container[feature]) \(container[property]) \(parsed) \(device)")
            }
        }
        expect(loads.value, equals: count + count * 1_000_000)
        expect([Parsed.loads.value, Device.loads.value], equals: [count, count])
        expect(seen.allSatisfy { $0.all == seen[0].all })
    }

    @Test("Threads that wait for a load cost no processor time (law 3)")
    func waiting() {
        let container = Container()
        let work: Duration = .milliseconds(300)
        let began = Gate()
        container.replace(Slow.self) { _ in
            began.open()
            container.awaitWaiters(4, for: Slow.self)
            let begin = ThisProcess.threadTime
            while ThisProcess.threadTime - begin < work {}
            return 1
        }
        let times = Log<Duration>()
        let loading = startThread { _ = container[Slow.self] }
        began.wait()
        onThreads(4) { _ in
            let begin = ThisProcess.threadTime
            _ = container[Slow.self]
            times.add(ThisProcess.threadTime - begin)
        }
        loading.wait()
        expect(times.count, equals: 4)
        expect(times.all.allSatisfy { $0 < work / 6 }, "\(times.all)")
    }

    @Test("A net of features that many threads enter anywhere is loaded once each and cries no wolf (law 3)")
    func net() async {
        let loads = (0..<24).map { _ in Counter() }
        var keys: [FeatureKey<Int>] = []
        for number in 0..<24 {
            let needs = (0..<number).filter { (number * 7 + $0 * 5) % 3 == 0 }.map { keys[$0] }
            keys.append(
                FeatureKey(id: number) { container in
                    loads[number].add()
                    return needs.reduce(1) { $0 &+ container[$1] }
                })
        }
        let net = keys
        let containers = (0..<200).map { _ in Container() }
        let barrier = Barrier(of: 6)
        await onThreads(6) { thread in
            for container in containers {
                barrier.wait()
                for step in 0..<24 { _ = container[net[(23 - step * (2 * thread + 1) % 24 + 24) % 24]] }
            }
        }
        expect(loads.map(\.value), equals: Array(repeating: 200, count: 24))
    }

    @Test("A reader that begins to wait at the very end of a load is still woken (law 3)")
    func atOnce() {
        // The moment is short; in many rounds, each a little later than the one before, threads meet in it. Where threads have to
        // wait for a processor, fewer rounds are enough to ask for.
        let signals = (0..<rounds(30_000, few: 6_000)).map { _ in Signal() }
        let arrived = [Arrivals(), Arrivals()]
        // A round, and not a flag: the other thread may look for it late, in the round before.
        let last = Atomic(signals.count)
        let begin = ContinuousClock.now
        onThreads(2) { thread in
            for (round, signal) in signals.enumerated() {
                if thread == 1, .now - begin > .seconds(1) { last.store(round, ordering: .releasing) }
                arrived[thread].add()
                arrived[1 - thread].wait(for: round + 1)
                if round >= last.load(ordering: .acquiring) { return }
                if thread == 0 {
                    signal.wait()
                } else {
                    for _ in 0..<round % 30 { arrived[0].wait(for: round + 1) }
                    signal.raise()
                }
            }
        }
        expect(arrived[0].count, equals: arrived[1].count)
    }

    /// Counts, and lets others wait without sleeping, so that they go on at once.
    private final class Arrivals: Sendable {
        private let number = Atomic(0)
        var count: Int { number.load(ordering: .acquiring) }
        func add() { number.add(1, ordering: .releasing) }
        func wait(for count: Int) {
            var turns = 0
            while self.count < count {
                turns += 1
                if turns.isMultiple(of: 1_000) { sched_yield() }
            }
        }
    }
}
