import FuguConfiguration
import Support
import Testing

@Suite struct TOMLErrorTests {
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
