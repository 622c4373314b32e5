import Foundation
import Support
import Synchronization
import Testing

@testable import Fugu

@Suite("Law 3: single flight, no lock in user code") struct SingleFlightThreadsTests {}

extension SingleFlightThreadsTests {
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

    @Test("Different features load in parallel (law 3)")
    func parallel() {
        let container = Container()
        let (firstBegan, secondBegan) = (Gate(), Gate())
        let first = FeatureKey { _ in
            firstBegan.open()
            secondBegan.wait()
            return 1
        }
        let second = FeatureKey { _ in
            secondBegan.open()
            firstBegan.wait()
            return 2
        }
        onThreads(2) { _ = $0 == 0 ? container[first] : container[second] }
        expect(container.ifLoaded { _ in first }, equals: 1)
        expect(container.ifLoaded { _ in second }, equals: 2)
    }

    @Test("A loader may block on another thread that reads a different key (law 3)")
    func blockingLoader() {
        let container = Container()
        let inner = FeatureKey { _ in "inner" }
        let throughContainer = FeatureKey { _ in "outer of " + onAnotherThread { container[inner] } }
        let throughHandle = FeatureKey { handle in "outer of " + onAnotherThread { handle[inner] } }
        expect(container[throughHandle], equals: "outer of inner")
        container.resetAll()
        expect(container[throughContainer], equals: "outer of inner")
    }

    /// Uses the family of `container` from another thread, in all ways, and waits for its end.
    static func useElsewhere(_ container: Container) {
        onAnotherThread {
            let property = PropertyKey(defaultValue: 1, id: UniqueID())
            let feature = FeatureKey(id: UniqueID()) { $0[property] + 1 }
            let token = container.observe({ _ in property }) { _ in }
            _ = container.unreported[feature]
            container[property] = 2
            container.modify({ _ in property }) { $0 += 1 }
            container.update { $0[property] = 4 }
            _ = container.child()[feature]
            token.cancel()
            container.reset { _ in property }
        }
    }

    struct Touching: Equatable, Sendable {
        let number: Int
        let container: Container
        static func == (left: Self, right: Self) -> Bool {
            useElsewhere(left.container)
            return left.number == right.number
        }
    }

    @Test("No lock is held while defaults, loads, observers, bodies and == run (law 3)")
    func noLockInUserCode() {
        let container = Container().unreported
        let property = PropertyKey<Int>(
            defaultValue: {
                Self.useElsewhere(container)
                return 1
            }())
        container.observe({ _ in property }) { _ in Self.useElsewhere(container) }
        let feature = FeatureKey { _ in
            Self.useElsewhere(container)
            return 2
        }
        expect(container[property], equals: 1)
        expect(container[feature], equals: 2)
        container[property] = 3
        container.modify({ _ in property }) { value in
            Self.useElsewhere(container)
            value = 4
        }
        container.update { handle in
            Self.useElsewhere(container)
            handle[property] = 5
        }
        expect(container[property], equals: 5)
        let equatable = PropertyKey(defaultValue: Touching(number: 1, container: container))
        let heard = Counter()
        let token = container.observe({ _ in equatable }) { _ in heard.add() }
        container[equatable] = Touching(number: 2, container: container)
        container.modify({ _ in equatable }) { $0 = Touching(number: 3, container: container) }
        container.update { $0[equatable] = Touching(number: 4, container: container) }
        expect(heard.value, equals: 3)
        token.cancel()
        container.reset { _ in equatable }
    }

    struct Slow: Feature {
        static func load(in container: any FeatureContainer) -> Int { 0 }
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
}

@Suite("Law 3: who waits is woken") struct SingleFlightWakingTests {}

extension SingleFlightWakingTests {
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
