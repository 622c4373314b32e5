import Foundation
import FuguConfiguration
import Support
import Testing

/// Input that is large or hostile ends in a value or an error, in time that grows as the input does.
@Suite(.serialized) struct BoundedInputTests {}

extension BoundedInputTests {
    /// A megabyte; unoptimised code gets a quarter or less, so that the suite stays fast.
    #if DEBUG
    private static let size = 250_000
    #else
    private static let size = 1_000_000
    #endif

    private static func repeated(_ text: String, _ suffix: String = "") -> [UInt8] {
        Array((String(repeating: text, count: size / text.utf8.count + 1) + suffix).utf8)
    }

    private static func numbered(_ line: (Int) -> String) -> [UInt8] {
        var text = ""
        var number = 0
        while text.utf8.count < size {
            text += line(number)
            number += 1
        }
        return Array(text.utf8)
    }

    /// A large document of each; whether it parses does not matter here.
    static var documents: [(name: String, bytes: [UInt8])] {
        var documents: [(String, [UInt8])] = [
            "[", "{", "]", "\"", "'", "\\", "\"\\", "a.", "a=", "[a.", "[[", "#", "/*", "//\n", "\n", "\r\n", " ", "\t",
            "1",
            "-", "_", "1_", "0.", "1e", "e", "\u{0}", "\u{1}", "é", "🐡", "[1,", "{\"a\":", "{a={", "a=[\n", "\"\"\"",
            "'''",
            "\"a\".", "[]", "[],", "a=1\n", "[[a]]\n", "[a]\n", "nan", "1979-", "07:32:", "\"\\u00e9",
            "\"\\ud83d\\udc21",
        ].map { ($0, repeated($0)) }
        documents.append(("integer", repeated("1", "")))
        documents.append(("string", [UInt8(ascii: "[")] + [0x22] + repeated("x", "\"]")))
        documents.append(("escapes", [UInt8(ascii: "[")] + [0x22] + repeated("\\n", "\"]")))
        documents.append(("digits", Array("[0.".utf8) + repeated("123456789", "]")))
        documents.append(("exponent", Array("[1e".utf8) + repeated("9", "]")))
        documents.append(("toml digits", Array("a = 0.".utf8) + repeated("123_456_789", "\n")))
        documents.append(("toml string", Array("a = \"\"\"".utf8) + repeated("\"\"\\\"", "\"\"\"\n")))
        documents.append(("keys", numbered { "k\($0) = \($0)\n" }))
        documents.append(("tables", numbered { "[k\($0).x.y]\nz = 1\n" }))
        documents.append(("arrays of tables", numbered { "[[k.x]]\nz = \($0)\n" }))
        documents.append(("nested arrays of tables", numbered { "[[k]]\n[[k.x]]\n[[k.x.y]]\nz = \($0)\n" }))
        documents.append(("long dotted", numbered { _ in String(repeating: "a.", count: 500) + "b = 1\n" }))
        documents.append(("dotted", numbered { "a.b.c.d\($0) = 1\n" }))
        documents.append(("quoted dotted", numbered { "\"a.b.c.d\($0)\" = 1\n" }))
        documents.append(("json names", Array("{".utf8) + numbered { "\"k\($0)\":\($0)," } + Array("}".utf8)))
        documents.append(("json dotted", Array("{".utf8) + numbered { "\"a.b\($0).c\":\($0)," } + Array("}".utf8)))
        return documents
    }

    /// Unoptimised code is given more.
    private static var limit: Duration {
        #if DEBUG
        .milliseconds(1_250)
        #else
        .seconds(1)
        #endif
    }

    @Test("A megabyte of anything is answered in under a second by both parsers")
    func megabyte() {
        var slowest = (name: "", time: Duration.zero)
        for (name, bytes) in Self.documents {
            for parse in [
                { try PropertyValue(json: bytes, name: name) }, { try PropertyValue(toml: bytes, name: name) },
            ] as [() throws -> PropertyValue] {
                let time = threadTime { _ = try? parse() }
                expect(time < Self.limit, "\(name)")
                if time > slowest.time { slowest = (name, time) }
            }
        }
        print("Slowest megabyte: \(slowest.name.debugDescription), \(slowest.time)")
    }

    @Test("100,000 opening brackets and a key of 100,000 dots are refused, nested too deep")
    func deep() {
        let brackets = [UInt8](repeating: UInt8(ascii: "["), count: 100_000)
        let dots = Array(String(repeating: "a.", count: 100_000).utf8) + Array("a = 1".utf8)
        for parse in [
            { try PropertyValue(json: brackets, name: "x") },
            { try PropertyValue(toml: Array("a=".utf8) + brackets, name: "x") },
            { try PropertyValue(toml: dots, name: "x") },
        ] as [() throws -> PropertyValue] {
            let error = #expect(throws: PropertyError.self) { _ = try parse() }
            expect(error?.reason, equals: "nested deeper than 512 levels")
        }
    }

    @Test("A name of 100,000 dots is a name where it is only quoted, and no dotted name of a source")
    func dottedName() throws {
        let name = String(repeating: ".", count: 100_000)
        let text = "{\"\(name)\": 1}"
        try expect(PropertyValue(json: Array(text.utf8), name: "x"), equals: [name: 1])
        let error = #expect(throws: PropertyError.self) { _ = try JSONSource(text: text, name: "x").load() }
        expect(error?.description, equals: "x:1:2: nested deeper than 512 levels")
    }

    @Test("A string as long as a hundred large documents is the value")
    func largeString() throws {
        let count = 100 * Self.size
        let bytes =
            Array("{\"a\": 1, \"s\": \"".utf8) + [UInt8](repeating: 0x78, count: count) + Array("\"}".utf8)
        guard case .table(let table) = try PropertyValue(json: bytes, name: "x"), case .string(let text)? = table["s"]
        else {
            return expect(Bool(false), "no string")
        }
        expect(text.utf8.count, equals: count)
        expect(table["a"], equals: 1)
    }

    @Test("512 levels are read, kept, compared and let go without running out of stack")
    func deepest() throws {
        let text = String(repeating: "[", count: 512) + String(repeating: "]", count: 512)
        let value = try PropertyValue(json: Array(text.utf8), name: "x")
        expect(value, equals: (try PropertyValue(json: Array(text.utf8), name: "y")))
        expect(value.description, equals: text)
    }
}
