import Foundation
import Fugu
import Support
import Synchronization
import Testing

@Suite("Stress") struct StressTests {}

extension StressTests {
    /// How long it takes: a moment, unless the environment asks for more.
    private static let seconds = Double(ProcessInfo.processInfo.environment["FUGU_STRESS_SECONDS"] ?? "") ?? 0.2

    @Test("8 threads set, reset, and read instances: each is released once, and none is read after its end (laws 3, 7)")
    func instances() async {
        let root = Container().unreported
        let children = (0..<2).map { _ in root.child() }
        let containers = [root] + children
        let end = ContinuousClock.now + .seconds(Self.seconds)
        await onThreads(8) { number in
            var random = SystemRandomNumberGenerator()
            while ContinuousClock.now < end {
                for _ in 0..<200 { Self.step(containers[Int.random(in: 0..<3, using: &random)], number, &random) }
            }
        }
        for container in containers { container.resetAll() }
        expect(Tracked.alive.load(ordering: .sequentiallyConsistent), equals: 0)
        expect(Tracked.made.load(ordering: .sequentiallyConsistent) > 8)
    }

    private static func step(_ container: Container, _ number: Int, _ random: inout SystemRandomNumberGenerator) {
        switch (Int.random(in: 0..<16, using: &random), number.isMultiple(of: 2)) {
        case (0, true): container[Tracked.self] = Tracked()
        case (1, true): container.reset(Tracked.self)
        case (0, false): container[Pair.self] = Pair(first: Tracked(), second: Tracked())
        case (1, false): container.reset(Pair.self)
        case (2, _): container.reset(User.self)
        case (3...6, _): container[User.self].tracked.check()
        case (7...10, _):
            let pair = container[Pair.self]
            pair.first.check()
            pair.second.check()
        default: container[Tracked.self].check()
        }
    }

    /// Counts how many there are.
    ///
    /// A reader of one that is released finds another stamp, or nothing at all.
    private final class Tracked: Feature, Sendable {
        static let made = Atomic(0)
        static let alive = Atomic(0)
        private static let stamp = 0x5EA1_ED
        private let stamp = Atomic(Tracked.stamp)

        init() {
            Self.made.add(1, ordering: .relaxed)
            Self.alive.add(1, ordering: .relaxed)
        }

        deinit {
            precondition(stamp.exchange(0, ordering: .relaxed) == Self.stamp, "released twice")
            Self.alive.subtract(1, ordering: .relaxed)
        }

        func check() { precondition(stamp.load(ordering: .relaxed) == Self.stamp, "read after its end") }

        static func load(in container: any FeatureContainer) -> Tracked { Tracked() }
    }

    /// More than a word.
    private struct Pair: Feature, Sendable {
        let first: Tracked
        let second: Tracked

        static func load(in container: any FeatureContainer) -> Pair { Pair(first: Tracked(), second: Tracked()) }
    }

    /// Made from another one.
    private struct User: Feature, Sendable {
        let tracked: Tracked

        static func load(in container: any FeatureContainer) -> User { User(tracked: container[Tracked.self]) }
    }
}
