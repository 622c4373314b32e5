import Support
import Testing

@testable import FuguConfiguration

@Suite struct JSONErrorTests {
    static let table: [(text: String, message: String)] = [
        ("", "1:1: expected a value, found the end of the text"),
        ("  \n ", "2:2: expected a value, found the end of the text"),
        ("[1,,2]", "1:4: expected a value, found \",\""),
        ("[,]", "1:2: expected a value, found \",\""),
        ("[1 2]", "1:4: expected , or ] of the array opened on line 1, found \"2\""),
        ("[1", "1:3: expected , or ] of the array opened on line 1, found the end of the text"),
        ("{\"a\" 1}", "1:6: expected :, found \"1\""),
        ("{a: 1}", "1:2: expected a name in double quotes or }, found \"a\""),
        ("{\"a\": 1,,}", "1:9: expected a name in double quotes or }, found \",\""),
        ("{\"a\": 1 \"b\": 2}", "1:9: expected , or } of the object opened on line 1, found '\"'"),
        ("{\"a\": 1\n", "2:1: expected , or } of the object opened on line 1, found the end of the text"),
        ("{} {}", "1:4: expected the end of the text, found \"{\""),
        ("[tru]", "1:2: unknown word; only true, false, and null are written without quotes"),
        ("[nullx]", "1:2: unknown word; only true, false, and null are written without quotes"),
        ("[hunter2]", "1:2: unknown word; only true, false, and null are written without quotes"),
        ("[01]", "1:2: a number can't begin with a zero followed by another digit"),
        ("[+1]", "1:2: expected a value, found \"+\""),
        ("[.5]", "1:2: the decimal point needs a digit on both sides"),
        ("[-]", "1:3: expected a digit, found \"]\""),
        ("[1.]", "1:2: the decimal point needs a digit on both sides"),
        ("[1e]", "1:4: expected a digit, found \"]\""),
        ("[9223372036854775808]", "1:2: the integer is outside the range -9223372036854775808...9223372036854775807"),
        ("[1e400]", "1:2: the number is too large for a Double"),
        ("[\"abc", "1:2: the string that begins here isn't closed"),
        ("[\"abc\\", "1:2: the string that begins here isn't closed"),
        ("[\"a\tb\"]", "1:4: a string can't contain the control character U+0009; escape it"),
        ("[\"a\nb\"]", "1:4: a string can't contain the control character U+000A; escape it"),
        ("[\"\\x41\"]", "1:4: unknown escape sequence: \\ and \"x\"; to write a backslash, use \\\\"),
        ("{# a", "1:2: expected a name in double quotes or }, found \"#\"; a comment begins with //"),
        ("[\"\\u12G4\"]", "1:7: expected 4 hexadecimal digits, found \"G\"; to write a backslash, use \\\\"),
        ("[\"\\ud800abc\"]", "1:3: a surrogate without its other half"),
        ("[\"\\udc00\"]", "1:3: a surrogate without its other half"),
        ("[1 /* never", "1:4: the comment that begins here isn't closed"),
        ("[1 / 2]", "1:5: expected / or * after /, found U+0020"),
        ("{\"a\": 1,\n \"a\": 2}", "2:2: the name appears twice; the first is on line 1"),
        ("/* 🐡 */ [x]", "1:10: unknown word; only true, false, and null are written without quotes"),
        ("\u{FEFF}[x]", "1:2: unknown word; only true, false, and null are written without quotes"),
        ("[1,\r\n x]", "2:2: unknown word; only true, false, and null are written without quotes"),
        (String(repeating: "[", count: 513), "1:513: nested deeper than 512 levels"),
    ]

    @Test("Every syntax error of JSON says what is wrong and where", arguments: table)
    func message(text: String, message: String) {
        #expect(throws: PropertyError.self) { try PropertyValue(json: Array(text.utf8), name: "x.json") }
        do {
            _ = try PropertyValue(json: Array(text.utf8), name: "x.json")
        } catch {
            expect("\(error)", equals: "x.json:\(message)")
        }
    }

    static let bytes: [(bytes: [UInt8], message: String)] = [
        ([0x5B, 0x22, 0xC0, 0x80, 0x22, 0x5D], "1:3: not UTF-8: unexpected byte 0xC0"),
        ([0x5B, 0x22, 0x0A, 0xED, 0xA0, 0x80, 0x22, 0x5D], "2:1: not UTF-8: unexpected byte 0xED"),
        ([0x5B, 0x22, 0xF4, 0x90, 0x80, 0x80, 0x22, 0x5D], "1:3: not UTF-8: unexpected byte 0xF4"),
        ([0x5B, 0x22, 0xE2, 0x82, 0x22, 0x5D], "1:3: not UTF-8: unexpected byte 0xE2"),
        ([0x22, 0xC3], "1:2: not UTF-8: unexpected byte 0xC3"),
        ([0x5B, 0x80], "1:2: not UTF-8: unexpected byte 0x80"),
        ([0xFF, 0xFE, 0x5B, 0x00], "1:1: not UTF-8: the text looks like UTF-16"),
        ([0xFE, 0xFF, 0x00, 0x5B], "1:1: not UTF-8: the text looks like UTF-16"),
        ([0x5B, 0x00, 0x5D], "1:2: expected a value, found U+0000"),
        (
            [0x5B, 0x22, 0x00, 0x22, 0x5D],
            "1:3: a string can't contain the control character U+0000; escape it"
        ),
    ]

    @Test("Bytes that are no text are refused where they stand", arguments: bytes)
    func encoding(bytes: [UInt8], message: String) {
        do {
            let value = try PropertyValue(json: bytes, name: "x.json")
            Issue.record("read as \(value)")
        } catch {
            expect("\(error)", equals: "x.json:\(message)")
        }
    }

    @Test("What is too large to hold is refused in so many words")
    func tooLarge() {
        expect(SyntaxProblem.tooLarge.text(at: 0, in: NodeStore()), equals: "the text is larger than 1024 MB")
    }
}
