import Foundation

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
