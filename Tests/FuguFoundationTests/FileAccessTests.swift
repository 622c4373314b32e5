import Foundation
import Fugu
import FuguFoundation
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
