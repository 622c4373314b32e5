import Fugu

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

/// Reads files, and keeps what came through pipes, which give their content only once.
///
/// A source has one, which all its copies share, so that a reload gives the same values.
final class FileReader: Sendable {
    private let streams = Locked<[String: [UInt8]]>([:])

    /// Reads a regular file, or the first time, a pipe to its end.
    func read(_ path: String) throws(FileContents.Failure) -> [UInt8] {
        #if !os(Windows)
        if streams.withLock({ $0[path] != nil }) || FileContents.isStream(path) {
            // The lock is held while the pipe is read, since another thread would get a part of it.
            return try streams.withLock { (streams) throws(FileContents.Failure) in
                if let known = streams[path] { return known }
                let bytes = try FileContents.readStream(path)
                streams[path] = bytes
                return bytes
            }
        }
        #endif
        return try FileContents.read(path)
    }
}

/// Reads files through the C library.
enum FileContents {
    enum Failure: Error, CustomStringConvertible {
        case system(Int32)
        case notRegular, notFolder, tooLarge, zeroInPath

        /// Whether the file is missing, as opposed to one that can't be read.
        var isMissing: Bool {
            if case .system(let code) = self { code == ENOENT || code == ENOTDIR } else { false }
        }

        var description: String {
            switch self {
            case .notRegular: ErrorText.notRegular
            case .notFolder: ErrorText.notFolder
            case .tooLarge: ErrorText.tooLargeFile
            case .zeroInPath: ErrorText.zeroInPath
            case .system(ENOENT): ErrorText.noSuchFile
            case .system(ENOTDIR): ErrorText.noDirectory
            case .system(EACCES), .system(EPERM): ErrorText.noPermission
            case .system(EISDIR): ErrorText.isDirectory
            case .system(let code): unsafe String(cString: strerror(code)).lowercased()
            }
        }
    }

    /// Reads a regular file.
    ///
    /// If the file changes in the meantime, it's read again, up to five times, because another process may still be
    /// writing.
    static func read(_ path: String) throws(Failure) -> [UInt8] {
        var last: [UInt8] = []
        for _ in 0..<5 {
            let before = try stamp(path)
            last = try readOnce(path)
            if try stamp(path) == before { break }
        }
        return last
    }

    #if os(Windows)
    private static func readOnce(_ path: String) throws(Failure) -> [UInt8] {
        guard let file = fopen(path, "rb") else { throw .system(errno) }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = buffer.withUnsafeMutableBytes { fread($0.baseAddress, 1, $0.count, file) }
            bytes.append(contentsOf: buffer[..<count])
            if count < buffer.count { break }
            guard bytes.count < NodeStore.sizeLimit else { throw .tooLarge }
        }
        guard ferror(file) == 0 else { throw .system(errno) }
        return bytes
    }
    #else
    /// Opens the file without blocking: opening a pipe would otherwise wait until somebody writes to it.
    ///
    /// The type is checked through the open descriptor, so nobody can replace the file after the check.
    private static func readOnce(_ path: String) throws(Failure) -> [UInt8] {
        let descriptor = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system(errno) }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw .system(errno) }
        try check(status.st_mode)
        return try bytes(of: descriptor, size: Int(status.st_size))
    }

    /// Returns whether the path leads to a pipe, a terminal, or the like, which gives its content once.
    fileprivate static func isStream(_ path: String) -> Bool {
        var status = stat()
        guard !path.utf8.contains(0), unsafe stat(path, &status) == 0 else { return false }
        return [S_IFIFO, S_IFCHR].contains(status.st_mode & S_IFMT)
    }

    /// Reads a pipe until everybody who writes to it has closed it.
    fileprivate static func readStream(_ path: String) throws(Failure) -> [UInt8] {
        while true {
            let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
            guard descriptor < 0 else {
                defer { close(descriptor) }
                return try bytes(of: descriptor, size: 0)
            }
            guard errno == EINTR else { throw .system(errno) }
        }
    }

    private static func bytes(of descriptor: Int32, size: Int) throws(Failure) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(size + 1)
        let room = 1 << 18
        while true {
            var failure: Int32 = 0
            let buffer = unsafe [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
                let result = unsafe Self.read(descriptor, into: buffer)
                (count, failure) = (max(0, result), result < 0 ? errno : 0)
            }
            guard failure == 0 else { throw .system(failure) }
            if buffer.isEmpty { return bytes }
            bytes += buffer
            guard bytes.count < NodeStore.sizeLimit else { throw .tooLarge }
        }
    }

    private static func read(_ descriptor: Int32, into buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
        while true {
            #if canImport(Darwin)
            let result = Darwin.read(descriptor, buffer.baseAddress, buffer.count)
            #elseif canImport(Glibc)
            let result = unsafe Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            #elseif canImport(Musl)
            let result = Musl.read(descriptor, buffer.baseAddress, buffer.count)
            #elseif canImport(Android)
            let result = Android.read(descriptor, buffer.baseAddress, buffer.count)
            #else
            let result = WASILibc.read(descriptor, buffer.baseAddress, buffer.count)
            #endif
            if result >= 0 || errno != EINTR { return result }
        }
    }

    private static func check(_ mode: mode_t) throws(Failure) {
        if mode & S_IFMT == S_IFDIR { throw .system(EISDIR) }
        if mode & S_IFMT != S_IFREG { throw .notRegular }
    }
    #endif

    // MARK: Paths

    /// Returns the present absolute path of a relative one; the working directory can change later.
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
        guard let path = unsafe getcwd(nil, 0) else { return nil }
        #endif
        defer { unsafe free(path) }
        return unsafe String(cString: path)
    }

    // MARK: Stamps

    /// Returns the file's times, size, and number, or `nil` if the file doesn't exist.
    static func parts(_ path: String) -> [Int64]? { try? stamp(path) }

    /// Returns whether something is at the path, whatever it is.
    static func isThere(_ path: String) -> Bool {
        #if os(Windows)
        return parts(path) != nil
        #else
        var status = stat()
        return unsafe stat(path, &status) == 0
        #endif
    }

    private static func stamp(_ path: String) throws(Failure) -> [Int64] {
        // A C string ends at the first zero, so it would be another path.
        guard !path.utf8.contains(0) else { throw .zeroInPath }
        #if os(Windows)
        var status = _stat64()
        guard _stat64(path, &status) == 0 else { throw .system(errno) }
        return [Int64(status.st_mtime), Int64(status.st_size)]
        #else
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { throw .system(errno) }
        try check(status.st_mode)
        #if canImport(Darwin)
        let (written, changed) = (status.st_mtimespec, status.st_ctimespec)
        #else
        let (written, changed) = (status.st_mtim, status.st_ctim)
        #endif
        return [
            Int64(written.tv_sec), Int64(written.tv_nsec), Int64(changed.tv_sec), Int64(changed.tv_nsec),
            Int64(status.st_size), Int64(truncatingIfNeeded: status.st_ino),
            Int64(truncatingIfNeeded: status.st_dev),
        ]
        #endif
    }
}
