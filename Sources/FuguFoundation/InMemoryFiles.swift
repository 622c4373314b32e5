public import Foundation
import Fugu

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
                return names.map { url.appending(path: $0, directoryHint: .notDirectory) }
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

/// A tree of files and folders, which fails with the same codes as a file system.
private struct InMemoryFiles: Sendable {
    private indirect enum Node: Sendable {
        case file(Data)
        case folder([String: Node])
    }

    private var root = Node.folder([:])

    /// Returns the names on the path from the root.
    static func path(of url: URL) -> [String] {
        url.standardizedFileURL.pathComponents.filter { $0 != "/" }
    }

    func load(_ path: [String]) throws -> Data {
        switch try find(path) {
        case .file(let data): return data
        case .folder: throw POSIXError(.EISDIR)
        }
    }

    mutating func save(_ data: Data, to path: [String]) throws {
        try Self.change(&root, path[...], makesFolders: true) { node in
            if case .folder = node { throw POSIXError(.EISDIR) }
            node = .file(data)
        }
    }

    mutating func append(_ data: Data, to path: [String]) throws {
        try Self.change(&root, path[...], makesFolders: true) { node in
            switch node {
            case nil: node = .file(data)
            case .file(let old): node = .file(old + data)
            case .folder: throw POSIXError(.EISDIR)
            }
        }
    }

    mutating func delete(_ path: [String]) throws {
        try Self.change(&root, path[...], makesFolders: false) { node in
            switch node {
            case nil: throw POSIXError(.ENOENT)
            case .file: node = nil
            case .folder: throw POSIXError(.EISDIR)
            }
        }
    }

    func exists(_ path: [String]) -> Bool {
        (try? find(path)) != nil
    }

    func list(_ path: [String]) throws -> [String] {
        guard case .folder(let children) = try find(path) else { throw POSIXError(.ENOTDIR) }
        return children.keys.sorted()
    }

    private func find(_ path: [String]) throws -> Node {
        try path.reduce(root) { node, name in
            guard case .folder(let children) = node else { throw POSIXError(.ENOTDIR) }
            guard let child = children[name] else { throw POSIXError(.ENOENT) }
            return child
        }
    }

    private static func change(
        _ node: inout Node, _ path: ArraySlice<String>, makesFolders: Bool, _ body: (inout Node?) throws -> Void
    ) throws {
        guard case .folder(var children) = node else { throw POSIXError(.ENOTDIR) }
        guard let name = path.first else { throw POSIXError(.EISDIR) }  // The path is that of the root.
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
