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

/// Where mistakes go that can be thrown at nobody: to standard error unless a handler was set.
final class Reports: Sendable {
    private let handler = Guarded<(@Sendable (String) -> Void)?>(nil)

    func handle(by handler: (@Sendable (String) -> Void)?) { self.handler.withLock { $0 = handler } }

    func report(_ text: String) {
        if let handler = handler.withLock({ $0 }) { return handler(text) }
        Array((text + "\n").utf8).withUnsafeBytes { bytes in
            #if canImport(WinSDK)
            _ = _write(2, bytes.baseAddress, UInt32(bytes.count))
            #else
            _ = write(2, bytes.baseAddress, bytes.count)
            #endif
        }
    }
}
