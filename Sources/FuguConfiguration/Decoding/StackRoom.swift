#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

#if canImport(Glibc)
/// An extension of the C library that its module hides. It takes and gives nothing but words, which both calling
/// conventions pass alike.
@_silgen_name("pthread_getattr_np")
private func threadAttributes(_ thread: pthread_t, _ attributes: UnsafeMutablePointer<pthread_attr_t>) -> Int32
#endif

/// What is left of this thread's stack.
enum StackRoom {
    /// What a few levels of decoding take where nothing is optimised.
    private static let reserve = 128 << 10

    /// Whether another few levels might not find room; never where the platform cannot say.
    static var isShort: Bool {
        guard let lowest else { return false }
        return withUnsafePointer(to: 0) { Int(bitPattern: $0) } - lowest < reserve
    }

    /// The address at which the stack ends.
    private static var lowest: Int? {
        #if canImport(Darwin)
        let thread = pthread_self()
        return Int(bitPattern: pthread_get_stackaddr_np(thread)) - Int(pthread_get_stacksize_np(thread))
        #elseif canImport(Glibc)
        var attributes = pthread_attr_t()
        guard threadAttributes(pthread_self(), &attributes) == 0 else { return nil }
        defer { pthread_attr_destroy(&attributes) }
        var address: UnsafeMutableRawPointer?
        var size = 0
        guard pthread_attr_getstack(&attributes, &address, &size) == 0 else { return nil }
        return Int(bitPattern: address)
        #else
        return nil
        #endif
    }
}
