import Synchronization

/// Ends the observation of a source, even if it's canceled before the observation exists.
final class Registration: Sendable {
    /// A closure stored as a generic value would be wrapped once more at each access.
    private struct End {
        var body: (@Sendable () -> Void)?
    }

    private let end = Mutex(End())

    var body: (@Sendable () -> Void)? {
        get { end.withLock { $0.body } }
        set { end.withLock { $0.body = newValue } }
    }
}
