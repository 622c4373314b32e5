import Foundation
import Fugu
import Observation
import Support
import Synchronization
import Testing

// Law 13: reading a key through `observable` tracks that key; access is registered before the read.
@Suite("Law 13: a first access that others make, too", .timeLimit(.minutes(5))) struct Law13FirstAccessTests {
    struct Number: Property { static var defaultValue: Int { 0 } }
    struct Keeps: Feature {
        let handle: Container
        static func load(in container: any FeatureContainer) -> Keeps {
            _ = container[Number.self]
            return Keeps(handle: .current)
        }
    }

    /// Lets two threads go on in the same moment, without a lock that would put them in order.
    private final class Turn: Sendable {
        private let number = Atomic(0)

        func advance() { number.add(1, ordering: .releasing) }

        func await(_ turn: Int) {
            var spins = 0
            while number.load(ordering: .acquiring) < turn {
                spins += 1
                if spins.isMultiple(of: 2_000) { sched_yield() }
            }
        }
    }

    @Test("Of a key that two threads track for the first time together, neither misses a change (law 13)")
    func together() async throws {
        let (missed, rounds) = (Counter(), Support.rounds(5_000, few: 1_000))
        try await finishing {
            let container = Container()
            let observable = container.observable
            let keys = (0..<rounds).map { PropertyKey(defaultValue: 0, id: "first access \($0)") }
            let (begun, done) = (Turn(), Turn())
            let other = startThread {
                for round in 0..<rounds {
                    begun.await(round + 1)
                    withObservationTracking {
                        _ = observable[keys[round]]
                    } onChange: {
                    }
                    done.advance()
                }
            }
            for round in 0..<rounds {
                let heard = Counter()
                begun.advance()
                // The two meet at another place in each round.
                for _ in 0..<round % 50 { done.await(0) }
                withObservationTracking {
                    _ = observable[keys[round]]
                } onChange: {
                    heard.add()
                }
                container[keys[round]] = 1
                // The other thread may be the one that delivers the change.
                done.await(round + 1)
                if heard.value == 0 { missed.add() }
            }
            other.wait()
        }
        expect(missed.value, equals: 0, "of \(rounds)")
    }

    // The Observation framework begins to listen when the tracked closure has ended, so the reader looks for what changed in between.
    @Test("A reader that looks once more after a tracked read misses no change (law 13)")
    func lastValue() async throws {
        try await finishing {
            let container = Container()
            let observable = container.observable
            let last = 1_000
            let begun = Gate()
            let reader = startThread {
                var seen = 0
                while seen < last {
                    let changed = Gate()
                    seen = withObservationTracking {
                        observable[Number.self]
                    } onChange: {
                        changed.open()
                    }
                    begun.open()
                    if seen < last, seen == container[Number.self] { changed.wait() }
                }
            }
            begun.wait()
            for number in 1...last { container[Number.self] = number }
            reader.wait()
        }
    }

    @Test("Tracked reads are notified of changes though the view it was read through has gone (law 13)")
    func viewGone() {
        let container = Container()
        let changes = Counter()
        func track(_ container: Container) {
            withObservationTracking {
                _ = container.observable[Number.self]
            } onChange: {
                changes.add()
            }
        }
        track(container)
        container[Number.self] = 1
        expect(changes.value, equals: 1)
        track(container[Keeps.self].handle)
        container.reset(Keeps.self)
        container[Number.self] = 2
        expect(changes.value, equals: 2)
    }

    @Test("A child's tracking of what it inherits ends with the child, and leaves the parent's alone (laws 8 and 13)")
    func childGone() {
        let container = Container()
        let (above, below) = (Counter(), Counter())
        withObservationTracking {
            _ = container.observable[Number.self]
        } onChange: {
            above.add()
        }
        var child: Container? = container.child()
        withObservationTracking {
            _ = child!.observable[Number.self]
        } onChange: {
            below.add()
        }
        weak let gone = child
        child = nil
        expect(gone == nil)
        container[Number.self] = 1
        expect(above.value, equals: 1)
        expect(below.value, equals: 0)
    }
}
