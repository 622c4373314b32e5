import Foundation
import Support
import Testing

@testable import FuguConfiguration

@Suite struct FileSourceTests {
    static let cases: [Case<FileSourceTests>] = [
        Case("A file is read again at each load, and its errors show the absolute path", reload),
        Case("A relative path is resolved when the file is read and shown absolute", relative),
        Case("A file that is missing is an error, or nothing where it is optional, and the snapshot says so", missing),
        Case("A file that is there and cannot be read is an error even where it is optional", unreadable),
        Case("The stamp of a file differs once it was changed, removed or came back, and that of a text stays", stamps),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<FileSourceTests>) async throws { try await stated.run(self) }

    /// A directory of its own, gone afterwards.
    private func withDirectory(_ body: (String) throws -> Void) throws {
        let directory = NSTemporaryDirectory() + "fugu-\(UUID())"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try body(directory)
    }

    private func write(_ text: String, to path: String) throws {
        try text.write(toFile: path, atomically: true, encoding: .utf8)
    }

    func reload() throws {
        try withDirectory { directory in
            let path = directory + "/config.toml"
            try write("a = 1", to: path)
            let source = TOMLSource(path: path)
            try expect(source.load().value(named: "a")?.propertyValue, equals: 1)
            try write("\na = 'x'", to: path)
            let value = try #require(try source.load().value(named: "a"))
            let error = #expect(throws: PropertyError.self) { try value.decode(Int.self) }
            expect(error?.description, equals: "\(path):2:5: a: expected Int, found string \"x\"")
            try write("a = ", to: path)
            let syntax = #expect(throws: PropertyError.self) { try source.load() }
            expect(syntax?.description, equals: "\(path):1:5: expected a value, found the end of the text")
        }
    }

    func relative() throws {
        let error = #expect(throws: PropertyError.self) { try JSONSource(path: "./no/such.json").load() }
        let path = FileManager.default.currentDirectoryPath + "/no/such.json"
        expect(error?.description, equals: "\(path): can't be read: the file doesn't exist")
    }

    func missing() throws {
        try withDirectory { directory in
            let path = directory + "/none.json"
            let error = #expect(throws: PropertyError.self) { try JSONSource(path: path).load() }
            expect(error?.description, equals: "\(path): can't be read: the file doesn't exist")
            let snapshot = try JSONSource(path: path, isOptional: true).load()
            expect(snapshot.isMissing)
            expect(snapshot.source, equals: path)
            expect(snapshot.value(named: "a") == nil)
            try write("{}", to: path)
            try expect(!JSONSource(path: path, isOptional: true).load().isMissing)
            let inFile = #expect(throws: PropertyError.self) { try JSONSource(path: path + "/x").load() }
            expect(inFile?.reason, equals: "can't be read: a component of the path isn't a directory")
        }
    }

    func unreadable() throws {
        try withDirectory { directory in
            let error = #expect(throws: PropertyError.self) { try TOMLSource(path: directory, isOptional: true).load() }
            expect(error?.description, equals: "\(directory): can't be read: it's a directory")
        }
    }

    func stamps() throws {
        try withDirectory { directory in
            let path = directory + "/a.json"
            let source = JSONSource(path: path)
            let missing = source.modificationStamp()
            try write("{}", to: path)
            let first = source.modificationStamp()
            expect(first, equals: source.modificationStamp())
            expect(first, equals: PropertySourceStamp(file: path))
            try write("{\"a\": 1}", to: path)
            let second = source.modificationStamp()
            try FileManager.default.removeItem(atPath: path)
            expect(missing != nil)
            expect(Set([missing, first, second]).count, equals: 3)
            expect(source.modificationStamp(), equals: missing)
        }
        let text = JSONSource(text: "{}", name: "x")
        expect(text.modificationStamp() != nil)
        expect(text.modificationStamp(), equals: text.modificationStamp())
        expect(EnvironmentSource(environment: [:]).modificationStamp() == nil)
    }

    @Test("A file is read to its last byte, whatever its size", arguments: [0, 1, 65_535, 65_536, 65_537, 200_000])
    func sizes(count: Int) throws {
        try withDirectory { directory in
            let path = directory + "/a.toml"
            try write("a = '" + String(repeating: "x", count: count) + "'", to: path)
            try expect(TOMLSource(path: path).load().value(named: "a")?.decode(String.self).utf8.count, equals: count)
        }
    }
}
