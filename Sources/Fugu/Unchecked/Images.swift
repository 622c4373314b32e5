#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Android)
import Android
#endif

/// The files that this process has loaded its code from.
enum PlatformImage {
    /// Returns the path of the file that contains the address of a global, or `nil` if the platform doesn't know it.
    static func path(at address: UInt) -> String? {
        guard let address = unsafe UnsafeRawPointer(bitPattern: address) else { return nil }
        #if canImport(Darwin)
        var info = Dl_info()
        guard dladdr(address, &info) != 0 else { return nil }
        return info.dli_fname.map { String(cString: $0) }
        #elseif canImport(Glibc) || canImport(Android)
        // The headers declare it only for programs with extensions. It writes four pointers, of which the first is the
        // path.
        guard let function = unsafe dlsym(nil, "dladdr") else { return nil }
        let find = unsafe unsafeBitCast(function, to: FindAddress.self)
        return unsafe withUnsafeTemporaryAllocation(of: UnsafePointer<CChar>?.self, capacity: 4) { info in
            unsafe info.initialize(repeating: nil)
            guard unsafe find(address, info.baseAddress!) != 0 else { return nil }
            return unsafe info[0].map { unsafe String(cString: $0) }
        }
        #else
        _ = address
        return nil
        #endif
    }

    #if canImport(Glibc) || canImport(Android)
    private typealias FindAddress =
        @convention(c) (UnsafeRawPointer, UnsafeMutablePointer<UnsafePointer<CChar>?>) -> CInt
    #endif
}
