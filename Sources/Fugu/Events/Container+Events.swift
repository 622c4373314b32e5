/// Something that happened in a container or its family, such as the end of a load or a change of a value.
///
/// `FuguInspection` says what each kind and property means.
package struct EventRecord: Sendable {
    package enum Kind: Sendable {
        case loadBegan, loaded, reloaded, overtaken, notKept, failed, waited, dropped, set, overridden, replaced,
            supplied, reset
        case closed
    }

    package let kind: Kind
    package let number: UInt64
    package let time: Duration
    package let subject: Key?
    package let container: Int
    package internal(set) var home: Int?
    package internal(set) var way: [Key] = []
    package internal(set) var load: UInt64?
    package internal(set) var neededBy: UInt64?
    package internal(set) var duration: Duration?
    package internal(set) var error: (any Error)?

    /// The path to a load as messages show it, shortened if it's long.
    package var pathText: String { Messages.way(way.map(\.name)) }
}

extension Container {
    /// Calls a handler for every event in the family of this container.
    package func observeRecords(_ handler: @escaping @Sendable (EventRecord) -> Void) -> ObservationToken {
        ObservationToken(EventObserver(in: node, handler))
    }
}

/// The time since the first use.
///
/// Instants of the clock have a size that only the standard library knows, so whatever holds one is copied by calls.
package enum ProcessTime {
    package static let origin = ContinuousClock.now
    static var now: Duration { origin.duration(to: .now) }
}
