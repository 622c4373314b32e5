import Foundation
import Support
import Testing

@testable import FuguConfiguration

struct ParserValueTests {
    private func json(_ text: String) throws -> PropertyValue { try PropertyValue(json: Array(text.utf8), name: "x") }
    private func toml(_ text: String) throws -> PropertyValue { try PropertyValue(toml: Array(text.utf8), name: "x") }

    @Test("Comments of JSON do not touch what stands in strings, CRLF files or strings ending in a backslash")
    func comments() throws {
        let text =
            "{\r\n  // one\r\n  \"url\": \"http://x/*y*/\", /* two\r\n // */ "
            + "\"path\": \"C:\\\\\", // end\r\n}\r\n// last"
        try expect(json(text), equals: ["url": "http://x/*y*/", "path": "C:\\"])
        try expect(json("[\"\\\\\" /* \" */, 1,]//"), equals: ["\\", 1])
        try expect(json("/* ** */ [/***/]"), equals: [])
    }

    @Test("Numbers of JSON are exact, escapes give their characters, and null is left out of a table")
    func numbers() throws {
        // Integers are exact to 64 bits, and numbers with a fraction or an exponent are doubles.
        do {
            try expect(
                json("[9223372036854775807, -9223372036854775808, 9007199254740993, -0, 1e2, 1.0, 0.1, -2.5E-3]"),
                equals: [
                    9_223_372_036_854_775_807, -9_223_372_036_854_775_808, 9_007_199_254_740_993, 0, 100.0, 1.0, 0.1,
                    -0.0025,
                ])
            try expect(
                toml("a = [0xDEADBEEF, 0o755, 0b1101, 1_000, +7, -0, 5e+22, 6.626e-34, -inf]"),
                equals: ["a": [0xDEAD_BEEF, 0o755, 0b1101, 1000, 7, 0, 5e22, 6.626e-34, .double(-.infinity)]])
        }
        // Null is left out of a table and is an empty table elsewhere.
        do {
            try expect(json("{\"a\": null, \"b\": [null]}"), equals: ["b": [[:]]])
        }
        // Escapes give the characters they name.
        do {
            try expect(
                json("[\"\\u0041\\ud83d\\udc21\\n\\/\\\"\\\\\\b\\f\\r\\t\"]"), equals: ["A🐡\n/\"\\\u{8}\u{C}\r\t"])
            try expect(toml("a = \"\\x41\\u00e9\\U0001F421\\e\\t\\\"\""), equals: ["a": "Aé🐡\u{1B}\t\""])
            try expect(toml("a = \"\"\"\none \\\n   \\\r\n two\"\"\""), equals: ["a": "one two"])
            try expect(toml("a = \"\"\"x\"\"\"\"\""), equals: ["a": "x\"\""])
            try expect(toml("a = ''''x'''''"), equals: ["a": "'x''"])
            try expect(toml("a = 'C:\\'"), equals: ["a": "C:\\"])
            try expect(toml("\"\\x61\" = 1"), equals: ["a": 1])
        }
    }

    @Test(
        "A double is the one nearest to what is written",
        arguments: [
            "0.1", "1.7976931348623157e308", "5e-324", "123456789012345678", "2.2250738585072011e-308",
            "9007199254740993.0",
            "0.30000000000000004", "1e22", "1e23", "123456.789e-10", "3.14159265358979323846264338327950288",
        ])
    func nearest(text: String) throws {
        let written = text.contains(".") || text.contains("e") ? text : text + ".0"
        try expect(json("[\(written), -\(written)]"), equals: [.double(Double(text)!), .double(-Double(text)!)])
    }

    @Test("Dates and times are read, and print as RFC 3339; a day, a time or an offset that does not exist is none")
    func dates() throws {
        // The four kinds of dates and times are read, seconds being optional, and print as RFC 3339.
        do {
            let text = """
                a = 1979-05-27T07:32:00.123456789123-07:30
                b = 1979-05-27 07:32Z
                c = 1979-05-27t07:32:00.5
                d = 1979-05-27
                e = 07:32
                """
            let value = try toml(text)
            expect(
                value,
                equals: [
                    "a": .date("1979-05-27T07:32:00.123456789-07:30"), "b": .date("1979-05-27T07:32:00Z"),
                    "c": .date("1979-05-27T07:32:00.5"), "d": .date("1979-05-27"), "e": .date("07:32:00"),
                ])
            expect(
                "\(value)",
                equals: "{a = 1979-05-27T07:32:00.123456789-07:30, b = 1979-05-27T07:32:00Z, "
                    + "c = 1979-05-27T07:32:00.5, d = 1979-05-27, e = 07:32:00}")
        }
        // A day, a time or an offset that does not exist is none, nor is a moment outside the years of four digits.
        do {
            for text in [
                "2023-02-29", "2023-04-31", "2023-13-01", "24:00", "07:60", "07:32:61", "1979-05-27T07:32+24:00",
            ] {
                expect(Moment(text) == nil, "\(text)")
            }
            for seconds in [.max, .min, 253_402_300_800, -62_167_219_201] as [Int64] {
                expect(Moment(secondsSince1970: seconds, nanosecond: 0) == nil, "\(seconds)")
            }
        }
    }

    @Test("Inline tables take line ends, comments and a trailing comma")
    func inlineTables() throws {
        try expect(
            toml("a = { # first\n  b.c = 1, b.d = 2,\r\n  e = [ {}, ], # last\n}\n"),
            equals: ["a": ["b": ["c": 1, "d": 2], "e": [[:]]]])
    }

    @Test(
        "A moment counts its seconds from 1970, before and after, across leap days",
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("1969-12-31T23:59:59Z", -1), ("2000-02-29T12:00:00+01:00", 951_822_000),
            ("0000-01-01T00:00:00Z", -62_167_219_200), ("9999-12-31T23:59:59Z", 253_402_300_799),
        ] as [(String, Int64)])
    func moments(text: String, seconds: Int64) throws {
        let moment = try #require(Moment(text))
        expect(moment.secondsSince1970, equals: seconds)
        expect(moment.description, equals: text)
        if moment.offset == 0 {
            expect(Moment(secondsSince1970: seconds, nanosecond: 0)?.description, equals: text)
        }
    }

    @Test("Large tables refuse a name given twice as small ones do")
    func largeTables() throws {
        let members = (0..<5000).map { "\"k\($0)\": \($0)" }
        let text = "{" + members.joined(separator: ",") + "}"
        guard case .table(let table) = try json(text) else { return expect(Bool(false), "no table") }
        expect(table.count, equals: 5000)
        expect(table["k4999"], equals: 4999)
        #expect(throws: PropertyError.self) { try json(text.dropLast() + ", \"k17\": 0}") }
    }

    @Test("A value prints on one line as TOML would write it")
    func description() {
        let value: PropertyValue = ["b": [1, 2.5, true], "a key": "say \"hi\"\n", "d": .data([1, 2])]
        expect(value.description, equals: "{\"a key\" = \"say \\\"hi\\\"\\n\", b = [1, 2.5, true], d = <2 bytes>}")
    }
}

@Suite(.enabled(if: SharedCases.isThere, "\(SharedCases.skipReason)")) struct JSONConformanceTests {}

extension JSONConformanceTests {
    /// Allowed here on top of JSON.
    private static let allowed: Set<String> = [
        "n_object_trailing_comment", "n_object_trailing_comment_slash_open", "n_structure_object_with_comment",
        "n_array_extra_comma", "n_array_number_and_comma", "n_object_trailing_comma",
    ]
    /// Mistakes in a configuration.
    private static let refused: Set<String> = ["y_object_duplicated_key", "y_object_duplicated_key_and_value"]

    @Test("Every case of the public JSON suite is read or refused as it should be")
    func everyCase() throws {
        let cases = try SharedCases.files("json", withExtension: "json")
        for (file, bytes) in cases {
            let name = String(file.dropLast(".json".count))
            let value = try? PropertyValue(json: bytes, name: file)
            let mustParse = name.hasPrefix("y_") && !Self.refused.contains(name) || Self.allowed.contains(name)
            if mustParse { expect(value != nil, "\(file) must parse") }
            if !mustParse, !name.hasPrefix("i_") { expect(value == nil, "\(file) must be refused") }
        }
        expect(cases.count >= 154)
    }
}

struct JSONErrorTests {
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

@Suite(.enabled(if: SharedCases.isThere, "\(SharedCases.skipReason)")) struct TOMLConformanceTests {}

extension TOMLConformanceTests {
    @Test("Every case of the public TOML suite gives the values that it expects, or is refused with line and column")
    func valid() throws {
        // Every valid case of the public TOML suite gives the values that the suite expects.
        do {
            let cases = try SharedCases.files("toml/valid", withExtension: "toml")
            let expected = Dictionary(uniqueKeysWithValues: try SharedCases.files("toml/valid", withExtension: "json"))
            for (file, bytes) in cases {
                let tagged = try PropertyValue(json: #require(expected[file.dropLast(4) + "json"]), name: file)
                do {
                    let value = try PropertyValue(toml: bytes, name: file)
                    expect(Self.isEqual(value, tagged), "\(file): \(value)")
                } catch {
                    Issue.record("\(error)")
                }
            }
            expect(cases.count >= 100)
        }
        // Every invalid case of the public TOML suite is refused with line and column.
        do {
            let cases = try SharedCases.files("toml/invalid", withExtension: "toml")
            for (file, bytes) in cases {
                do {
                    let value = try PropertyValue(toml: bytes, name: file)
                    Issue.record("\(file) was read as \(value)")
                } catch {
                    expect(error.source, equals: file)
                    expect((error.line ?? 0) > 0)
                    expect((error.column ?? 0) > 0)
                }
            }
            expect(cases.count >= 200)
        }
    }

    /// The suite writes each scalar as a table of its type and its value.
    private static func isEqual(_ value: PropertyValue, _ tagged: PropertyValue) -> Bool {
        switch (value, tagged) {
        case (.array(let values), .array(let expected)):
            return values.count == expected.count && zip(values, expected).allSatisfy { isEqual($0, $1) }
        case (.table(let members), .table(let expected)):
            return members.count == expected.count
                && members.allSatisfy { name, member in expected[name].map { isEqual(member, $0) } ?? false }
        case (_, .table(let tag)):
            guard case .string(let type)? = tag["type"], case .string(let text)? = tag["value"] else { return false }
            return isScalar(value, type, text)
        default: return false
        }
    }

    private static func isScalar(_ value: PropertyValue, _ type: String, _ text: String) -> Bool {
        switch value {
        case .bool(let value): type == "bool" && "\(value)" == text
        case .integer(let value): type == "integer" && value == Int128(text)
        case .double(let value): type == "float" && (value == Double(text) || value.isNaN && text.hasSuffix("nan"))
        case .string(let value): type == "string" && value == text
        case .date(let value): isMoment(value, type, text)
        case .data, .array, .table: false
        }
    }

    private static func isMoment(_ value: String, _ type: String, _ text: String) -> Bool {
        guard let moment = Moment(value), let expected = Moment(text), moment.description == value else { return false }
        switch type {
        case "datetime":
            return moment.kind == "offset date-time" && moment.secondsSince1970 == expected.secondsSince1970
                && moment.time?.nanosecond == expected.time?.nanosecond
        case "datetime-local": return moment.kind == "local date-time" && value == expected.description
        case "date-local": return moment.kind == "local date" && value == expected.description
        default: return type == "time-local" && moment.kind == "local time" && value == expected.description
        }
    }
}

struct TOMLErrorTests {
    static let syntax: [(text: String, message: String)] = [
        ("= 1", "1:1: expected a key, found \"=\""),
        ("a", "1:2: expected = or . after the key, found the end of the text"),
        ("a b = 1", "1:3: expected = or . after the key, found \"b\""),
        ("a.= 1", "1:3: expected a key, found \"=\""),
        ("a = ", "1:5: expected a value, found the end of the text"),
        ("a = # none", "1:5: expected a value, found \"#\""),
        ("a = 1 b = 2", "1:7: expected the end of the line, found \"b\""),
        ("λ = 1", "1:1: expected a key, found \"λ\"; put a name with this character in quotes"),
        (
            "gr\u{f6}sse = 1",
            "1:3: expected = or . after the key, found \"\u{f6}\"; put a name with this character in quotes"
        ),
        ("; a", "1:1: expected a key, found \";\"; a comment begins with #"),
        ("// a", "1:1: expected a key, found \"/\"; a comment begins with #"),
        ("[a", "1:3: expected ], found the end of the text"),
        ("[]", "1:2: expected a key, found \"]\""),
        ("[[a]", "1:5: expected ]], found the end of the text"),
        ("[a] b = 1", "1:5: expected the end of the line, found \"b\""),
        ("a = [1 2]", "1:8: expected , or ] of the array opened on line 1, found \"2\""),
        ("a = {b = 1 c = 2}", "1:12: expected , or } of the table opened on line 1, found \"c\""),
        ("a = {,}", "1:6: expected a key, found \",\""),
        ("\"\"\"a\"\"\" = 1", "1:1: a key can't be a multiline string"),
        ("'''a''' = 1", "1:1: a key can't be a multiline string"),
        ("a = 1\rb = 2", "1:6: a carriage return must be followed by a line feed"),
        ("# \u{1}", "1:3: a comment can't contain the control character U+0001"),
        ("a = hunter2", "1:5: unknown value; put a string in quotes"),
        ("a = True", "1:5: unknown value; write true"),
        (String(repeating: "a.", count: 513) + "b = 1", "1:1023: nested deeper than 512 levels"),
        ("a = " + String(repeating: "[", count: 513), "1:516: nested deeper than 512 levels"),
        ("[" + String(repeating: "a.", count: 513) + "b]", "1:1024: nested deeper than 512 levels"),
    ]

    static let strings: [(text: String, message: String)] = [
        ("a = \"abc", "1:5: the string that begins here isn't closed"),
        ("a = \"abc\n\"", "1:5: the string that begins here isn't closed"),
        ("a = 'abc", "1:5: the string that begins here isn't closed"),
        ("a = \"\"\"abc\n\n", "1:5: the string that begins here isn't closed"),
        ("a = '''abc''", "1:5: the string that begins here isn't closed"),
        ("a = \"abc\\", "1:5: the string that begins here isn't closed"),
        ("a = \"a\u{1}\"", "1:7: a string can't contain the control character U+0001; escape it"),
        ("a = '\u{7F}'", "1:6: a string can't contain the control character U+007F; escape it"),
        (
            "a = \"\\q\"",
            "1:7: unknown escape sequence: \\ and \"q\"; to write a backslash, use \\\\, or put the string in single quotes"
        ),
        (
            "a = \"\"\"\\ a\"\"\"",
            "1:9: unknown escape sequence: \\ and U+0020; to write a backslash, use \\\\, or put the string in single quotes"
        ),
        (
            "a = \"\\xG0\"",
            "1:8: expected 2 hexadecimal digits, found \"G\"; to write a backslash, use \\\\, or put the string in single quotes"
        ),
        ("a = \"\\u00\"", "1:10: expected 4 hexadecimal digits, found '\"'; to write a backslash, use \\\\"),
        (
            "a = \"\\U0000\"",
            "1:12: expected 8 hexadecimal digits, found '\"'; to write a backslash, use \\\\, or put the string in single quotes"
        ),
        ("a = \"\\ud800\"", "1:6: the escape sequence isn't a Unicode scalar"),
        ("a = \"\\U00110000\"", "1:6: the escape sequence isn't a Unicode scalar"),
    ]

    static let numbers: [(text: String, message: String)] = [
        ("a = 01", "1:5: a number can't begin with a zero followed by another digit"),
        ("a = -01", "1:6: a number can't begin with a zero followed by another digit"),
        ("a = 1__0", "1:7: an underscore in a number must be between two digits"),
        ("a = 1_", "1:6: an underscore in a number must be between two digits"),
        ("a = 0x_1", "1:7: an underscore in a number must be between two digits"),
        ("a = 1._5", "1:7: an underscore in a number must be between two digits"),
        ("a = +0x1", "1:5: a number with the prefix 0x, 0o, or 0b can't have a sign"),
        ("a = 0b2", "1:5: malformed number"),
        ("a = 1.", "1:5: the decimal point needs a digit on both sides"),
        ("a = .5", "1:5: the decimal point needs a digit on both sides"),
        ("a = 1e", "1:5: malformed number"),
        ("a = 1.2.3", "1:5: malformed number"),
        ("a = 12abc", "1:5: malformed number"),
        ("a = +", "1:5: malformed number"),
        ("a = 9223372036854775808", "1:5: the integer is outside the range -9223372036854775808...9223372036854775807"),
        ("a = 0xffffffffffffffff", "1:5: the integer is outside the range -9223372036854775808...9223372036854775807"),
        ("a = 1e999", "1:5: the number is too large for a Double"),
        (
            "a = 1979-5-27",
            "1:5: malformed date or time; write 2024-01-05, 07:32:00, or both with a T between them"
        ),
        (
            "a = 1979-05-27T",
            "1:5: malformed date or time; write 2024-01-05, 07:32:00, or both with a T between them"
        ),
        ("a = 1979-13-27", "1:5: the month isn't in 1...12"),
        ("a = 2023-02-29", "1:5: the month has no such day"),
        ("a = 24:00:00", "1:5: the hour isn't in 0...23"),
        ("a = 23:60:00", "1:5: the minute isn't in 0...59"),
        ("a = 23:59:61", "1:5: the second isn't in 0...60"),
        ("a = 1979-05-27T07:32:00+24:00", "1:5: the offset is a day or more"),
    ]

    static let tables: [(text: String, message: String)] = [
        ("a = 1\na = 2", "2:1: the name appears twice; the first is on line 1"),
        ("a = 1\n\"\\u0061\" = 2", "2:1: the name appears twice; the first is on line 1"),
        ("[a]\n[a]", "2:2: the name appears twice; the first is on line 1"),
        ("a = {b = 1, b = 2}", "1:13: the name appears twice; the first is on line 1"),
        ("a = 1\n[a]", "2:2: the name appears twice; the first is on line 1"),
        ("a.b = 1\n[a]", "2:2: the name appears twice; the first is on line 1"),
        ("a = 1\na.b = 2", "2:1: the name already has a value that isn't a table, on line 1"),
        ("a = 1\n[a.b]", "2:2: the name already has a value that isn't a table, on line 1"),
        ("a = {}\na.b = 2", "2:1: the table on line 1 is written in braces and can't be extended"),
        ("a = {}\n[a.b]", "2:2: the table on line 1 is written in braces and can't be extended"),
        ("a = []\n[a.b]", "2:2: the array on line 1 is written in brackets and can't be extended"),
        ("a = []\na.b = 1", "2:1: the array on line 1 is written in brackets and can't be extended"),
        ("a = []\n[[a]]", "2:3: the name is already in use, not as an array of tables, on line 1"),
        ("[a]\n[[a]]", "2:3: the name is already in use, not as an array of tables, on line 1"),
        ("[a.b]\n[a]\nb.c = 1", "3:1: the table on line 1 has a header and can't be extended by a dotted key"),
    ]

    @Test("Every syntax error of TOML says what is wrong and where", arguments: syntax + strings + numbers + tables)
    func message(text: String, message: String) {
        do {
            let value = try PropertyValue(toml: Array(text.utf8), name: "x.toml")
            Issue.record("\(text) was read as \(value)")
        } catch {
            expect("\(error)", equals: "x.toml:\(message)")
        }
    }

    @Test("Columns count Unicode scalars, behind a byte order mark, emoji and CRLF too")
    func positions() {
        let table: [(text: String, place: String)] = [
            ("\u{FEFF}a = x", "1:5"), ("a = \"🐡🐡\" x", "1:10"), ("# 🐡 comment\r\nb = x", "2:5"),
            ("a = '''\r\n🐡\r\n''' x", "3:5"), ("a = \"e\u{301}\" x", "1:10"),
        ]
        for (text, place) in table {
            do {
                let value = try PropertyValue(toml: Array(text.utf8), name: "x")
                Issue.record("read as \(value)")
            } catch {
                expect("\(error)".hasPrefix("x:\(place): "), "\(error)")
            }
        }
    }
}

struct LocatedErrorTests {
    private struct Server: Decodable {
        struct Limits: Decodable { var load: Double }
        var host: String
        var port: UInt16
        var limits: Limits?
    }

    private static let servers = """
        # 🐡
        [[servers]]
        host = "a"
        port = 80

        [[servers]]
        host = "b"
        port = 80000

        [servers.limits]
        load = 1
        """

    @Test(
        "An error has the place and the dotted name, inside an array, of a missing member, and past the end of an array (law 16)"
    )
    func deep() {
        // An error deep inside an array of tables carries the place and the dotted name.
        do {
            let error = #expect(throws: PropertyError.self) { try readTOML("servers", Self.servers, as: [Server].self) }
            expect(error?.description, equals: "x:8:8: servers[1].port: expected UInt16 (0...65535), found integer")
            expect(error?.line == 8 && error?.column == 8 && error?.name == "servers[1].port")
            expect(error?.expected, equals: "UInt16 (0...65535)")
            expect(error?.found, equals: "integer")
            expect(error?.source, equals: "x")
        }
        // A missing member is named at the place of its table.
        do {
            let text = "{\"a\": [{\"host\": \"h\", \"port\": 1}, {\"host\": \"h\"}], \"b\": {}}"
            let error = #expect(throws: PropertyError.self) { try read("a", text, as: [Server].self) }
            expect(error?.description, equals: "x:1:34: a[1].port: missing; expected UInt16")
            struct Deep: Decodable { var limits: Server.Limits }
            let other = #expect(throws: PropertyError.self) { try read("b", text, as: Deep.self) }
            expect(other?.description, equals: "x:1:55: b.limits: missing; expected Limits")
        }
        // An array that is too short is named at the place of its next element.
        do {
            struct Pair: Decodable {
                init(from decoder: any Decoder) throws {
                    var list = try decoder.unkeyedContainer()
                    _ = (try list.decode(Int.self), try list.decode(Int.self))
                }
            }
            expect(message("[1]", Pair.self), equals: "x:1:7: a[1]: missing; expected Int")
        }
    }

    @Test("What a type itself says against a value is reported with its place, unless it is secret (law 17)")
    func ownReasons() throws {
        struct Port: Decodable {
            struct Reserved: Error, CustomStringConvertible {
                var port: Int; var description: String { "port \(port) is reserved" }
            }
            init(from decoder: any Decoder) throws {
                throw Reserved(port: try decoder.singleValueContainer().decode(Int.self))
            }
        }
        expect(message("[22]", [Port].self), equals: "x:1:8: a[0]: port 22 is reserved")
        let value = try #require(try JSONSource(text: "{\"a\": 22}", name: "x").load().value(named: "a"))
        let error = #expect(throws: PropertyError.self) { try value.decode(Port.self, quotesValues: false) }
        expect(error?.description, equals: "x:1:7: a: the value is invalid")
    }

    @Test("An error about a secret has the kind of the value and never the value, and a long string is cut (law 17)")
    func secrets() throws {
        // An error about a secret has the kind of the value and never the value.
        do {
            let snapshot = try TOMLSource(text: "a = 'hunter2'\nb = ['hunter2']\nm = 'hunter2'", name: "x").load()
            let value = try #require(snapshot.value(named: "a"))
            let error = #expect(throws: PropertyError.self) { try value.decode(Int.self, quotesValues: false) }
            expect(error?.description, equals: "x:1:5: a: expected Int, found string")
            let list = try #require(snapshot.value(named: "b"))
            let listError = #expect(throws: PropertyError.self) { try list.decode([Int].self, quotesValues: false) }
            expect(listError?.description, equals: "x:2:6: b[0]: expected Int, found string")
            let mode = try #require(snapshot.value(named: "m"))
            let modeError = #expect(throws: PropertyError.self) { try mode.decode(Mode.self, quotesValues: false) }
            expect(modeError?.description, equals: "x:3:5: m: expected one of slow, fast, found string")
            for error in [error, listError, modeError] {
                expect(!String(reflecting: error as Any).contains("hunter2"))
            }
            let quoted = try #require(#expect(throws: PropertyError.self) { try value.decode(Int.self) })
            expect(quoted.description, equals: "x:1:5: a: expected Int, found string \"hunter2\"")
            expect(quoted.masked.description, equals: "x:1:5: a: expected Int, found something else")
            expect(!String(reflecting: quoted.masked).contains("hunter2"))
        }
        // A long string is cut in an error.
        do {
            let text = String(repeating: "x", count: 50)
            expect(
                message("\"\(text)\"", Int.self), equals: "x:1:7: a: expected Int, found string \"\(text.prefix(40))…\""
            )
        }
    }
}

/// The public conformance suites, which lie beside the project and are never copied into it.
enum SharedCases {
    /// `shared/conformance` in the nearest directory above this file; nil if there is none.
    static let folder: URL? = {
        var directory = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        while directory.path != "/" {
            directory.deleteLastPathComponent()
            let candidate = directory.appendingPathComponent("shared/conformance")
            if FileManager.default.fileExists(atPath: candidate.path) { return candidate }
        }
        return nil
    }()

    static let isThere = folder != nil
    static let skipReason = "shared/conformance is not beside the project"

    static func files(_ suite: String, withExtension suffix: String) throws -> [(name: String, bytes: [UInt8])] {
        let suite = folder!.appendingPathComponent(suite)
        let paths = FileManager.default.enumerator(atPath: suite.path)?.compactMap { $0 as? String } ?? []
        return try paths.filter { $0.hasSuffix("." + suffix) }.sorted().map { path in
            (path, Array(try Data(contentsOf: suite.appendingPathComponent(path))))
        }
    }
}
