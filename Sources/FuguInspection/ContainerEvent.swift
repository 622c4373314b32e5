public import Fugu

/// Something that happened in a container or its family, such as the end of a load or a change of a value.
///
/// You receive events from ``Fugu/Container/observeEvents(_:)``. An event names keys and containers; it contains no values. The
/// error of a failed load is whatever the load threw.
public struct ContainerEvent: Sendable {
    /// The kind of an event.
    public struct Kind: Sendable, Hashable, Codable, RawRepresentable, CustomStringConvertible {
        /// The name of the kind, such as `loadBegan`.
        public let rawValue: String

        /// Creates a kind from its name.
        ///
        /// - Parameter rawValue: The name of the kind.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The name of the kind.
        public var description: String { rawValue }

        /// A load began.
        public static var loadBegan: Kind { Kind(rawValue: "loadBegan") }
        /// A load ended, and its home had no earlier instance of the key.
        public static var loaded: Kind { Kind(rawValue: "loaded") }
        /// A load ended, and its home had an earlier instance of the key.
        public static var reloaded: Kind { Kind(rawValue: "reloaded") }
        /// A load ended, but another instance was set or loaded in the meantime, which the reader got instead.
        public static var overtaken: Kind { Kind(rawValue: "overtaken") }
        /// A load ended, and its instance isn't kept: the key was reset in the meantime, or an input changed.
        public static var notKept: Kind { Kind(rawValue: "notKept") }
        /// A load threw an error.
        public static var failed: Kind { Kind(rawValue: "failed") }
        /// A read waited for a load that another reader had started.
        public static var waited: Kind { Kind(rawValue: "waited") }
        /// A loaded instance was dropped, because an input changed or its container was closed.
        public static var dropped: Kind { Kind(rawValue: "dropped") }
        /// A value or an instance was set.
        public static var set: Kind { Kind(rawValue: "set") }
        /// A value, an instance, or a loader was set in a child that had none, and hides the inherited one.
        public static var overridden: Kind { Kind(rawValue: "overridden") }
        /// Another loader was set for a feature.
        public static var replaced: Kind { Kind(rawValue: "replaced") }
        /// A source supplied another value, or no longer supplies one.
        public static var supplied: Kind { Kind(rawValue: "supplied") }
        /// The value or instance that was set or loaded was removed.
        public static var reset: Kind { Kind(rawValue: "reset") }
        /// The teardown closures of an instance have run or, without a key, a container was closed.
        public static var closed: Kind { Kind(rawValue: "closed") }
    }

    /// The kind of event.
    public let kind: Kind
    /// The position of the event among those of its family, beginning with 1.
    ///
    /// Events that happen on several threads at once can reach a handler in another order.
    public let number: UInt64
    /// The time since the process began to measure.
    let moment: Duration
    /// The time at which it happened.
    public var time: ContinuousClock.Instant { ProcessTime.origin + moment }
    /// The number of the container that was read, written, or closed: 0 for the root, and for others their position
    /// among all containers that were created in the family.
    ///
    /// ``ContainerGraph/Container/id`` is the same number.
    public let container: Int
    /// The number of the container in which the instance lives, or `nil` if the event isn't the end of a load.
    public internal(set) var home: Int?
    /// The number of the load, or `nil` if the event isn't about a load.
    ///
    /// All events of a load have the same number.
    public internal(set) var load: UInt64?
    /// The number of the load that needed this one or, in a ``Kind/waited`` event, the load that waited.
    public internal(set) var neededBy: UInt64?
    /// The duration of the load, the wait, or the closing, or `nil` for other events.
    public internal(set) var duration: Duration?
    /// The error that a load or a teardown closure threw.
    public internal(set) var error: (any Error)?

    private let subject: Key?
    /// The name of the key in messages, or `nil` for a container that was closed.
    public var key: String? { subject?.name }

    /// The path to a load.
    var way: [Key] = []
    /// The names of the keys on the path to a load: those that needed it, outermost first, and its own.
    ///
    /// It's empty for other events.
    public var path: [String] { way.map(\.name) }

    init(_ kind: Kind, _ number: UInt64, _ subject: Key?, in container: Int) {
        (self.kind, self.number, self.subject, self.container) = (kind, number, subject, container)
        moment = ProcessTime.now
    }
}

extension ContainerEvent: CustomStringConvertible {
    /// A description of the event on one line.
    public var description: String { Messages.event(self) }
}

extension Container {
    /// Calls a handler for every event in the family of this container: in the container, its ancestors and all their
    /// descendants.
    ///
    ///     let token = container.observeEvents { event in
    ///         if event.kind == .failed { logger.warning("\(event)") }
    ///     }
    ///
    /// The handler runs on the thread that caused the event, before that thread continues, and outside every lock. It
    /// can be called by several threads at the same time. Its reads are never inputs, and it doesn't receive the events
    /// that it causes itself. A first read of a property that gives the default isn't an event.
    ///
    /// While nobody observes events, they cost nothing: a read has no branch for them. While somebody does, loads take a few
    /// microseconds longer, and a write takes the way that it takes when its key is observed.
    ///
    /// - Parameter handler: A closure that receives each event.
    /// - Returns: A token that ends the observation. You can ignore it; then the observation ends with the root container.
    @discardableResult
    public func observeEvents(_ handler: @escaping @Sendable (ContainerEvent) -> Void) -> ObservationToken {
        ObservationToken(EventObserver(in: node, handler))
    }
}

extension Duration {
    /// The duration with three digits and a suitable unit.
    package var shortText: String {
        let (seconds, rest) = components
        let nanoseconds = Double(seconds) * 1e9 + Double(rest) / 1e9
        let units = [(1e9, "s"), (1e6, "ms"), (1e3, "µs")]
        let (size, unit) = units.first { nanoseconds >= $0.0 * 0.9995 } ?? (1, "ns")
        let number = nanoseconds / size
        let digits: Double = number < 9.995 ? 100 : number < 99.95 ? 10 : 1
        let text = "\((number * digits).rounded() / digits)"
        return "\(text.hasSuffix(".0") ? String(text.dropLast(2)) : text) \(unit)"
    }
}
