import FuguConfiguration
import Support
import Testing

@Suite struct ParserValueTests {
    static let cases: [Case<ParserValueTests>] = [
        Case(
            "Comments of JSON do not touch what stands in strings, CRLF files or strings ending in a backslash",
            comments),
        Case("Integers are exact to 64 bits, and numbers with a fraction or an exponent are doubles", numbers),
        Case("Null is left out of a table and is an empty table elsewhere", null),
        Case("Escapes give the characters they name", escapes),
        Case("Inline tables take line ends, comments and a trailing comma", inlineTables),
        Case("Large tables refuse a name given twice as small ones do", largeTables),
        Case("A value prints on one line as TOML would write it", description),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<ParserValueTests>) async throws { try await stated.run(self) }

    private func json(_ text: String) throws -> PropertyValue { try PropertyValue(json: Array(text.utf8), name: "x") }
    private func toml(_ text: String) throws -> PropertyValue { try PropertyValue(toml: Array(text.utf8), name: "x") }

    func comments() throws {
        let text =
            "{\r\n  // one\r\n  \"url\": \"http://x/*y*/\", /* two\r\n // */ "
            + "\"path\": \"C:\\\\\", // end\r\n}\r\n// last"
        try expect(json(text), equals: ["url": "http://x/*y*/", "path": "C:\\"])
        try expect(json("[\"\\\\\" /* \" */, 1,]//"), equals: ["\\", 1])
        try expect(json("/* ** */ [/***/]"), equals: [])
    }

    func numbers() throws {
        try expect(
            json("[9223372036854775807, -9223372036854775808, 9007199254740993, -0, 1e2, 1.0, 0.1, -2.5E-3]"),
            equals: [
                9_223_372_036_854_775_807, .integer(.min), 9_007_199_254_740_993, 0, 100.0, 1.0, 0.1, -0.0025,
            ])
        try expect(
            toml("a = [0xDEADBEEF, 0o755, 0b1101, 1_000, +7, -0, 5e+22, 6.626e-34, -inf]"),
            equals: ["a": [0xDEAD_BEEF, 0o755, 0b1101, 1000, 7, 0, 5e22, 6.626e-34, .double(-.infinity)]])
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

    func null() throws {
        try expect(json("{\"a\": null, \"b\": [null]}"), equals: ["b": [[:]]])
    }

    func escapes() throws {
        try expect(json("[\"\\u0041\\ud83d\\udc21\\n\\/\\\"\\\\\\b\\f\\r\\t\"]"), equals: ["A🐡\n/\"\\\u{8}\u{C}\r\t"])
        try expect(toml("a = \"\\x41\\u00e9\\U0001F421\\e\\t\\\"\""), equals: ["a": "Aé🐡\u{1B}\t\""])
        try expect(toml("a = \"\"\"\none \\\n   \\\r\n two\"\"\""), equals: ["a": "one two"])
        try expect(toml("a = \"\"\"x\"\"\"\"\""), equals: ["a": "x\"\""])
        try expect(toml("a = ''''x'''''"), equals: ["a": "'x''"])
        try expect(toml("a = 'C:\\'"), equals: ["a": "C:\\"])
        try expect(toml("\"\\x61\" = 1"), equals: ["a": 1])
    }

    @Test("The four kinds of dates and times are read, seconds being optional, and print as RFC 3339")
    func dates() throws {
        let text = """
            a = 1979-05-27T07:32:00.123456789123-07:30
            b = 1979-05-27 07:32Z
            c = 1979-05-27t07:32:00.5
            d = 1979-05-27
            e = 07:32
            """
        let date = LocalDate(year: 1979, month: 5, day: 27)
        let time = LocalTime(hour: 7, minute: 32)
        let precise = LocalTime(hour: 7, minute: 32, nanosecond: 123_456_789)
        let half = LocalTime(hour: 7, minute: 32, nanosecond: 500_000_000)
        let value = try toml(text)
        expect(
            value,
            equals: [
                "a": .offsetDateTime(OffsetDateTime(date: date, time: precise, offsetMinutes: -450)),
                "b": .offsetDateTime(OffsetDateTime(date: date, time: time)),
                "c": .localDateTime(LocalDateTime(date: date, time: half)), "d": .localDate(date),
                "e": .localTime(time),
            ])
        expect(
            "\(value)",
            equals: "{a = 1979-05-27T07:32:00.123456789-07:30, b = 1979-05-27T07:32:00Z, "
                + "c = 1979-05-27T07:32:00.5, d = 1979-05-27, e = 07:32:00}")
    }

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
        let moment = try #require(OffsetDateTime(text))
        expect(moment.secondsSince1970, equals: seconds)
        expect(moment.description, equals: text)
        if moment.offsetMinutes == 0 { expect(OffsetDateTime(secondsSince1970: seconds), equals: moment) }
    }

    @Test("A day, a time or an offset that does not exist stops the program")
    func impossible() async {
        await #expect(processExitsWith: .failure) { _ = LocalDate(year: 2023, month: 2, day: 29) }
        await #expect(processExitsWith: .failure) { _ = LocalTime(hour: 24, minute: 0) }
        await #expect(processExitsWith: .failure) {
            let midnight = LocalTime(hour: 0, minute: 0)
            _ = OffsetDateTime(date: LocalDate(year: 1, month: 1, day: 1), time: midnight, offsetMinutes: 1440)
        }
        expect(LocalDate("2023-02-29") == nil)
        expect(LocalTime("24:00") == nil)
        expect(OffsetDateTime("1979-05-27") == nil)
        expect(OffsetDateTime(secondsSince1970: .max) == nil)
        expect(OffsetDateTime(secondsSince1970: .min) == nil)
    }

    func largeTables() throws {
        let members = (0..<5000).map { "\"k\($0)\": \($0)" }
        let text = "{" + members.joined(separator: ",") + "}"
        guard case .table(let table) = try json(text) else { return expect(Bool(false), "no table") }
        expect(table.count, equals: 5000)
        expect(table["k4999"], equals: 4999)
        #expect(throws: PropertyError.self) { try json(text.dropLast() + ", \"k17\": 0}") }
    }

    func description() {
        let value: PropertyValue = ["b": [1, 2.5, true], "a key": "say \"hi\"\n", "d": .data([1, 2])]
        expect(value.description, equals: "{\"a key\" = \"say \\\"hi\\\"\\n\", b = [1, 2.5, true], d = <2 bytes>}")
    }
}
