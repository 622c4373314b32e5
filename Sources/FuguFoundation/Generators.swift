public import Foundation
public import Fugu

/// A source of the current date: `container.date.now`.
///
/// The system's jumps when someone sets the clock. To measure or to wait, use the container's `clock`.
public struct DateGenerator: Sendable {
    private let read: @Sendable () -> Date

    /// Creates a generator from a closure.
    ///
    /// - Parameter read: A closure that returns the current date. It's called at every read of ``now``, on the reader's
    ///   thread.
    public init(_ read: @escaping @Sendable () -> Date) {
        self.read = read
    }

    /// The current date.
    ///
    /// If you set it, the generator stops at that date: `container.date.now = date`.
    public var now: Date {
        get { read() }
        set { self = .constant(newValue) }
    }

    /// The date of the system's clock.
    public static let system = DateGenerator { Date() }

    /// Returns a generator that always gives the same date.
    ///
    /// - Parameter date: The date.
    /// - Returns: The generator.
    public static func constant(_ date: Date) -> DateGenerator {
        DateGenerator { date }
    }

    /// Returns a generator that moves with a clock.
    ///
    /// With a `ManualClock` of FuguTesting, you move sleeping tasks and the date together.
    ///
    /// - Parameters:
    ///   - clock: The clock.
    ///   - start: The date at this call.
    /// - Returns: The generator.
    public static func following(
        _ clock: some Clock<Duration>, from start: Date = Date(timeIntervalSince1970: 0)
    ) -> DateGenerator {
        let clock = AnyClock(clock)
        let origin = clock.now
        return DateGenerator { start + origin.duration(to: clock.now) / .seconds(1) }
    }
}

extension ContainerKeys {
    /// The current date: that of the system's clock.
    ///
    /// The placeholder fails the test that reads it, and gives the start of 1970.
    public var date: FeatureKey<DateGenerator> {
        let start = Date(timeIntervalSince1970: 0)
        return .init(
            placeholder: { DateGenerator(unimplemented("date.now", placeholder: start)) },
            preview: { _ in .constant(start) }
        ) { _ in .system }
    }
}

/// A generator of UUIDs: `container.uuid()`.
public struct UUIDGenerator: Sendable {
    private let make: @Sendable () -> UUID

    /// Creates a generator from a closure.
    ///
    /// - Parameter make: A closure that returns a UUID. Several threads can call it at the same time.
    public init(_ make: @escaping @Sendable () -> UUID) {
        self.make = make
    }

    /// Returns the next UUID.
    ///
    /// - Returns: The UUID.
    public func callAsFunction() -> UUID { make() }

    /// Random UUIDs (version 4) from the system.
    public static let random = UUIDGenerator { UUID() }

    /// Returns a generator of random UUIDs (version 4) from a source of random numbers.
    ///
    /// - Parameter randomness: The source. If it's repeatable, the UUIDs are, too.
    /// - Returns: The generator.
    public static func random(using randomness: Randomness) -> UUIDGenerator {
        UUIDGenerator {
            var generator = randomness
            return UUID.random(using: &generator)
        }
    }

    /// A new sequence that counts up from `00000000-0000-0000-0000-000000000000` and gives each UUID once.
    public static var incrementing: UUIDGenerator {
        let next = Locked<UInt64>(0)
        return UUIDGenerator {
            let number = next.withLock { next in
                defer { next += 1 }
                return next
            }
            return UUID(number: number)
        }
    }

    /// Returns a generator that always gives the same UUID.
    ///
    /// - Parameter uuid: The UUID.
    /// - Returns: The generator.
    public static func constant(_ uuid: UUID) -> UUIDGenerator {
        UUIDGenerator { uuid }
    }

    /// Returns a generator that always gives the UUID of a number, `UUID(number:)`.
    ///
    /// - Parameter number: The number.
    /// - Returns: The generator.
    public static func constant(_ number: UInt64) -> UUIDGenerator { .constant(UUID(number: number)) }
}

extension ContainerKeys {
    /// A generator of UUIDs: random ones from the system.
    ///
    /// The placeholder is a new sequence that counts up from zero.
    public var uuid: FeatureKey<UUIDGenerator> { .init(placeholder: { .incrementing }) { _ in .random } }
}

extension UUID {
    /// Creates the UUID whose last eight bytes are a number and whose first eight bytes are zero.
    ///
    /// `UUID(number: 1)` is `00000000-0000-0000-0000-000000000001`, the second one of ``UUIDGenerator/incrementing``.
    ///
    /// - Parameter number: The number.
    public init(number: UInt64) {
        self.init(high: 0, low: number)
    }

    /// Draws twice: the upper half first, with version 4 and the variant of RFC 9562 in their places.
    static func random(using generator: inout some RandomNumberGenerator) -> UUID {
        let high = generator.next() & ~0xF000 | 0x4000
        let low = generator.next() & ~(0b11 << 62) | 0b10 << 62
        return UUID(high: high, low: low)
    }

    private init(high: UInt64, low: UInt64) {
        func byte(_ half: UInt64, _ index: UInt64) -> UInt8 { UInt8(truncatingIfNeeded: half >> (8 * (7 - index))) }
        self.init(
            uuid: (
                byte(high, 0), byte(high, 1), byte(high, 2), byte(high, 3),
                byte(high, 4), byte(high, 5), byte(high, 6), byte(high, 7),
                byte(low, 0), byte(low, 1), byte(low, 2), byte(low, 3),
                byte(low, 4), byte(low, 5), byte(low, 6), byte(low, 7)
            ))
    }
}
