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
