import Foundation
import Support
import Testing

@testable import FuguConfiguration

@Suite struct FoundationDecodingTests {
    static let cases: [Case<FoundationDecodingTests>] = [
        Case("URL, UUID, Date, Decimal and Data are read from the forms a user expects", foundation),
        Case("What is none of these is refused with its place", refused),
        Case("The date and time types are read from dates and from RFC 3339 text, and never from one another", dates),
        Case("Bytes are read as Data and as an array of bytes", bytes),
        Case("A PropertyValue takes whatever is there, with this decoder and with others", anything),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<FoundationDecodingTests>) async throws {
        try await stated.run(self)
    }

    @Test("Durations need a unit and are exact")
    func durations() throws {
        let texts: [(String, Duration)] = [
            ("30s", .seconds(30)), ("1.5m", .seconds(90)), ("250ms", .milliseconds(250)), ("2h", .seconds(7200)),
            ("1d", .seconds(86_400)), ("10us", .microseconds(10)), ("10µs", .microseconds(10)),
            ("7ns", .nanoseconds(7)),
            ("1000000000000000000000ns", .seconds(1_000_000_000_000)), ("9223372036854775807s", .seconds(Int64.max)),
            ("000000000000000000000030s", .seconds(30)), ("1.5000000000000000000000m", .seconds(90)),
            ("-5s", .seconds(-5)), ("-0.5s", .milliseconds(-500)), ("0s", .zero),
            (
                "1234567.123456789012345678s",
                Duration(secondsComponent: 1_234_567, attosecondsComponent: 123_456_789_012_345_678)
            ),
        ]
        for (text, duration) in texts { try expect(read("a", "{\"a\": \"\(text)\"}"), equals: duration, "\(text)") }
        for text in [
            "30", "\"30\"", "\"s\"", "\"1 s\"", "\".5s\"", "\"5.s\"", "\"1.2.3s\"", "\"5x\"", "\"\"", "\"-s\"",
            "[30, 0]",
            "\"0.1234567891ns\"", "\"999999999999999999d\"", "\"9223372036854775808s\"",
            "\"\(String(repeating: "9", count: 60))s\"", "\"1s \"",
        ] {
            expect(
                message(text, Duration.self).contains("expected Duration with a unit, such as 30s, 1.5m or 250ms"),
                "\(text)")
        }
    }

    func foundation() throws {
        try expect(
            read("a", "{\"a\": \"https://x.org/p?q=1\"}", as: URL.self), equals: URL(string: "https://x.org/p?q=1"))
        let id = UUID()
        try expect(read("a", "{\"a\": \"\(id)\"}", as: UUID.self), equals: id)
        let date = Date(timeIntervalSince1970: 296_638_320.5)
        try expect(
            read("a", "{\"a\": \"1979-05-27T07:32:00.5+05:00\"}", as: Date.self),
            equals: date.addingTimeInterval(-18_000 + 0))
        try expect(
            readTOML("a", "a = 1979-05-27T02:32:00.5Z", as: Date?.self), equals: date.addingTimeInterval(-18_000))
        try expect(read("a", "{\"a\": 0.1}", as: Decimal.self), equals: Decimal(string: "0.1"))
        let precise = Decimal(string: "1000.00000000000000001")
        try expect(readTOML("a", "a = 1_000.000_000_000_000_000_01", as: Decimal.self), equals: precise)
        try expect(read("a", "{\"a\": 12}", as: Decimal.self), equals: 12)
        try expect(read("a", "{\"a\": \"19.99\"}", as: Decimal.self), equals: Decimal(string: "19.99"))
        try expect(read("a", "{\"a\": \"AQID\"}", as: Data.self), equals: Data([1, 2, 3]))
    }

    func refused() {
        expect(
            message("\"not a url\"", URL.self),
            equals:
                "x:1:7: a: expected URL (percent-encode spaces and the like, as in a%20b), found string \"not a url\"")
        expect(message("\"xyz\"", UUID.self), equals: "x:1:7: a: expected UUID, found string \"xyz\"")
        expect(
            message("\"1979-05-27\"", Date.self),
            equals: "x:1:7: a: expected Date with an offset, such as 1979-05-27T07:32:00Z, found string \"1979-05-27\"")
        expect(message("0", Date.self).contains("expected Date with an offset"))
        expect(message("\"12x\"", Decimal.self), equals: "x:1:7: a: expected Decimal, found string \"12x\"")
        expect(
            message("0.123456789012345678901234567890123456789", Decimal.self).contains(
                "expected Decimal, found double"))
        expect(message("[\"http://x\"]", URL.self), equals: "x:1:7: a: expected URL, found array")
        expect(message("{\"b\": 1}", URL.self).hasPrefix("x:1:7: a: expected URL, found table"))
        expect(message("{\"b\": 1}", Decimal.self).hasPrefix("x:1:7: a: expected Decimal, found table"))
        expect(message("[1]", Date.self).hasPrefix("x:1:7: a: expected Date with an offset"))
        expect(message("\"?\"", Data.self), equals: "x:1:7: a: expected data in Base64, found string \"?\"")
    }

    func dates() throws {
        let date = LocalDate(year: 1979, month: 5, day: 27)
        try expect(readTOML("a", "a = 1979-05-27", as: LocalDate.self), equals: date)
        try expect(read("a", "{\"a\": \"1979-05-27\"}", as: LocalDate.self), equals: date)
        try expect(readTOML("a", "a = [07:32:00]", as: [LocalTime].self), equals: [LocalTime(hour: 7, minute: 32)])
        try expect(
            readTOML("a", "a = 1979-05-27 07:32", as: LocalDateTime.self),
            equals: LocalDateTime(date: date, time: LocalTime(hour: 7, minute: 32)))
        let error = #expect(throws: PropertyError.self) { try readTOML("a", "a = 1979-05-27", as: OffsetDateTime.self) }
        expect(error?.description, equals: "x:1:5: a: expected OffsetDateTime, found local date 1979-05-27")
        let coded = try JSONDecoder().decode([LocalDate].self, from: try JSONEncoder().encode([date]))
        expect(coded, equals: [date])
    }

    func bytes() throws {
        let snapshot = try DictionarySource(["a": .data([1, 2])], name: "x").load()
        try expect(snapshot.value(named: "a")?.decode(Data.self), equals: Data([1, 2]))
        try expect(snapshot.value(named: "a")?.decode([UInt8].self), equals: [1, 2])
        try expect(read("a", "{\"a\": [1, 2]}", as: [UInt8].self), equals: [1, 2])
    }

    func anything() throws {
        try expect(
            readTOML("a", "a = {b = [1, 2.5, 'x', 07:32:00]}", as: PropertyValue.self).description,
            equals: "{b = [1, 2.5, \"x\", 07:32:00]}")
        let other = try JSONDecoder().decode(PropertyValue.self, from: Data("{\"b\": [1, true, \"x\"]}".utf8))
        expect(other, equals: ["b": [1, true, "x"]])
    }
}
