/// The failures collected while closing a container. Every closer still ran.
public struct CloseError: Error, Sendable, CustomStringConvertible {
    /// One closer that failed or took too long.
    public struct Failure: Sendable {
        /// The feature that registered it, or nil if it was registered outside of loads.
        public let feature: String?
        /// What it threw; ``DeadlineExceeded`` if it was abandoned.
        public let error: any Error
    }
    /// A closer was not done within its deadline.
    public struct DeadlineExceeded: Error, Sendable, CustomStringConvertible {
        /// How long it was given.
        public let deadline: Duration
        /// The deadline in words.
        public var description: String { "was not done within \(deadline) and is left to itself" }
    }
    /// `close()` was called by a closer or a load that this very closing waits for, and would have waited for ever.
    /// Thrown by itself; nothing was closed by that call. It is found in the closer's or the load's own task and in tasks
    /// started from it; two closings begun apart, with closers that wait for each other's containers, are not found.
    public struct WaitsForItself: Error, Sendable, CustomStringConvertible {
        /// The feature whose closer or load it was; nil for a closer that was registered outside of loads.
        public let feature: String?
        let isLoad: Bool
        /// What happened and what to do.
        public var description: String { Messages.closingWaitsForItself(feature, isLoad: isLoad) }
    }
    /// In the order in which the closers ran.
    public let failures: [Failure]

    /// How many failed, and for each the feature and what it threw.
    public var description: String { Messages.closeFailed(failures) }
}
