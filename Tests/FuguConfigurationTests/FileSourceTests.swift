import Foundation
import Testing

@testable import FuguConfiguration

@Suite struct FileSourceTests {
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

    @Test("A file is read again at each load, and its errors show the absolute path")
    func reload() throws {
        try withDirectory { directory in
            let path = directory + "/config.toml"
            try write("a = 1", to: path)
            let source = TOMLSource(path: path)
            #expect(try source.load().value(named: "a")?.propertyValue == 1)
            try write("\na = 'x'", to: path)
            let value = try #require(try source.load().value(named: "a"))
            let error = #expect(throws: PropertyError.self) { try value.decode(Int.self) }
            #expect(error?.description == "\(path):2:5: a: expected Int, found string \"x\"")
            try write("a = ", to: path)
            let syntax = #expect(throws: PropertyError.self) { try source.load() }
            #expect(syntax?.description == "\(path):1:5: expected a value, found the end of the text")
        }
    }

    @Test("A relative path is resolved when the file is read and shown absolute")
    func relative() throws {
        let error = #expect(throws: PropertyError.self) { try JSONSource(path: "./no/such.json").load() }
        let path = FileManager.default.currentDirectoryPath + "/no/such.json"
        #expect(error?.description == "\(path): can't be read: the file doesn't exist")
    }

    @Test("A file that is missing is an error, or nothing where it is optional, and the snapshot says so")
    func missing() throws {
        try withDirectory { directory in
            let path = directory + "/none.json"
            let error = #expect(throws: PropertyError.self) { try JSONSource(path: path).load() }
            #expect(error?.description == "\(path): can't be read: the file doesn't exist")
            let snapshot = try JSONSource(path: path, isOptional: true).load()
            #expect(snapshot.isMissing && snapshot.source == path && snapshot.value(named: "a") == nil)
            try write("{}", to: path)
            #expect(try !JSONSource(path: path, isOptional: true).load().isMissing)
            let inFile = #expect(throws: PropertyError.self) { try JSONSource(path: path + "/x").load() }
            #expect(inFile?.reason == "can't be read: a component of the path isn't a directory")
        }
    }

    @Test("A file that is there and cannot be read is an error even where it is optional")
    func unreadable() throws {
        try withDirectory { directory in
            let error = #expect(throws: PropertyError.self) { try TOMLSource(path: directory, isOptional: true).load() }
            #expect(error?.description == "\(directory): can't be read: it's a directory")
        }
    }

    @Test("The stamp of a file differs once it was changed, removed or came back, and that of a text stays")
    func stamps() throws {
        try withDirectory { directory in
            let path = directory + "/a.json"
            let source = JSONSource(path: path)
            let missing = source.modificationStamp()
            try write("{}", to: path)
            let first = source.modificationStamp()
            #expect(first == source.modificationStamp())
            #expect(first == PropertySourceStamp(file: path))
            try write("{\"a\": 1}", to: path)
            let second = source.modificationStamp()
            try FileManager.default.removeItem(atPath: path)
            #expect(missing != nil && Set([missing, first, second]).count == 3)
            #expect(source.modificationStamp() == missing)
        }
        let text = JSONSource(text: "{}", name: "x")
        #expect(text.modificationStamp() != nil && text.modificationStamp() == text.modificationStamp())
        #expect(EnvironmentSource(environment: [:]).modificationStamp() == nil)
    }

    @Test("A file is read to its last byte, whatever its size", arguments: [0, 1, 65_535, 65_536, 65_537, 200_000])
    func sizes(count: Int) throws {
        try withDirectory { directory in
            let path = directory + "/a.toml"
            try write("a = '" + String(repeating: "x", count: count) + "'", to: path)
            #expect(try TOMLSource(path: path).load().value(named: "a")?.decode(String.self).utf8.count == count)
        }
    }
}
