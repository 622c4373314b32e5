/// Random numbers, for every generic function that takes a generator.
///
/// ```swift
/// let die = container.randomness { Int.random(in: 1...6, using: &$0) }
/// container.randomness = .linearCongruential(withSeed: 42)
/// ```
///
/// Copies share one sequence, and threads may draw from it at the same time; each number is given out once. Do not
/// write `using: &container.randomness`: the language writes the generator back, and that counts as setting the
/// feature.
public struct Randomness: RandomNumberGenerator, Sendable {
    private let draw: @Sendable () -> UInt64

    /// Creates a generator from a closure.
    ///
    /// `Randomness { 1 }` draws the lower bound of every range of integers. The standard library draws again when a number would bias
    /// its result, and refuses some numbers forever (0 is one), so a closure that always gives one of those never ends a draw.
    ///
    /// - Parameter draw: A closure that returns 64 random bits. Several threads may call it at the same time.
    public init(_ draw: @escaping @Sendable () -> UInt64) {
        self.draw = draw
    }

    /// Returns the next 64 random bits.
    ///
    /// - Returns: The bits.
    public func next() -> UInt64 { draw() }

    /// Calls a closure with this generator, so that you can use a generator in place that you read from a container.
    ///
    /// - Parameter body: A closure that draws from the generator.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws.
    public func callAsFunction<R, E>(_ body: (inout Randomness) throws(E) -> R) throws(E) -> R {
        var generator = self
        return try body(&generator)
    }

    /// The system's generator, which is cryptographically secure if the operating system's is.
    public static let system = Randomness {
        var generator = SystemRandomNumberGenerator()
        return generator.next()
    }

    /// Returns a generator that gives the same numbers in every run for the same seed.
    ///
    /// Never use it for secrets.
    ///
    /// Each call starts a new sequence. `LinearCongruential`, in the source, has the formula.
    ///
    /// - Parameter seed: The seed.
    /// - Returns: The generator.
    public static func linearCongruential(withSeed seed: UInt64) -> Randomness {
        let generator = Locked(LinearCongruential(seed: seed))
        return Randomness { generator.withLock { $0.next() } }
    }
}

extension ContainerKeys {
    /// Random numbers: those of the system.
    ///
    /// The placeholder is a repeatable sequence; a constant could make a caller draw forever.
    public var randomness: FeatureKey<Randomness> {
        .init(placeholder: { .linearCongruential(withSeed: 0) }) { _ in .system }
    }
}

/// The generator behind ``Randomness/linearCongruential(withSeed:)``.
///
/// It computes `state = state × a + c` modulo 2¹²⁸ and gives the upper 64 bits. In a linear congruential generator
/// modulo 2ᵏ, bit i repeats after 2ⁱ⁺¹ numbers. With 64 bits of state, the lower bits, which the standard library
/// uses for small integers, would hardly be random; with 128, the upper 64 bits repeat after 2⁶⁵ numbers or more, and
/// pass the usual statistical tests (M. O'Neill, "128-bit MCG Passes PractRand", pcg-random.org, 2017).
///
/// The multiplier is from P. L'Ecuyer, "Tables of linear congruential generators of different sizes and good lattice
/// structure", Mathematics of Computation 68 (1999), for modulus 2¹²⁸: 47026247687942121848144207491837523525. Any
/// odd increment gives the full period of 2¹²⁸ (Hull and Dobell, 1962); this one consists of D. Knuth's two numbers
/// for MMIX side by side.
package struct LinearCongruential: RandomNumberGenerator, Sendable {
    package static var multiplier: UInt128 { 47_026_247_687_942_121_848_144_207_491_837_523_525 }
    package static var increment: UInt128 { 117_397_592_171_526_113_268_558_934_119_004_209_487 }

    private var state: UInt128

    /// Two steps move the seed from the lower half into the upper half, which the generator gives.
    package init(seed: UInt64) {
        state = UInt128(seed)
        _ = next()
        _ = next()
    }

    package mutating func next() -> UInt64 {
        state = state &* Self.multiplier &+ Self.increment
        return UInt64(truncatingIfNeeded: state >> 64)
    }
}
