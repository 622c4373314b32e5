public import Foundation
public import Fugu

/// Files, through which a program reaches the disk and a test does not.
///
/// ```swift
/// try container.fileAccess.save(data, to: url)
/// container.fileAccess = .inMemory
/// ```
///
/// All operations block the calling thread until they are done, may be called by several threads at once, and take
/// file URLs only. Relative ones are resolved against the working folder. ``system`` and ``inMemory`` behave alike,
/// errors included.
public struct FileAccess: ExternalFeature, Sendable {
    private let loadFile: @Sendable (URL) throws(FileAccessError) -> Data
    private let saveFile: @Sendable (Data, URL) throws(FileAccessError) -> Void
    private let appendToFile: @Sendable (Data, URL) throws(FileAccessError) -> Void
    private let deleteFile: @Sendable (URL) throws(FileAccessError) -> Void
    private let fileExists: @Sendable (URL) -> Bool
    private let listFolder: @Sendable (URL) throws(FileAccessError) -> [URL]

    /// A file access of your own; each closure is held to the contract of the method of its name.
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

    /// The whole content of the file. Throws if it is missing (see ``FileAccessError/isMissingFile``), a folder or
    /// unreadable.
    public func load(_ url: URL) throws(FileAccessError) -> Data {
        try loadFile(url)
    }

    /// Replaces the file or makes it, along with missing folders.
    ///
    /// Atomic: whoever reads meanwhile, and whoever reads after a crash, finds either the old content or the new,
    /// whole. When it throws, the old file is untouched and no temporary file is left. The rights of the old file are
    /// kept, and a symbolic link is followed.
    public func save(_ data: Data, to url: URL) throws(FileAccessError) {
        try saveFile(data, url)
    }

    /// Adds `data` to the end of the file, and makes the file and missing folders where needed.
    ///
    /// What others append at the same time, in other processes too, is neither overwritten nor mixed in. When it
    /// throws because the disk is full, a beginning of `data` may have been written.
    public func append(_ data: Data, to url: URL) throws(FileAccessError) {
        try appendToFile(data, url)
    }

    /// Removes the file. Throws if it is missing, and if it is a folder: those are never removed.
    public func delete(_ url: URL) throws(FileAccessError) {
        try deleteFile(url)
    }

    /// Whether there is a file or a folder. Another process may change that before you act on it; rather load and
    /// catch.
    public func exists(_ url: URL) -> Bool {
        fileExists(url)
    }

    /// What lies in the folder, files and folders without their content, sorted by name. Throws if it is missing or a
    /// file.
    public func list(_ folder: URL) throws(FileAccessError) -> [URL] {
        try listFolder(folder)
    }

    /// A double that fails at `operations` with `cause` and otherwise does the same.
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

    /// The system's files.
    public static func load(in container: any FeatureContainer) -> FileAccess { .system }

    /// New, empty files in memory.
    public static var placeholder: FileAccess { .inMemory }
}

extension FeatureContainer {
    /// Files.
    public var fileAccess: FileAccess {
        get { self[FileAccess.self] }
        set { self[FileAccess.self] = newValue }
    }
}
