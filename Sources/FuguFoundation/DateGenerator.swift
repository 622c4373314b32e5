public import Foundation
public import Fugu

/// The present date: `container.date.now`.
///
/// Unless it is set it follows `container.timestamp`, so that setting the timestamp freezes both.
public struct DateGenerator: Feature, Sendable {
    private let read: @Sendable () -> Date

    /// A date of your own; `read` is called at every read of ``now``, on the reader's thread.
    public init(_ read: @escaping @Sendable () -> Date) {
        self.read = read
    }

    /// The present date. Setting it stops the generator at a date: `container.date.now = date`.
    public var now: Date {
        get { read() }
        set { self = .constant(newValue) }
    }

    /// The system's clock, whatever the timestamp says.
    public static let system = DateGenerator { Date() }

    /// Always `date`.
    public static func constant(_ date: Date) -> DateGenerator {
        DateGenerator { date }
    }

    /// The date that `timestamp` shows.
    public static func following(_ timestamp: Timestamp) -> DateGenerator {
        DateGenerator { Date(timeIntervalSince1970: timestamp.now) }
    }

    /// Follows the container's timestamp.
    public static func load(in container: any FeatureContainer) -> DateGenerator {
        .following(container.timestamp)
    }

    /// A new timestamp makes a new date.
    public static var reloadsWhenInputsChange: Bool { true }
}

extension FeatureContainer {
    /// The present date.
    public var date: DateGenerator {
        get { self[DateGenerator.self] }
        set { self[DateGenerator.self] = newValue }
    }
}
