import Foundation

extension FileAccess {
    /// The files of the system, with the permissions of the process.
    public static let system = FileAccess(
        load: { url throws(FileAccessError) in
            try attempt(.load, url) { try Data(contentsOf: $0) }
        },
        save: { data, url throws(FileAccessError) in
            try attempt(.save, url) { try SystemFiles.save(data, to: $0) }
        },
        append: { data, url throws(FileAccessError) in
            try attempt(.append, url) { try SystemFiles.append(data, to: $0) }
        },
        delete: { url throws(FileAccessError) in
            try attempt(.delete, url) { try SystemFiles.delete($0) }
        },
        exists: { $0.isFileURL && FileManager.default.fileExists(atPath: $0.path) },
        list: { url throws(FileAccessError) in
            try attempt(.list, url) { try SystemFiles.list($0) }
        })

    private static func attempt<R>(
        _ operation: FileAccessError.Operation, _ url: URL, _ body: (URL) throws -> R
    ) throws(FileAccessError) -> R {
        guard url.isFileURL else { throw FileAccessError(operation, url, cause: NotAFile()) }
        do { return try body(url) } catch { throw FileAccessError(operation, url, cause: error) }
    }
}

private enum SystemFiles {
    static func save(_ data: Data, to url: URL) throws {
        // Renaming would replace a symbolic link instead of the file that it leads to.
        let target = try followingLinks(url)
        try makeFolder(of: target)
        #if canImport(Darwin) || os(Windows)
        try data.write(to: target, options: .atomic)
        #else
        try replace(target, with: data)
        #endif
    }

    /// Returns the place to which a link leads, whether or not it exists.
    private static func followingLinks(_ url: URL) throws -> URL {
        var target = url
        for _ in 0..<40 {
            guard let next = try? FileManager.default.destinationOfSymbolicLink(atPath: target.path) else {
                return target
            }
            target = URL(filePath: next, relativeTo: target.deletingLastPathComponent()).absoluteURL
        }
        throw POSIXError(.ELOOP)
    }

    #if !canImport(Darwin) && !os(Windows)
    /// Replaces the file atomically.
    ///
    /// Foundation's atomic writing loses the permissions of the old file on this platform, which would make a secret
    /// readable for everybody.
    private static func replace(_ target: URL, with data: Data) throws {
        let temporary = target.deletingLastPathComponent().appending(
            path: ".\(UUID()).tmp", directoryHint: .notDirectory)
        let file = try create(temporary, like: target)
        do {
            try file.write(contentsOf: data)
            try file.synchronize()  // Otherwise, a crash could leave an empty file behind.
            try file.close()
            guard unsafe rename(temporary.path, target.path) == 0 else { throw lastError() }
        } catch {
            unsafe unlink(temporary.path)
            throw error
        }
    }

    private static func create(_ url: URL, like model: URL) throws -> FileHandle {
        var old = stat()
        let isNew = unsafe stat(model.path, &old) != 0
        let descriptor = unsafe open(url.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, isNew ? 0o666 : 0o600)
        guard descriptor >= 0 else { throw lastError() }
        #if !os(WASI)
        if !isNew {
            _ = fchown(descriptor, old.st_uid, old.st_gid)  // Only the superuser can change the owner of a file.
            fchmod(descriptor, old.st_mode & 0o7777)
        }
        #endif
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }
    #endif

    static func append(_ data: Data, to url: URL) throws {
        try makeFolder(of: url)
        #if os(Windows)
        if !FileManager.default.fileExists(atPath: url.path) {
            try Data().write(to: url, options: .withoutOverwriting)
        }
        let file = try FileHandle(forWritingTo: url)
        try file.seekToEnd()
        #else
        let descriptor = unsafe open(url.path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw lastError() }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        #endif
        try file.write(contentsOf: data)
        try file.synchronize()
        try file.close()
    }

    static func delete(_ url: URL) throws {
        let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
        if attributes[.type] as? FileAttributeType == .typeDirectory { throw POSIXError(.EISDIR) }
        try FileManager.default.removeItem(at: url)
    }

    static func list(_ folder: URL) throws -> [URL] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
            .map { folder.appending(path: $0, directoryHint: .notDirectory) }
    }

    private static func makeFolder(of url: URL) throws {
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    }

    #if !os(Windows)
    private static func lastError() -> POSIXError {
        POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
    }
    #endif
}
