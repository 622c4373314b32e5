#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#elseif canImport(Darwin)
import Darwin
#elseif canImport(ucrt)
import ucrt
#elseif canImport(WASILibc)
import WASILibc
#endif

/// Files through the C library.
enum FileContents {
    struct Failure: Error, CustomStringConvertible {
        let code: Int32

        /// Whether there is no such file, as opposed to one that cannot be read.
        var isMissing: Bool { code == ENOENT || code == ENOTDIR }

        var description: String {
            switch code {
            case ENOENT: "there is no such file"
            case ENOTDIR: "a part of the path is no directory"
            case EACCES, EPERM: "permission denied"
            case EISDIR: "it is a directory"
            case EFBIG: "it is larger than \(NodeStore.sizeLimit >> 20) MB"
            default: "error \(code) of the system"
            }
        }
    }

    static func read(_ path: String) throws(Failure) -> [UInt8] {
        guard let file = fopen(path, "rb") else { throw Failure(code: errno) }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = buffer.withUnsafeMutableBytes { fread($0.baseAddress, 1, $0.count, file) }
            bytes.append(contentsOf: buffer[..<count])
            if count < buffer.count { break }
            guard bytes.count < NodeStore.sizeLimit else { throw Failure(code: EFBIG) }
        }
        guard ferror(file) == 0 else { throw Failure(code: errno) }
        return bytes
    }

    /// The path as it is now if it is relative; the working directory may change later.
    static func absolutePath(_ path: String) -> String {
        guard !isAbsolute(path), let directory = workingDirectory() else { return path }
        let relative = path.hasPrefix("./") ? String(path.dropFirst(2)) : path
        return directory.hasSuffix("/") ? directory + relative : directory + "/" + relative
    }

    private static func isAbsolute(_ path: String) -> Bool {
        #if os(Windows)
        return path.hasPrefix("/") || path.hasPrefix("\\") || path.dropFirst().hasPrefix(":")
        #else
        return path.hasPrefix("/")
        #endif
    }

    private static func workingDirectory() -> String? {
        #if os(Windows)
        guard let path = _getcwd(nil, 0) else { return nil }
        #else
        guard let path = getcwd(nil, 0) else { return nil }
        #endif
        defer { free(path) }
        return String(cString: path)
    }

    /// Time of change, size and number of the file; all zero if it is not there.
    static func modificationStamp(_ path: String) -> PropertySourceStamp? {
        #if os(Windows)
        var status = _stat64()
        guard _stat64(path, &status) == 0 else { return PropertySourceStamp(0) }
        return PropertySourceStamp(Int64(status.st_mtime), Int64(status.st_size))
        #else
        var status = stat()
        guard stat(path, &status) == 0 else { return PropertySourceStamp(0) }
        #if canImport(Darwin)
        let changed = status.st_mtimespec
        #else
        let changed = status.st_mtim
        #endif
        return PropertySourceStamp(
            Int64(changed.tv_sec), Int64(changed.tv_nsec), Int64(status.st_size),
            Int64(truncatingIfNeeded: status.st_ino))
        #endif
    }
}
