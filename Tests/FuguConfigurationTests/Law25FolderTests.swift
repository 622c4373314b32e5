import Foundation
import Fugu
import FuguConfiguration
import Support
import Testing

extension ContainerKeys {
    fileprivate var folderWord: PropertyKey<String?> { .init("word25") }
    fileprivate var folderOther: PropertyKey<String?> { .init("other25") }
    fileprivate var folderData: PropertyKey<Data?> { .init("store25") }
    fileprivate var folderBytes: PropertyKey<[UInt8]?> { .init("bytes25") }
}

/// A folder of values: what is odd about one file concerns its name alone (law 25).
@Suite struct Law25FolderTests {
    static let cases: [Case<Law25FolderTests>] = [
        Case("Bytes that differ only in the last line break are a change, and the text without it is none", lineBreak),
        Case("A file that isn't text is data, exactly as it is, and a mistake for a key of text", binary),
        Case("A file that can't be read, or is there twice, is a mistake for its name alone", odd),
        Case("A file in place of a folder is a mistake, optional or not", notFolder),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<Law25FolderTests>) async throws { try await stated.run(self) }

    private let folder = NSTemporaryDirectory() + "fugu-odd-\(UUID())"
    private let container = Container()

    private func write(_ bytes: [UInt8], to name: String) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data(bytes).write(to: URL(fileURLWithPath: folder + "/" + name))
    }

    private func cleanUp() { try? FileManager.default.removeItem(atPath: folder) }

    func lineBreak() throws {
        defer { cleanUp() }
        try write(Array("a".utf8), to: "bytes25")
        try write(Array("a".utf8), to: "word25")
        try container.apply(FolderSource(path: folder))
        let (bytes, words) = (Log<Int>(), Log<String?>())
        container.observe(\.folderBytes) { bytes.add($0?.count ?? 0) }
        container.observe(\.folderWord) { words.add($0) }
        expect(container.folderBytes?.count, equals: 1)
        expect(container.folderWord, equals: "a")
        for name in ["bytes25", "word25"] { try write(Array("a\n".utf8), to: name) }
        try container.reload()
        expect(container.folderBytes == Array("a\n".utf8) && bytes.all == [2] && words.all.isEmpty)
    }

    func binary() throws {
        defer { cleanUp() }
        try write([0x30, 0x82, 0xFF, 0x00, 0x0A], to: "store25")
        try write(Array("text\n".utf8), to: "bytes25")
        try write(Array("hunter2\n".utf8), to: "word25")
        try write([0xFF], to: "other25")
        let reports = container.reports()
        try container.apply(FolderSource(path: folder))
        expect(container.folderWord, equals: "hunter2")
        expect(container.folderOther == nil)
        expect(container.folderData, equals: Data([0x30, 0x82, 0xFF, 0x00, 0x0A]))
        expect(container.folderBytes, equals: Array("text\n".utf8))
        expect(reports.all, equals: ["\(folder)/other25: other25: expected String, found data"])
        expect(
            thrown { try container.validate(\.folderWord, \.folderOther, \.folderData) },
            equals: "\(folder)/other25: other25: expected String, found data")
    }

    func odd() throws {
        defer { cleanUp() }
        try write(Array("hunter2".utf8), to: "word25")
        try write(Array("a".utf8), to: "other25")
        try write(Array("b".utf8), to: "OTHER25")
        try FileManager.default.createSymbolicLink(atPath: folder + "/store25", withDestinationPath: folder + "/none")
        try container.apply(FolderSource(path: folder))
        let reports = container.reports()
        expect(container.folderWord, equals: "hunter2")
        expect(container.folderOther == nil)
        expect(container.folderData == nil)
        expect(reports.all.count, equals: 2)
        let text = thrown { try container.validate(\.folderWord, \.folderOther, \.folderData) }
        expect(text.split(separator: "\n").count, equals: 2)
        expect(text.contains("spelled differently") && text.contains("store25: can't be read"), "\(text)")
    }

    func notFolder() throws {
        defer { cleanUp() }
        try write([], to: "file")
        for isOptional in [false, true] {
            let text = thrown { try container.apply(FolderSource(path: folder + "/file", isOptional: isOptional)) }
            expect(text, equals: "\(folder)/file: can't be read: it isn't a directory")
        }
        try container.apply(FolderSource(path: folder + "/none", isOptional: true))
    }
}
