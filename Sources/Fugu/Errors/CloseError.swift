/// An error of closing a container.
///
/// ``Container/close(deadline:)`` throws it after every teardown closure has run. To act on what happened, compare the
/// ``code-swift.property``, and those of the ``failures``.
public struct CloseError: Error, Sendable, CustomStringConvertible {
    /// The reason.
    public struct Code: Sendable, Equatable {
        private let name: String

        @usableFromInline init(_ name: String) { self.name = name }

        /// Teardown closures failed or took too long; everything else was closed.
        @_alwaysEmitIntoClient public static var teardownFailed: Code { Code("teardownFailed") }
        /// A teardown closure or a load exceeded its deadline and was abandoned, as the errors of the ``failures`` say.
        @_alwaysEmitIntoClient public static var deadlineExceeded: Code { Code("deadlineExceeded") }
        /// The caller of `close()` would have waited for itself, so the call has closed nothing.
        ///
        /// A teardown closure or a load called `close()` of its own container or of one above. This is found in the task of the
        /// closure or load, and in tasks started from it. Closings whose closures wait for each other in separate tasks aren't found,
        /// and end only at a deadline.
        @_alwaysEmitIntoClient public static var waitsForItself: Code { Code("waitsForItself") }
    }

    /// What failed, with its name in messages: that of the feature or, outside a load, that of the container.
    typealias Failure = (feature: String?, error: any Error, name: String)

    private enum Reason: Sendable {
        case failures
        case deadline(Duration)
        case waitsForItself(isLoad: Bool)
    }

    private let reason: Reason
    private let named: [Failure]
    /// The failures, in the order in which the closures ran, if the code is ``Code/teardownFailed``.
    ///
    /// Each has the feature that registered the closure or was loaded, or `nil` if the closure was registered outside a load; and the
    /// error that the closure threw, or a ``CloseError`` with the code ``Code/deadlineExceeded`` if it, or a load, was abandoned.
    public var failures: [(feature: String?, error: any Error)] { named.map { ($0.feature, $0.error) } }
    /// The feature whose teardown closure or load called `close()`, if the code is ``Code/waitsForItself``.
    package let feature: String?

    private init(_ reason: Reason, _ failures: [Failure] = [], feature: String? = nil) {
        self.reason = reason
        named = failures
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
        case .failures: Messages.closeFailed(named)
        case .deadline(let deadline): Messages.deadlineExceeded(deadline)
        case .waitsForItself(let isLoad): Messages.closingWaitsForItself(feature, isLoad: isLoad)
        }
    }
}
