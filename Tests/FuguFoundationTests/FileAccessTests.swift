import Foundation
import Fugu
import FuguFoundation
import FuguTesting
import Support
import Testing

/// Behavior that every file access shares, the system's and the one in memory.
struct FileAccessTests {
    enum Kind: CaseIterable { case system, inMemory }

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func files(_ kind: Kind) throws -> FileAccess {
        switch kind {
        case .system: return .system
        case .inMemory: return .inMemory([folder.file("x").path: Data()])  // so that the folder exists
        }
    }

    private func expectError(
        _ code: POSIXErrorCode, _ message: String, sourceLocation: SourceLocation = #_sourceLocation,
        _ body: () throws(FileAccessError) -> Void
    ) {
        do {
            try body()
            Issue.record("Nothing was thrown", sourceLocation: sourceLocation)
        } catch {
            #expect((error.cause as? POSIXError)?.code == code, "\(error)", sourceLocation: sourceLocation)
            #expect("\(error)" == message, sourceLocation: sourceLocation)
            #expect(error.localizedDescription == message, sourceLocation: sourceLocation)
        }
    }

    @Test(
        "A saved file is loaded, and replaced by the next save; missing folders are created", arguments: Kind.allCases)
    func saveAndLoad(kind: Kind) throws {
        let files = try files(kind)
        let url = folder.file("a/b/c.txt")
        expect(!files.exists(url))
        try files.save(Data("one, and long".utf8), to: url)
        try expect(files.load(url), equals: Data("one, and long".utf8))
        try files.save(Data("two".utf8), to: url)
        try expect(files.load(url), equals: Data("two".utf8))
        try files.save(Data(), to: url)
        try expect(files.load(url).isEmpty)
        expect(files.exists(url))
        expect(files.exists(folder.file("a")))
        expect(files.exists(folder.file("a/b")))
    }

    @Test("Different ways of writing a path lead to the same file", arguments: Kind.allCases)
    func paths(kind: Kind) throws {
        let files = try files(kind)
        try files.save(Data("1".utf8), to: folder.file("a/ü b.txt"))
        try expect(files.load(folder.file("a/../a/./ü b.txt")), equals: Data("1".utf8))
    }

    @Test("Appending adds to the end, and makes the file and its folders", arguments: Kind.allCases)
    func append(kind: Kind) throws {
        let files = try files(kind)
        let url = folder.file("a/log")
        try files.append(Data("one\n".utf8), to: url)
        try files.append(Data("two\n".utf8), to: url)
        try expect(files.load(url), equals: Data("one\ntwo\n".utf8))
    }

    @Test("A missing file differs from one that cannot be used, with path and cause", arguments: Kind.allCases)
    func missing(kind: Kind) throws {
        let files = try files(kind)
        let url = folder.file("none")
        expectError(.ENOENT, "can't load \(url.path): No such file or directory") { () throws(FileAccessError) in
            _ = try files.load(url)
        }
        expectError(.ENOENT, "can't delete \(url.path): No such file or directory") { () throws(FileAccessError) in
            try files.delete(url)
        }
        expectError(.ENOENT, "can't list \(url.path): No such file or directory") { () throws(FileAccessError) in
            _ = try files.list(url)
        }
        let error = #expect(throws: FileAccessError.self) { try files.load(url) }
        expect(error?.isMissingFile, equals: true)
        expect(error?.path, equals: url.path)
        expect(error?.operation, equals: .load)
        let other = #expect(throws: FileAccessError.self) { try files.load(folder.url) }
        expect(other?.isMissingFile, equals: false)
    }

    @Test("A path that leads through a file is refused", arguments: Kind.allCases)
    func throughFile(kind: Kind) throws {
        let files = try files(kind)
        try files.save(Data("kept".utf8), to: folder.file("file"))
        let url = folder.file("file/sub/name")
        expectError(.ENOTDIR, "can't save \(url.path): Not a directory") { () throws(FileAccessError) in
            try files.save(Data(), to: url)
        }
        expectError(.ENOTDIR, "can't append to \(url.path): Not a directory") { () throws(FileAccessError) in
            try files.append(Data(), to: url)
        }
        expectError(.ENOTDIR, "can't load \(url.path): Not a directory") { () throws(FileAccessError) in
            _ = try files.load(url)
        }
        expectError(.ENOTDIR, "can't list \(url.path): Not a directory") { () throws(FileAccessError) in
            _ = try files.list(url)
        }
        expect(!files.exists(url))
        try expect(files.load(folder.file("file")), equals: Data("kept".utf8))
    }

    @Test("A folder is neither loaded, overwritten nor removed", arguments: Kind.allCases)
    func folders(kind: Kind) throws {
        let files = try files(kind)
        try files.save(Data("kept".utf8), to: folder.file("a/kept"))
        let url = folder.file("a")
        expectError(.EISDIR, "can't load \(url.path): Is a directory") { () throws(FileAccessError) in
            _ = try files.load(url)
        }
        expectError(.EISDIR, "can't save \(url.path): Is a directory") { () throws(FileAccessError) in
            try files.save(Data(), to: url)
        }
        expectError(.EISDIR, "can't append to \(url.path): Is a directory") { () throws(FileAccessError) in
            try files.append(Data(), to: url)
        }
        expectError(.EISDIR, "can't delete \(url.path): Is a directory") { () throws(FileAccessError) in
            try files.delete(url)
        }
        try expect(files.list(url), equals: [folder.file("a/kept")])
        try expect(files.list(folder.url).map(\.lastPathComponent).filter { $0 != "x" }, equals: ["a"])
    }

    @Test("A folder lists its files and folders by name, an empty one nothing", arguments: Kind.allCases)
    func list(kind: Kind) throws {
        let files = try files(kind)
        for name in ["b", "c/d", "a"] { try files.save(Data(), to: folder.file("list/\(name)")) }
        try expect(files.list(folder.file("list")), equals: ["a", "b", "c"].map { folder.file("list/\($0)") })
        try files.delete(folder.file("list/c/d"))
        try expect(files.list(folder.file("list/c")).isEmpty)
        expect(!files.exists(folder.file("list/c/d")))
    }

    @Test("Only file URLs are taken", arguments: Kind.allCases)
    func notAFile(kind: Kind) throws {
        let files = try files(kind)
        let url = try #require(URL(string: "https://example.org/a"))
        let error = #expect(throws: FileAccessError.self) { try files.load(url) }
        expect(error.map { "\($0)" }, equals: "can't load https://example.org/a: not a file URL")
        expect(!files.exists(url))
    }

    @Test("Threads that append together lose and mix nothing", arguments: Kind.allCases)
    func together(kind: Kind) async throws {
        let files = try files(kind)
        let url = folder.file("log")
        try await withThrowingTaskGroup { group in
            for writer in 0..<8 {
                group.addTask {
                    for line in 0..<25 { try files.append(Data("\(writer) \(line)\n".utf8), to: url) }
                }
            }
            try await group.waitForAll()
        }
        let lines = String(decoding: try files.load(url), as: UTF8.self).split(separator: "\n").map(String.init)
        expect(lines.sorted(), equals: (0..<8).flatMap { writer in (0..<25).map { "\(writer) \($0)" } }.sorted())
        for writer in 0..<8 {
            let own = lines.filter { $0.hasPrefix("\(writer) ") }
            expect(own, equals: (0..<25).map { "\(writer) \($0)" })
        }
    }
}

/// Mistakes that only a disk can make, and the doubles.
struct SystemFilesTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("Neither a save, nor one that fails or breaks off, leaves a temporary file behind")
    func noLitter() async throws {
        // Neither a save nor a failed save leaves a temporary file behind.
        do {
            let files = Container.program().fileAccess
            try files.save(Data("a".utf8), to: folder.file("a"))
            try files.save(Data("b".utf8), to: folder.file("a"))
            try files.save(Data(), to: folder.file("folder/inner"))
            #expect(throws: FileAccessError.self) { try files.save(Data("c".utf8), to: folder.file("folder")) }
            #expect(throws: FileAccessError.self) { try files.save(Data("c".utf8), to: folder.file("a/b")) }
            try expect(folder.names(), equals: ["a", "folder"])
            try expect(folder.names(in: "folder"), equals: ["inner"])
        }
        // A save that breaks off in the middle leaves the old file and no temporary one.
        do {
            let folder = try TemporaryFolder()
            let url = folder.file("data")
            try FileAccess.system.save(Data("old".utf8), to: url)
            await #expect(processExitsWith: .success) { [path = url.path as String] in
                signal(SIGXFSZ, SIG_IGN)
                var limit = rlimit(rlim_cur: 1_000, rlim_max: 1_000)
                expect(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit), equals: 0)
                let error = #expect(throws: FileAccessError.self) {
                    try FileAccess.system.save(Data(count: 5_000), to: URL(filePath: path))
                }
                expect(error.map { "\($0)" }, equals: "can't save \(path): File too large")
            }
            try expect(FileAccess.system.load(url), equals: Data("old".utf8))
            try expect(folder.names(), equals: ["data"])
        }
    }

    @Test("Saving through a link replaces what it points to, or makes its target; deleting removes the link alone")
    func links() throws {
        // Saving through a symbolic link replaces what it points to, and deleting it removes the link alone.
        do {
            let files = FileAccess.system
            try files.save(Data("old".utf8), to: folder.file("real/target"))
            let link = folder.file("link")
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder.file("real/target"))
            try files.save(Data("new".utf8), to: link)
            try expect(files.load(folder.file("real/target")), equals: Data("new".utf8))
            try expect(
                FileManager.default.destinationOfSymbolicLink(atPath: link.path),
                equals: folder.file("real/target").path)
            try files.delete(link)
            try expect(folder.names(), equals: ["real"])
            try expect(folder.names(in: "real"), equals: ["target"])
        }
        // Saving through a relative link whose target is missing makes the target; a circle of links is an error.
        do {
            let folder = try TemporaryFolder()
            let link = folder.file("link")
            try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "sub/target")
            try FileAccess.system.save(Data("new".utf8), to: link)
            try expect(FileAccess.system.load(folder.file("sub/target")), equals: Data("new".utf8))
            try expect(FileManager.default.destinationOfSymbolicLink(atPath: link.path), equals: "sub/target")

            let circle = folder.file("circle")
            try FileManager.default.createSymbolicLink(atPath: circle.path, withDestinationPath: "circle")
            let error = #expect(throws: FileAccessError.self) { try FileAccess.system.save(Data(), to: circle) }
            expect((error?.cause as? POSIXError)?.code, equals: .ELOOP)
            withExtendedLifetime(folder) {}
        }
        // A link to a folder can be deleted, the folder stays.
        do {
            let folder = try TemporaryFolder()
            let files = FileAccess.system
            try files.save(Data("kept".utf8), to: folder.file("real/kept"))
            let link = folder.file("link")
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder.file("real"))
            try files.delete(link)
            try expect(folder.names(), equals: ["real"])
            try expect(folder.names(in: "real"), equals: ["kept"])
        }
    }

    #if !os(Windows)
    @Test("Saving keeps the rights of the file that it replaces")
    func rights() throws {
        let url = folder.file("secret")
        try FileAccess.system.save(Data("old".utf8), to: url)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: url.path)
        try FileAccess.system.save(Data("new".utf8), to: url)
        let rights = try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
        expect(rights, equals: 0o600)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: url.path)
        try FileAccess.system.save(Data("newer".utf8), to: url)
        try expect(FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int == 0o755)
    }

    @Test("Readers meanwhile see the old content or the new, whole")
    func atomic() async throws {
        let url = folder.file("data")
        let contents = [Data(repeating: 1, count: 200_000), Data(repeating: 2, count: 100_000)]
        try FileAccess.system.save(contents[0], to: url)
        try await withThrowingTaskGroup { group in
            group.addTask {
                for round in 1...60 { try FileAccess.system.save(contents[round % 2], to: url) }
            }
            group.addTask {
                for _ in 1...200 {
                    let read = try FileAccess.system.load(url)
                    expect(contents.contains(read))
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("A process that dies in the middle of its saves leaves a whole file")
    func crash() async throws {
        let url = folder.file("data")
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = url.path as String] in
            let url = URL(filePath: path)
            Thread.detachNewThread {
                for round in 0... {
                    try? FileAccess.system.save(Data(repeating: UInt8(round % 256), count: 500_000), to: url)
                }
            }
            // Some saves have been done and one is on its way whenever the signal comes.
            while (try? FileAccess.system.load(url))?.first ?? 0 < 5 {}
            kill(getpid(), SIGKILL)
        }
        let data = try FileAccess.system.load(url)
        expect(data.count, equals: 500_000)
        expect(Set(data).count, equals: 1)
    }

    #if canImport(Glibc)
    #endif

    @Test(
        "A disk that is full is reported, and the old file stays",
        .enabled(if: FileManager.default.fileExists(atPath: "/dev/full")))
    func full() throws {
        let error = #expect(throws: FileAccessError.self) {
            try FileAccess.system.append(Data("a".utf8), to: URL(filePath: "/dev/full"))
        }
        expect(error.map { "\($0)" }, equals: "can't append to /dev/full: No space left on device")
    }
    #endif

    @Test("A failing double fails where the test asks for it and nowhere else")
    func failing() throws {
        let container = Container()
        container.fileAccess = .inMemory(["/a": Data("old".utf8)]).failing(.save, .delete)
        let url = URL(filePath: "/a")
        let error = #expect(throws: FileAccessError.self) { try container.fileAccess.save(Data(), to: url) }
        expect(error.map { "\($0)" }, equals: "can't save /a: Permission denied")
        #expect(throws: FileAccessError.self) { try container.fileAccess.delete(url) }
        try container.fileAccess.append(Data("er".utf8), to: url)
        try expect(container.fileAccess.load(url), equals: Data("older".utf8))
        expect(container.fileAccess.exists(url))
        try expect(container.fileAccess.list(URL(filePath: "/")), equals: [url])

        struct Odd: Error {}
        let odd = FileAccess.inMemory.failing(.load, .append, .list, with: Odd())
        let other = #expect(throws: FileAccessError.self) { try odd.load(url) }
        expect(other?.cause is Odd)
        #expect(throws: FileAccessError.self) { try odd.append(Data(), to: url) }
        #expect(throws: FileAccessError.self) { try odd.list(url) }
    }

    @Test("Files in memory are shared by copies and by nobody else")
    func inMemory() throws {
        let files = FileAccess.inMemory
        let copy = files
        try files.save(Data("a".utf8), to: URL(filePath: "/a"))
        expect(copy.exists(URL(filePath: "/a")))
        expect(!FileAccess.inMemory.exists(URL(filePath: "/a")))
        let container = Container()
        container.makeStrict(Strictness { _ in })
        try expect(container.fileAccess.list(URL(filePath: "/")).isEmpty)
    }

    @Test("A file in memory cannot be a folder as well: it stops with a message")
    func contradiction() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = FileAccess.inMemory(["/a": Data(), "/a/b": Data()])
        }
        let message = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        expect(message.contains("a file can't be a folder as well"))
    }
}

/// A new folder that is deleted, with its contents, when its last reference is released.
final class TemporaryFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
            .appending(path: "FuguTests-\(UUID())", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func file(_ path: String) -> URL { url.appending(path: path, directoryHint: .notDirectory) }

    /// The names of all files and folders in it, hidden ones too.
    func names(in path: String = "") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: file(path).path).sorted()
    }
}
