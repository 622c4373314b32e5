import Synchronization

/// What ends the observation of a source, once there is something to end.
final class Registration: Sendable {
    /// A closure that is itself a generic value would be wrapped once more at each access.
    private struct End {
        var body: (@Sendable () -> Void)?
    }

    private let end = Mutex(End())

    var body: (@Sendable () -> Void)? {
        get { end.withLock { $0.body } }
        set { end.withLock { $0.body = newValue } }
    }
}
