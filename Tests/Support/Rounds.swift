import Foundation
import Synchronization
package import Testing

/// How often a test repeats what it does: `all` where `FUGU_THOROUGH` is set, as in the steps `release`, `optimized`, `address`,
/// and `thread-…` of `.ci/run`, and `few` in a plain `swift test`, which somebody waits for.
package func rounds(_ all: Int, few: Int) -> Int {
    ProcessInfo.processInfo.environment["FUGU_THOROUGH"] == nil ? few : all
}

/// The time for which this thread has run on a processor while it ran `body`.
package func threadTime(_ body: () throws -> Void) rethrows -> Duration {
    let start = ThisProcess.threadTime
    try body()
    return ThisProcess.threadTime - start
}

/// Expects that what `measure` returns for four times the size is less than eight times as much (law 20).
///
/// Linear growth takes four times as much, and quadratic growth sixteen times. Of three rounds the best
/// counts, and what takes next to nothing is in proportion. Under the thread sanitizer only little is done, for its races.
package func expectProportion(
    _ size: Int, sourceLocation: SourceLocation = #_sourceLocation,
    isolation: isolated (any Actor)? = #isolation, _ measure: (Int) async throws -> Duration
) async rethrows {
    guard !ThisProcess.isThreadSanitized else {
        _ = try await measure(size / 4)
        return
    }
    var measured: [String] = []
    for _ in 0..<3 {
        let small = try await measure(size)
        let large = try await measure(4 * size)
        if large < .milliseconds(20) || large < small * 8 { return }
        measured.append("\(small) and \(large)")
    }
    Issue.record("\(size) and \(4 * size) took \(measured)", sourceLocation: sourceLocation)
}

/// The same for what does not suspend.
package func expectProportion(
    _ size: Int, sourceLocation: SourceLocation = #_sourceLocation, _ measure: (Int) throws -> Duration
) rethrows {
    guard !ThisProcess.isThreadSanitized else {
        _ = try measure(size / 4)
        return
    }
    var measured: [String] = []
    for _ in 0..<3 {
        let (small, large) = (try measure(size), try measure(4 * size))
        if large < .milliseconds(20) || large < small * 8 { return }
        measured.append("\(small) and \(large)")
    }
    Issue.record("\(size) and \(4 * size) took \(measured)", sourceLocation: sourceLocation)
}

/// Distinguishes keys that a test makes repeatedly at one place.
package struct UniqueID: Hashable, Sendable {
    private static let count = Atomic(0)
    private let number: Int

    /// Creates one that equals no other.
    package init() { number = Self.count.add(1, ordering: .relaxed).newValue }
}

/// Random numbers that a seed repeats.
package struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64
    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    package mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
    package mutating func happens(_ percent: Int) -> Bool { below(100) < percent }
}

/// The seeds of a random test: `FUGU_SEED` and as many after it as `FUGU_SEEDS` says, or fresh ones.
///
/// Fresh ones are printed in thorough runs, so that whatever comes of one can be repeated.
package func seeds(_ count: Int, for test: String) -> [UInt64] {
    let environment = ProcessInfo.processInfo.environment
    if let seed = environment["FUGU_SEED"].flatMap({ UInt64($0) }) {
        return Array(seed..<seed + (environment["FUGU_SEEDS"].flatMap { UInt64($0) } ?? 1))
    }
    let seeds = (0..<count).map { _ in UInt64.random(in: 0..<1_000_000_000) }
    if environment["FUGU_THOROUGH"] != nil {
        print("\(test): seeds \(seeds.map(String.init).joined(separator: " ")) (repeat one with FUGU_SEED=…)")
    }
    return seeds
}
