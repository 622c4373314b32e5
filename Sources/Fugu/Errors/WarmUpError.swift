/// The failures of a warm-up.
///
/// Everything else was loaded.
public struct WarmUpError: Error, Sendable, CustomStringConvertible {
    package typealias Failure = (path: [String], error: any Error)

    /// The failures, in the order of the list.
    ///
    /// Each has the names of the features on the path from the one in the list to the one whose load threw the error, in this order,
    /// and the error. A feature that catches the error of another and throws its own is the last.
    public let failures: [(path: [String], error: any Error)]

    /// The number of failures, and for each the path to it and its error.
    public var description: String { Messages.warmUpFailed(failures) }
}
