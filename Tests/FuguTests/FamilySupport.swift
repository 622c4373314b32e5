import Foundation
import Fugu
import Support

/// Lets threads through once as many have come as it was made for.
final class Latch: Sendable {
    private let gate = Gate()
    private let arrivals = Counter()
    private let count: Int

    init(_ count: Int) { self.count = count }

    func countDown() { if arrivals.add() == count { gate.open() } }
    func wait() { gate.wait() }

    /// Comes, and waits for the others.
    func meet() {
        countDown()
        wait()
    }
}

/// Runs `body` on so many threads at once that their stacks have to be small, and waits for the end of all.
func onManyThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    let ends = Latch(count)
    for number in 0..<count {
        let thread = Thread {
            body(number)
            ends.countDown()
        }
        thread.stackSize = 256 << 10
        thread.start()
    }
    ends.wait()
}

/// An instance with an identity, which can tell how many of its kind are alive.
final class Token: Sendable {
    let number: Int
    private let alive: Counter?

    init(_ number: Int = 0, alive: Counter? = nil) {
        self.number = number
        self.alive = alive
        alive?.add()
    }

    deinit { alive?.add(-1) }
}

/// Random numbers that a seed repeats.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

/// The seeds of a randomised test: `FUGU_SEED` and as many after it as `FUGU_SEEDS` says, or fresh ones.
///
/// Printed, so that a failure can be repeated.
func seeds(_ count: Int, for test: String) -> [UInt64] {
    let environment = ProcessInfo.processInfo.environment
    if let seed = environment["FUGU_SEED"].flatMap({ UInt64($0) }) {
        return Array(seed..<seed + (environment["FUGU_SEEDS"].flatMap { UInt64($0) } ?? 1))
    }
    let seeds = (0..<count).map { _ in UInt64.random(in: 0..<1_000_000_000) }
    print("\(test): seeds \(seeds.map(String.init).joined(separator: " ")) (repeat one with FUGU_SEED=…)")
    return seeds
}
