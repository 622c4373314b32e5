/// An error of closing a container.
///
/// ``Container/close(deadline:)`` throws it after every teardown closure has run. To act on what happened, compare the
/// ``code-swift.property``, and those of the ``failures``.
public struct CloseError: Error, Sendable, CustomStringConvertible {
    /// The reason.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The name of what happened, such as `waitsForItself`.
        public let description: String

        /// Teardown closures failed or took too long; everything else was closed.
        public static var teardownFailed: Code { Code(description: "teardownFailed") }
        /// A teardown closure or a load exceeded its deadline and was abandoned, as the error of a ``Failure`` says.
        public static var deadlineExceeded: Code { Code(description: "deadlineExceeded") }
        /// The caller of `close()` would have waited for itself, so the call has closed nothing.
        ///
        /// A teardown closure, or a load, called `close()` of a container that can't close before it ends. It's found in
        /// the task of the closure or load and in tasks started from it. Two closings that begin apart, whose closures wait
        /// for each other's containers, aren't found.
        public static var waitsForItself: Code { Code(description: "waitsForItself") }
    }

    /// A teardown closure that failed or took too long, or a load that took too long.
    public struct Failure: Sendable {
        /// The feature that registered the closure or was loaded, or `nil` if the closure was registered outside a load.
        public let feature: String?
        /// The error that the closure threw, or a ``CloseError`` with the code ``Code/deadlineExceeded`` if it was abandoned.
        public let error: any Error
        /// The name in messages: that of the feature or, outside a load, that of the container.
        let name: String
    }

    private enum Reason: Sendable {
        case failures
        case deadline(Duration)
        case waitsForItself(isLoad: Bool)
    }

    private let reason: Reason
    /// The failures, in the order in which the closures ran, if the code is ``Code/teardownFailed``.
    public let failures: [Failure]
    /// The feature whose teardown closure or load called `close()`, if the code is ``Code/waitsForItself``.
    ///
    /// It's `nil` for a closure that was registered outside a load.
    public let feature: String?

    private init(_ reason: Reason, _ failures: [Failure] = [], feature: String? = nil) {
        self.reason = reason
        self.failures = failures
        self.feature = feature
    }

    init(failures: [Failure]) { self.init(.failures, failures) }

    static func exceeded(_ deadline: Duration) -> CloseError { CloseError(.deadline(deadline)) }
    static func waitsForItself(_ feature: String?, isLoad: Bool) -> CloseError {
        CloseError(.waitsForItself(isLoad: isLoad), feature: feature)
    }

    /// The reason.
    public var code: Code {
        switch reason {
        case .failures: .teardownFailed
        case .deadline: .deadlineExceeded
        case .waitsForItself: .waitsForItself
        }
    }

    /// What happened and what to do; for failures, their number, and for each the feature and its error.
    public var description: String {
        switch reason {
        case .failures: Messages.closeFailed(failures)
        case .deadline(let deadline): Messages.deadlineExceeded(deadline)
        case .waitsForItself(let isLoad): Messages.closingWaitsForItself(feature, isLoad: isLoad)
        }
    }
}
