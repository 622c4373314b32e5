import Synchronization

/// What ends the observation of a source, once there is something to end.
final class Registration: Sendable {
    private let end = Mutex<(@Sendable () -> Void)?>(nil)

    var body: (@Sendable () -> Void)? {
        get { end.withLock { $0 } }
        set { end.withLock { $0 = newValue } }
    }
}
