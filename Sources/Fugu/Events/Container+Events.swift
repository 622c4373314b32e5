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
    package let time: ContinuousClock.Instant
    package let subject: Key?
    package let container: Int
    package var home: Int?
    package var way: [Key] = []
    package var load: UInt64?
    package var neededBy: UInt64?
    package var duration: Duration?
    package var error: (any Error)?

    /// The path to a load as messages show it, shortened if it's long.
    package var pathText: String { Messages.way(way.map(\.name)) }
}

extension Container {
    /// Calls a handler for every event in the family of this container.
    package func observeRecords(_ handler: @escaping @Sendable (EventRecord) -> Void) -> ObservationToken {
        ObservationToken(EventObserver(in: node, handler))
    }
}
