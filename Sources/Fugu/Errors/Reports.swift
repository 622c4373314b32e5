#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#elseif canImport(WinSDK)
import ucrt
#elseif canImport(WASILibc)
import WASILibc
#endif

/// Receives the problems that can't be thrown, and prints them to standard error unless a handler is set.
final class Reports: Sendable {
    /// A closure stored as a generic value is wrapped once more at each access, until calling it overflows the stack.
    private struct Handler {
        var call: (@Sendable (String) -> Void)?
    }
    private let handler = Locked(Handler())

    func handle(by handler: (@Sendable (String) -> Void)?) {
        // Released outside the lock.
        let former = self.handler.withLock { current in
            defer { current.call = handler }
            return current
        }
        withExtendedLifetime(former) {}
    }

    func report(_ text: String) {
        if let handler = handler.withLock({ $0.call }) { return handler(text) }
        unsafe Array((text + "\n").utf8).withUnsafeBytes { bytes in
            #if canImport(WinSDK)
            _ = _write(2, bytes.baseAddress, UInt32(bytes.count))
            #else
            _ = unsafe write(2, bytes.baseAddress, bytes.count)
            #endif
        }
    }
}
