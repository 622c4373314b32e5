#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#elseif canImport(Darwin)
import Darwin
#elseif canImport(WASILibc)
import WASILibc
#endif

/// A source that reads a folder in which each file holds one value, as Kubernetes and Docker mount secrets.
///
/// A file is found by any spelling of a name: `database.password` is in `database-password`, `database.password`, or
/// `DATABASE_PASSWORD`. Its text is parsed to the type of the key, as that of a variable is; for `Data` and `[UInt8]`, its
/// bytes are the value, exactly as they are. A file that can't be read is an error for its name alone.
///
/// `validate` reports files that no key reads, and folders. Pass those for other programs to
/// ``PropertySource/ignoringNames(_:)``. Files and folders whose names begin with a dot are ignored.
///
/// A mounted volume is replaced as a whole, by a link (`..data`) to another folder; all values come from the same one.
/// Values are secrets unless you pass `isSecret: false`.
public struct FolderSource: PropertySource {
    private let path: String
    private let isOptional: Bool
    private let isSecret: Bool

    /// Creates a source that reads the files of a folder.
    ///
    /// - Parameters:
    ///   - path: The path of the folder. A relative path is resolved when the folder is read.
    ///   - isOptional: Pass `true` to treat a missing folder as empty.
    ///   - isSecret: A Boolean value that indicates whether the values must never be printed.
    public init(path: String, isOptional: Bool = false, isSecret: Bool = true) {
        self.path = path
        self.isOptional = isOptional
        self.isSecret = isSecret
    }

    /// The path as it was given.
    public var name: String { path }

    /// Reads all files.
    ///
    /// - Returns: The values.
    /// - Throws: ``PropertyError`` with the absolute path of the folder if that can't be read.
    /// - Complexity: O(*n* log *n*) for *n* files, plus the bytes that they contain.
    public func load() throws(PropertyError) -> PropertySnapshot {
        let folder = FileContents.absolutePath(path)
        do {
            var files = FolderFiles(folder: folder)
            for _ in 0..<5 {
                let target = Folder.target(of: folder)
                files = try FolderFiles(reading: folder)
                if Folder.target(of: folder) == target { break }
            }
            let snapshot = PropertySnapshot(source: folder, content: files)
            return isSecret ? snapshot.marking([NamePattern("*")]) : snapshot
        } catch {
            if isOptional, error.isMissing { return .missing(source: folder) }
            throw PropertyError(ErrorText.unreadable(error.description), source: folder)
        }
    }

    /// Returns a stamp that differs after the files have changed, or the folder to which the volume's link leads.
    ///
    /// - Returns: The stamp.
    public func modificationStamp() -> PropertySourceStamp? {
        let folder = FileContents.absolutePath(path)
        guard let names = try? Folder.names(in: folder) else { return .missing }
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        func add(_ bytes: some Sequence<UInt8>) {
            for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        }
        add((Folder.target(of: folder) ?? "").utf8)
        for name in names {
            add(name.utf8)
            add("\(FileContents.parts(folder + "/" + name) ?? [])".utf8)
        }
        return PropertySourceStamp(Int64(bitPattern: hash))
    }
}

/// The files of a folder by the spelling of their names.
private struct FolderFiles: SnapshotContent {
    private struct File {
        let path: String
        var content: Result<[UInt8], PropertyError>
    }

    let folder: String
    private var files: [String: File] = [:]
    /// The names of the folders in it.
    private var folders: [String] = []

    init(folder: String) { self.folder = folder }

    init(reading folder: String) throws(FileContents.Failure) {
        self.folder = folder
        for name in try Folder.names(in: folder) {
            let path = folder + "/" + name
            guard let content = Self.content(of: path) else {
                folders.append(name)
                continue
            }
            let spelling = Spelling.argument(name)
            guard let other = files[spelling] else {
                files[spelling] = File(path: path, content: content)
                continue
            }
            let problem = PropertyError(ErrorText.sameName(as: other.path), source: path)
            files[spelling] = File(path: path, content: .failure(problem))
        }
    }

    /// Returns the bytes of a file or the reason why it can't be read, or `nil` for a folder.
    private static func content(of path: String) -> Result<[UInt8], PropertyError>? {
        do {
            return .success(try FileContents.read(path))
        } catch FileContents.Failure.system(EISDIR) {
            return nil
        } catch {
            return .failure(PropertyError(ErrorText.unreadable(error.description), source: path))
        }
    }

    var valueCount: Int? { files.count }

    func value(named name: String) -> LocatedValue? {
        guard let file = files[Spelling.argument(name)] else { return nil }
        switch file.content {
        case .success(let bytes):
            return PropertyTree(store: NodeStore(file: bytes, name: name), source: file.path).root
        case .failure(var problem):
            problem.name = name
            return PropertyTree(store: NodeStore(flag: name), source: file.path, problem: problem).root
        }
    }

    func noteUnknownNames(_ known: KnownNames, to mistakes: inout Mistakes) {
        var spelled = SpelledNames(known, separator: "-", Spelling.argument)
        let before = known.before as? FolderFiles
        for (spelling, file) in files.sorted(by: { $0.key < $1.key }) {
            guard before?.files[spelling] == nil, !spelled.cover(spelling), !known.ignores(spelling) else { continue }
            mistakes.add(file.path, nil) {
                let name = String(file.path.dropFirst(folder.count + 1))
                let reason =
                    spelled.suggestion(for: spelling).map { ErrorText.unknownName(suggestion: $0) }
                    ?? Self.source(of: name).map(ErrorText.fileOfFormat) ?? ErrorText.unknownFile(name)
                return PropertyError(reason, source: file.path)
            }
        }
        for name in folders where before?.folders.contains(name) != true && !known.ignores(Spelling.argument(name)) {
            mistakes.add("\(folder)/\(name)", nil) {
                PropertyError(ErrorText.folderInside(name), source: "\(folder)/\(name)")
            }
        }
    }

    /// Returns the source that reads files of this name, if one does.
    private static func source(of name: String) -> String? {
        switch name.split(separator: ".").last?.lowercased() {
        case "toml": "TOMLSource"
        case "json": "JSONSource"
        case "env": "DotEnvSource"
        default: nil
        }
    }

    func place(of name: String) -> String? { "\(Quoted.line(folder))/\(Spelling.argument(name))" }
}

private enum Folder {
    /// Returns the target of a mounted volume's link, or `nil` if there's no such link.
    static func target(of folder: String) -> String? {
        #if os(Windows)
        return nil
        #else
        guard let resolved = unsafe realpath(folder + "/..data", nil) else { return nil }
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved)
        #endif
    }

    /// Returns the sorted names of the files, without those that begin with a dot.
    static func names(in folder: String) throws(FileContents.Failure) -> [String] {
        guard !folder.utf8.contains(0) else { throw .zeroInPath }
        #if os(Windows)
        throw .notRegular
        #else
        guard let stream = unsafe opendir(folder) else {
            let code = errno
            throw code == ENOTDIR && FileContents.isThere(folder) ? .notFolder : .system(code)
        }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: pointer.pointee))
                {
                    unsafe String(cString: $0)
                }
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted()
        #endif
    }
}
