public import Foundation
public import Fugu

/// A source of the current date: `container.date.now`.
///
/// The default follows `container.timestamp`, so that a test that sets the timestamp sets both.
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

    /// The date of the system's clock, regardless of the timestamp.
    public static let system = DateGenerator { Date() }

    /// Returns a generator that always gives the same date.
    ///
    /// - Parameter date: The date.
    /// - Returns: The generator.
    public static func constant(_ date: Date) -> DateGenerator {
        DateGenerator { date }
    }

    /// Returns a generator that gives the date of a timestamp.
    ///
    /// - Parameter timestamp: The timestamp to follow.
    /// - Returns: The generator.
    public static func following(_ timestamp: Timestamp) -> DateGenerator {
        DateGenerator { Date(timeIntervalSince1970: timestamp.now) }
    }
}

extension ContainerKeys {
    /// The current date, which follows the container's timestamp, also when that is set later.
    ///
    /// To set the date doesn't set the timestamp.
    public var date: FeatureKey<DateGenerator> {
        .init(reloadsWhenInputsChange: true) { .following($0.timestamp) }
    }
}
