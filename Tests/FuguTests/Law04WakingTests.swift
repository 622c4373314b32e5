import Foundation
import Support
import Synchronization
import Testing

@testable import Fugu

@Suite("Law 4: who waits is woken") struct Law04WakingTests {
    @Test("Who begins to wait in the very moment of the end is woken all the same (law 4)")
    func atOnce() {
        // The moment is short; in so many rounds, each a little later than the one before, threads meet in it.
        let count = 30_000
        let signals = (0..<count).map { _ in Signal() }
        let arrived = [Arrivals(), Arrivals()]
        onThreads(2) { thread in
            for (round, signal) in signals.enumerated() {
                arrived[thread].add()
                arrived[1 - thread].wait(for: round + 1)
                if thread == 0 {
                    signal.wait()
                } else {
                    for _ in 0..<round % 30 { arrived[0].wait(for: round + 1) }
                    signal.raise()
                }
            }
        }
        #expect(arrived.allSatisfy { $0.count == count })
    }

    /// Counts, and lets others wait without sleeping, so that they go on at once.
    private final class Arrivals: Sendable {
        private let number = Atomic(0)
        var count: Int { number.load(ordering: .relaxed) }
        func add() { number.add(1, ordering: .relaxed) }
        func wait(for count: Int) {
            var turns = 0
            while self.count < count {
                turns += 1
                if turns.isMultiple(of: 1_000) { sched_yield() }
            }
        }
    }
}
