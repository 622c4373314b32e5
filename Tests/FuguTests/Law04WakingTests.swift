import Foundation
import Support
import Synchronization
import Testing

@testable import Fugu

@Suite("Law 4: who waits is woken") struct Law04WakingTests {
    @Test("A reader that begins to wait at the very end of a load is still woken (law 4)")
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
