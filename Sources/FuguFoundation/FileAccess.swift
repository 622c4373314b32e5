public import Foundation
public import Fugu

/// Access to files, which a test replaces by files in memory.
///
/// ```swift
/// try container.fileAccess.save(data, to: url)
/// container.fileAccess = .inMemory
/// ```
///
/// Operations take file URLs only; relative ones are resolved against the working directory. An operation blocks the
/// calling thread until it's done, and several threads can call operations at the same time. ``system`` and
/// ``inMemory`` behave alike, errors included.
public struct FileAccess: Sendable {
    private let loadFile: @Sendable (URL) throws(FileAccessError) -> Data
    private let saveFile: @Sendable (Data, URL) throws(FileAccessError) -> Void
    private let appendToFile: @Sendable (Data, URL) throws(FileAccessError) -> Void
    private let deleteFile: @Sendable (URL) throws(FileAccessError) -> Void
    private let fileExists: @Sendable (URL) -> Bool
    private let listFolder: @Sendable (URL) throws(FileAccessError) -> [URL]

    /// Creates a file access from closures, each of which fulfills the contract of the method with the same name.
    ///
    /// - Parameters:
    ///   - load: A closure that returns the content of a file, like ``load(_:)``.
    ///   - save: A closure that replaces a file, like ``save(_:to:)``.
    ///   - append: A closure that adds to a file, like ``append(_:to:)``.
    ///   - delete: A closure that removes a file, like ``delete(_:)``.
    ///   - exists: A closure that returns whether a file exists, like ``exists(_:)``.
    ///   - list: A closure that lists a folder, like ``list(_:)``.
    public init(
        load: @escaping @Sendable (URL) throws(FileAccessError) -> Data,
        save: @escaping @Sendable (Data, URL) throws(FileAccessError) -> Void,
        append: @escaping @Sendable (Data, URL) throws(FileAccessError) -> Void,
        delete: @escaping @Sendable (URL) throws(FileAccessError) -> Void,
        exists: @escaping @Sendable (URL) -> Bool,
        list: @escaping @Sendable (URL) throws(FileAccessError) -> [URL]
    ) {
        loadFile = load
        saveFile = save
        appendToFile = append
        deleteFile = delete
        fileExists = exists
        listFolder = list
    }

    /// Returns the content of a file.
    ///
    /// - Parameter url: The file.
    /// - Returns: All bytes of the file.
    /// - Throws: ``FileAccessError`` if the file is missing (see ``FileAccessError/isMissingFile``), is a folder, or
    ///   can't be read.
    public func load(_ url: URL) throws(FileAccessError) -> Data {
        try loadFile(url)
    }

    /// Replaces the content of a file, or creates the file and missing folders.
    ///
    /// The change is atomic. A reader, also one after a crash, finds either the old content or the new one. The
    /// permissions of the old file stay, and a symbolic link is followed.
    ///
    /// - Parameters:
    ///   - data: The new content.
    ///   - url: The file.
    /// - Throws: ``FileAccessError``. The old file is then untouched, and no temporary file is left.
    public func save(_ data: Data, to url: URL) throws(FileAccessError) {
        try saveFile(data, url)
    }

    /// Adds data to the end of a file, and creates the file and missing folders if needed.
    ///
    /// Text that other threads and processes append at the same time is neither overwritten nor mixed in.
    ///
    /// - Parameters:
    ///   - data: The data to add.
    ///   - url: The file.
    /// - Throws: ``FileAccessError``. If the disk is full, a beginning of the data may have been written.
    public func append(_ data: Data, to url: URL) throws(FileAccessError) {
        try appendToFile(data, url)
    }

    /// Removes a file.
    ///
    /// - Parameter url: The file.
    /// - Throws: ``FileAccessError`` if the file is missing, or if it's a folder.
    public func delete(_ url: URL) throws(FileAccessError) {
        try deleteFile(url)
    }

    /// Returns a Boolean value that indicates whether there is a file or a folder.
    ///
    /// Another process can change that before you act on it. If you can, load the file and catch the error instead.
    ///
    /// - Parameter url: The file or folder.
    /// - Returns: `true` if there is one.
    public func exists(_ url: URL) -> Bool {
        fileExists(url)
    }

    /// Returns the files and folders in a folder, sorted by name.
    ///
    /// - Parameter folder: The folder.
    /// - Returns: The URLs of what lies directly in the folder.
    /// - Throws: ``FileAccessError`` if the folder is missing or a file.
    public func list(_ folder: URL) throws(FileAccessError) -> [URL] {
        try listFolder(folder)
    }

    /// Returns a file access that fails at some operations and otherwise does the same, for tests.
    ///
    /// - Parameters:
    ///   - operations: The operations that fail.
    ///   - cause: The ``FileAccessError/cause`` of the errors.
    /// - Returns: The file access.
    public func failing(
        _ operations: FileAccessError.Operation..., with cause: any Error = POSIXError(.EACCES)
    ) -> FileAccess {
        let failing = Set(operations)
        @Sendable func check(_ operation: FileAccessError.Operation, _ url: URL) throws(FileAccessError) {
            if failing.contains(operation) { throw FileAccessError(operation, url, cause: cause) }
        }
        return FileAccess(
            load: { url throws(FileAccessError) in
                try check(.load, url)
                return try load(url)
            },
            save: { data, url throws(FileAccessError) in
                try check(.save, url)
                try save(data, to: url)
            },
            append: { data, url throws(FileAccessError) in
                try check(.append, url)
                try append(data, to: url)
            },
            delete: { url throws(FileAccessError) in
                try check(.delete, url)
                try delete(url)
            },
            exists: exists,
            list: { url throws(FileAccessError) in
                try check(.list, url)
                return try list(url)
            })
    }
}

extension ContainerKeys {
    /// Access to files: those of the system.
    ///
    /// The placeholder is new, empty files in memory.
    public var fileAccess: FeatureKey<FileAccess> { .init(placeholder: { .inMemory }) { _ in .system } }
}

/// An error that names the operation that failed, its path, and the reason.
///
/// Its description reads like `can't save /srv/data/notes.json: Permission denied`.
public struct FileAccessError: Error, Sendable, CustomStringConvertible, LocalizedError {
    /// An operation on files.
    public struct Operation: Hashable, Sendable, CustomStringConvertible {
        /// The name of the operation, as in messages.
        public let description: String

        /// An operation that reads a whole file.
        public static let load = Operation(description: "load")
        /// An operation that replaces a whole file.
        public static let save = Operation(description: "save")
        /// An operation that adds to the end of a file.
        public static let append = Operation(description: "append to")
        /// An operation that removes a file.
        public static let delete = Operation(description: "delete")
        /// An operation that lists a folder.
        public static let list = Operation(description: "list")
    }

    /// The operation that failed.
    public let operation: Operation
    /// The absolute path, or the whole URL if it isn't a file URL.
    public let path: String
    /// The reason: a `POSIXError` if the system gave a code.
    public let cause: any Error

    /// Creates an error for a double of your own.
    ///
    /// - Parameters:
    ///   - operation: The operation that failed.
    ///   - url: The file or folder.
    ///   - cause: The reason. If it's a `CocoaError` with an underlying `POSIXError`, that one is kept.
    public init(_ operation: Operation, _ url: URL, cause: any Error) {
        self.operation = operation
        path = url.isFileURL ? url.standardizedFileURL.path : url.absoluteString
        self.cause = Self.systemError(behind: cause) ?? cause
    }

    /// A Boolean value that indicates whether the file is missing, as opposed to one that can't be used.
    public var isMissingFile: Bool {
        (cause as? POSIXError)?.code == .ENOENT || (cause as? CocoaError)?.code == .fileReadNoSuchFile
    }

    /// The operation, the path, and the reason on one line.
    public var description: String { Messages.fileAccess("\(operation)", path, reason) }

    /// The same text as ``description``.
    public var errorDescription: String? { description }

    private static func systemError(behind error: any Error) -> POSIXError? {
        guard let underlying = (error as NSError).userInfo[NSUnderlyingErrorKey] as? any Error else { return nil }
        let system = underlying as NSError
        guard system.domain == NSPOSIXErrorDomain else { return nil }
        return POSIXErrorCode(rawValue: Int32(system.code)).map { POSIXError($0) }
    }

    private var reason: String {
        guard cause is POSIXError || cause is CocoaError else { return String(describing: cause) }
        return (cause as NSError).localizedFailureReason ?? cause.localizedDescription
    }
}

/// The cause if a URL isn't a file URL.
struct NotAFile: Error, CustomStringConvertible {
    let description = Messages.notAFile
}

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
        exists: { $0.isFileURL && FileManager.default.fileExists(atPath: withoutDot($0).path) },
        list: { url throws(FileAccessError) in
            try attempt(.list, url) { try SystemFiles.list($0) }
        })

    private static func attempt<R>(
        _ operation: FileAccessError.Operation, _ url: URL, _ body: (URL) throws -> R
    ) throws(FileAccessError) -> R {
        guard url.isFileURL else { throw FileAccessError(operation, url, cause: NotAFile()) }
        do { return try body(withoutDot(url)) } catch { throw FileAccessError(operation, url, cause: error) }
    }

    /// Returns the URL without a `.` at its end, with which a system finds only folders, and Foundation would make one.
    private static func withoutDot(_ url: URL) -> URL {
        guard url.lastPathComponent == "." else { return url }
        return URL(filePath: "/" + InMemoryFiles.path(of: url).joined(separator: "/"))
    }
}

private enum SystemFiles {
    static func save(_ data: Data, to url: URL) throws {
        // Renaming would replace a symbolic link instead of the file that it leads to.
        let target = try followingLinks(url)
        try makeFolder(of: target)
        var isFolder: ObjCBool = false
        if unsafe FileManager.default.fileExists(atPath: target.path, isDirectory: &isFolder), isFolder.boolValue {
            throw POSIXError(.EISDIR)
        }
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
        try FileManager.default.contentsOfDirectory(atPath: folder.path).map(FileName.init(text:)).sorted()
            .map { folder.appending(path: $0.text, directoryHint: .notDirectory) }
    }

    private static func makeFolder(of url: URL) throws {
        do {
            let folder = url.deletingLastPathComponent()
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        } catch CocoaError.fileWriteFileExists {
            throw POSIXError(.ENOTDIR)
        }
    }

    #if !os(Windows)
    private static func lastError() -> POSIXError {
        POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
    }
    #endif
}

extension FileAccess {
    /// New, empty files in memory, which live as long as this value and its copies.
    public static var inMemory: FileAccess { inMemory([:]) }

    /// Returns a file access to files in memory.
    ///
    /// The folders of the files exist, too. If one path lies below another one, the program stops with a message.
    ///
    /// - Parameter files: The content of the files at the start, by absolute path.
    /// - Returns: The file access. The files live as long as it and its copies.
    public static func inMemory(_ files: [String: Data]) -> FileAccess {
        let state = Locked(InMemoryFiles())
        for (path, data) in files {
            do {
                try state.withLock { try $0.save(data, to: InMemoryFiles.path(of: URL(filePath: path))) }
            } catch {
                fatalError(Messages.fileIsFolder(path))
            }
        }
        return FileAccess(
            load: { url throws(FileAccessError) in
                try attempt(.load, url, state) { try $0.load($1) }
            },
            save: { data, url throws(FileAccessError) in
                try attempt(.save, url, state) { try $0.save(data, to: $1) }
            },
            append: { data, url throws(FileAccessError) in
                try attempt(.append, url, state) { try $0.append(data, to: $1) }
            },
            delete: { url throws(FileAccessError) in
                try attempt(.delete, url, state) { try $0.delete($1) }
            },
            exists: { url in
                url.isFileURL && state.withLock { $0.exists(InMemoryFiles.path(of: url)) }
            },
            list: { url throws(FileAccessError) in
                let names = try attempt(.list, url, state) { try $0.list($1) }
                return names.map { withoutDot(url).appending(path: $0.text, directoryHint: .notDirectory) }
            })
    }

    private static func attempt<R>(
        _ operation: FileAccessError.Operation, _ url: URL, _ state: Locked<InMemoryFiles>,
        _ body: (inout InMemoryFiles, [String]) throws -> R
    ) throws(FileAccessError) -> R {
        guard url.isFileURL else { throw FileAccessError(operation, url, cause: NotAFile()) }
        do {
            return try state.withLock { try body(&$0, InMemoryFiles.path(of: url)) }
        } catch {
            throw FileAccessError(operation, url, cause: error)
        }
    }
}

/// The name of a file, which the file systems of Apple compare as text, and others as bytes.
private struct FileName: Hashable, Comparable, Sendable {
    let text: String

    static func < (left: FileName, right: FileName) -> Bool {
        left.text == right.text ? left.text.utf8.lexicographicallyPrecedes(right.text.utf8) : left.text < right.text
    }

    #if !canImport(Darwin)
    static func == (left: FileName, right: FileName) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

    func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }
    #endif
}

/// A tree of files and folders, which fails with the same codes as a file system.
private struct InMemoryFiles: Sendable {
    private indirect enum Node: Sendable {
        case file(Data)
        case folder([FileName: Node])
    }

    private var root = Node.folder([:])

    /// Returns the names on the path from the root, with `..` among them.
    static func path(of url: URL) -> [String] {
        url.absoluteURL.path.split(separator: "/").map(String.init).filter { $0 != "." }
    }

    /// Returns the path without `..`, before which there must be a folder, or where folders are made, can be one.
    private mutating func resolved(_ path: [String], makesFolders: Bool = false) throws -> ArraySlice<FileName> {
        var names: [FileName] = []
        for name in path {
            guard name == ".." else {
                names.append(FileName(text: name))
                continue
            }
            if makesFolders, !names.isEmpty {
                try Self.change(&root, names[...], makesFolders: true) { node in
                    if case .file = node { throw POSIXError(.ENOTDIR) }
                    node = node ?? .folder([:])
                }
            }
            guard case .folder = try find(names[...]) else { throw POSIXError(.ENOTDIR) }
            names = names.dropLast()
        }
        return names[...]
    }

    private static func check(_ name: FileName) throws {
        if name.text.utf8.count > 255 { throw POSIXError(.ENAMETOOLONG) }
    }

    mutating func load(_ path: [String]) throws -> Data {
        switch try find(resolved(path)) {
        case .file(let data): return data
        case .folder: throw POSIXError(.EISDIR)
        }
    }

    mutating func save(_ data: Data, to path: [String]) throws {
        try Self.change(&root, resolved(path, makesFolders: true), makesFolders: true) { node in
            if case .folder = node { throw POSIXError(.EISDIR) }
            node = .file(data)
        }
    }

    mutating func append(_ data: Data, to path: [String]) throws {
        try Self.change(&root, resolved(path, makesFolders: true), makesFolders: true) { node in
            switch node {
            case nil: node = .file(data)
            case .file(let old): node = .file(old + data)
            case .folder: throw POSIXError(.EISDIR)
            }
        }
    }

    mutating func delete(_ path: [String]) throws {
        try Self.change(&root, resolved(path), makesFolders: false) { node in
            switch node {
            case nil: throw POSIXError(.ENOENT)
            case .file: node = nil
            case .folder: throw POSIXError(.EISDIR)
            }
        }
    }

    mutating func exists(_ path: [String]) -> Bool {
        (try? find(resolved(path))) != nil
    }

    mutating func list(_ path: [String]) throws -> [FileName] {
        guard case .folder(let children) = try find(resolved(path)) else { throw POSIXError(.ENOTDIR) }
        return children.keys.sorted()
    }

    private func find(_ path: ArraySlice<FileName>) throws -> Node {
        try path.reduce(root) { node, name in
            guard case .folder(let children) = node else { throw POSIXError(.ENOTDIR) }
            try Self.check(name)
            guard let child = children[name] else { throw POSIXError(.ENOENT) }
            return child
        }
    }

    private static func change(
        _ node: inout Node, _ path: ArraySlice<FileName>, makesFolders: Bool, _ body: (inout Node?) throws -> Void
    ) throws {
        guard case .folder(var children) = node else { throw POSIXError(.ENOTDIR) }
        guard let name = path.first else { throw POSIXError(.EISDIR) }  // The path is that of the root.
        try check(name)
        if path.count == 1 {
            try body(&children[name])
        } else {
            guard var child = children[name] ?? (makesFolders ? .folder([:]) : nil) else { throw POSIXError(.ENOENT) }
            try change(&child, path.dropFirst(), makesFolders: makesFolders, body)
            children[name] = child
        }
        node = .folder(children)
    }
}
