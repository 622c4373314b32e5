import Foundation
import Fugu
import Support
import Testing

@testable import FuguConfiguration

extension ContainerKeys {
    fileprivate var word: PropertyKey<String?> { .init("bytes25.word", isSecret: true) }
    fileprivate var other: PropertyKey<String?> { .init("bytes25.other") }
    fileprivate var words: PropertyKey<[String]> { .init("bytes25.words", defaultValue: []) }
}

/// Bytes that aren't text, wherever a source finds them (law 25).
struct FileBytesTests {
    private let container = Container()
    private let notText = "bytes25.word: the bytes aren't UTF-8 text"

    @Test("A variable whose bytes aren't text is an error where it's read, and concerns nobody else (law 25)")
    func variables() async {
        await #expect(processExitsWith: .success) {
            for (name, bytes) in [("BYTES25_WORD", [0x68, 0xFF, 0x32]), ("BYTES25_MORE", [0xC3])] as [(String, [UInt8])]
            {
                _ = (bytes + [0]).map { CChar(bitPattern: $0) }.withUnsafeBufferPointer {
                    unsafe setenv(name, $0.baseAddress!, 1)
                }
            }
            setenv("BYTES25_OTHER", "a \u{FFFD}", 1)
            let container = Container()
            try container.apply(EnvironmentSource())
            precondition(container.other == "a \u{FFFD}")
            let text = thrown { _ = try container.require(\.word) }
            precondition(
                text == "environment variable BYTES25_WORD: bytes25.word: the bytes aren't UTF-8 text", text)
            precondition(thrown { try container.validate(\.word, \.other) } == text)
            precondition(!"\(container.explain(\.word))".contains("\u{FFFD}"))
            // Another list of variables isn't that of the process.
            let given = Container()
            try given.apply(EnvironmentSource(environment: ["BYTES25_WORD": "b\u{FFFD}2"]))
            precondition(given.word == "b\u{FFFD}2")
        }
    }

    @Test("A line of a .env file that isn't text is an error where it's read, and concerns nobody else (law 25)")
    func lines() throws {
        let folder = NSTemporaryDirectory() + "fugu-bytes-\(UUID())"
        defer { unlink(folder) }
        let lines =
            Array("# caf".utf8) + [0xE9] + Array("\nBYTES25_WORD='h".utf8) + [0xFF] + Array("2'\nBYTES25_OTHER=a".utf8)
        try Data(lines).write(to: URL(fileURLWithPath: folder))
        try container.apply(DotEnvSource(path: folder))
        expect(container.other, equals: "a")
        try container.validate(\.other)
        expect(thrown { _ = try container.require(\.word) }, equals: "\(folder):2:14: \(notText)")
        expect(thrown { try container.validate(\.word) }, equals: "\(folder):2:14: \(notText)")
    }

    @Test("A file of a folder that isn't text is an error for a key of text, which names both (law 25)")
    func files() throws {
        let folder = NSTemporaryDirectory() + "fugu-bytes-\(UUID())"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try Data([0x68, 0xFF]).write(to: URL(fileURLWithPath: folder + "/bytes25.word"))
        try container.apply(FolderSource(path: folder))
        expect(container.other == nil)
        let text = thrown { _ = try container.require(\.word) }
        expect(
            text, equals: "\(folder)/bytes25.word: bytes25.word: expected String, found bytes that aren't UTF-8 text")
    }
}

extension FileBytesTests {
    /// The arguments as a program gets them, of which some aren't UTF-8.
    private func arguments(_ bytes: [[UInt8]]) -> ArgumentsSource {
        var source = ArgumentsSource(bytes.map { String(decoding: $0, as: UTF8.self) })
        source.repaired = RepairedText.repaired(bytes)
        return source
    }

    private var broken: [UInt8] { [0x68, 0xFF, 0x32] }
    private var named: [UInt8] { Array("--bytes25-word=".utf8) + broken }

    @Test("An argument whose bytes aren't text is an error where it's read, and concerns nobody else (law 25)")
    func arguments() throws {
        let other = Array("--bytes25-other=a\u{FFFD}".utf8)
        try container.apply(arguments([other, named]))
        expect(container.other, equals: "a\u{FFFD}")
        expect(thrown { _ = try container.require(\.word) }, equals: "argument --bytes25-word: \(notText)")
        let apart = Container()
        try apart.apply(arguments([Array("--bytes25-word".utf8), broken, Array("--bytes25-other=b".utf8)]))
        expect(thrown { try apart.validate(\.word, \.other) }, equals: "argument --bytes25-word: \(notText)")
        expect(apart.other, equals: "b")
    }

    @Test("A word of a list that isn't text is an error for the list, and none for what takes one word (law 25)")
    func lists() throws {
        try container.apply(arguments([Array("--bytes25-words".utf8), Array("a".utf8), broken]))
        let text = thrown { _ = try container.require(\.words) }
        expect(text.hasPrefix("argument --bytes25-words: bytes25.words: expected words of UTF-8 text"), "\(text)")
        let one = Container()
        try one.apply(arguments([Array("--bytes25-other".utf8), Array("a".utf8), broken]))
        expect(one.other, equals: "a")
    }
}

extension ContainerKeys {
    fileprivate var flag: PropertyKey<Bool> { .init("bytes25.flag", defaultValue: false) }
    fileprivate var limits: PropertyKey<[String: String]> {
        .init("bytes25.limits", defaultValue: [:], form: .merged)
    }
}

/// Bytes that aren't text where arguments have conventions of their own.
extension FileBytesTests {
    private func container(_ words: [UInt8]...) throws -> Container {
        let container = Container()
        try container.apply(arguments(words))
        return container
    }

    @Test("Of an argument that occurs twice, only bytes that count are an error (law 25)")
    func twice() throws {
        let text = Array("--bytes25-word=a".utf8)
        let good = try container(named, text)
        expect(good.word, equals: "a")
        try good.validate(\.word)
        expect(
            thrown { try container(text, named).validate(\.word) }, equals: "argument --bytes25-word: \(notText)")
        let (words, list) = (Array("--bytes25-words=".utf8), Array("--bytes25-words=a,b".utf8))
        expect(
            thrown { try container(words + broken, list).validate(\.words) }.hasPrefix(
                "argument --bytes25-words: bytes25.words: expected words of UTF-8 text"))
        expect(
            thrown { try container(list, words + broken).validate(\.words) },
            equals: "argument --bytes25-words: bytes25.words: the bytes aren't UTF-8 text")
    }

    @Test("A word for others that isn't text concerns no argument before it (law 25)")
    func others() throws {
        let flag = Array("--bytes25-flag".utf8)
        let set = try container(flag, broken)
        try set.validate(\.flag)
        expect(set.flag)
        expect(set.explain(\.flag).winner.description, equals: "true (argument --bytes25-flag)")
        expect(
            thrown { try container(flag + Array("=".utf8) + broken).validate(\.flag) },
            equals: "argument --bytes25-flag: bytes25.flag: the bytes aren't UTF-8 text")
        let off = try container(flag, broken, Array("--no-bytes25-flag".utf8))
        try off.validate(\.flag)
        expect(!off.flag)
        let list = try container(Array("--bytes25-words".utf8), Array("a,b".utf8), broken)
        expect(list.words, equals: ["a", "b"])
        try list.validate(\.words)
    }

    @Test("A JSON object whose bytes aren't text is an error, also where tables are merged (law 25)")
    func objects() throws {
        let table = Array("--bytes25-limits={\"a\": \"".utf8) + broken + Array("\"}".utf8)
        let text = "argument --bytes25-limits: bytes25.limits: the bytes aren't UTF-8 text"
        expect(thrown { try container(table).validate(\.limits) }, equals: text)
        let merged = try container(table)
        try merged.apply(TOMLSource(text: "bytes25.limits = { b = 'c' }", name: "x"))
        expect(thrown { try merged.validate(\.limits) }, equals: text)
    }
}
