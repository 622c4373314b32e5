/// The failures collected while closing a container.
///
/// Every teardown closure still ran.
public struct CloseError: Error, Sendable, CustomStringConvertible {
    /// A teardown closure that failed or took too long.
    public struct Failure: Sendable {
        /// The feature that registered the closure, or `nil` if it was registered outside a load.
        public let feature: String?
        /// The error that the closure threw, or ``DeadlineExceeded`` if it was abandoned.
        public let error: any Error
    }
    /// An error that says that a teardown closure exceeded its deadline.
    public struct DeadlineExceeded: Error, Sendable, CustomStringConvertible {
        /// The time that the closure was given.
        public let deadline: Duration
        /// A description of the deadline.
        public var description: String { Messages.deadlineExceeded(deadline) }
    }
    /// An error that says that the caller of `close()` would have waited for itself.
    ///
    /// A teardown closure, or a load, called `close()` of a container that can't close before it ends. The call closes
    /// nothing. It's found in the task of the closure or load and in tasks started from it. Two closings that begin
    /// apart, whose closures wait for each other's containers, aren't found.
    public struct WaitsForItself: Error, Sendable, CustomStringConvertible {
        /// The feature whose teardown closure or load made the call, or `nil` for a closure that was registered outside
        /// a load.
        public let feature: String?
        let isLoad: Bool
        /// What happened and what to do.
        public var description: String { Messages.closingWaitsForItself(feature, isLoad: isLoad) }
    }
    /// The failures, in the order in which the closures ran.
    public let failures: [Failure]

    /// The number of failures, and for each the feature and its error.
    public var description: String { Messages.closeFailed(failures) }
}
