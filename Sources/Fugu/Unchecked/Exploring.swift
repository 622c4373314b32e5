#if FUGU_EXPLORE
import Synchronization

/// Reports to the explorer, which tries out how threads can take turns; compiled only for it.
///
/// See `Tests/Tools/Explorer`.
package final class Exploring: Sendable {
    private let willLock: @Sendable () -> Void
    private let didUnlock: @Sendable () -> Void
    private let yield: @Sendable () -> Void
    private let wait: @Sendable (@escaping @Sendable () -> Bool) -> Void

    /// - `wait`: Returns when the closure that it receives returns `true`.
    package init(
        willLock: @escaping @Sendable () -> Void, didUnlock: @escaping @Sendable () -> Void,
        yield: @escaping @Sendable () -> Void, wait: @escaping @Sendable (@escaping @Sendable () -> Bool) -> Void
    ) {
        self.willLock = willLock
        self.didUnlock = didUnlock
        self.yield = yield
        self.wait = wait
    }

    private static let installed = AtomicLazyReference<Exploring>()

    package func install() { _ = Self.installed.storeIfNil(self) }

    static func willLock() { installed.load()?.willLock() }
    static func didUnlock() { installed.load()?.didUnlock() }
    static func yield() { installed.load()?.yield() }
    static func wait(_ isOver: @escaping @Sendable () -> Bool) { installed.load()?.wait(isOver) }
}
#endif
