import Foundation
import Fugu
import Support
import Testing

@testable import FuguConfiguration

/// One member of each type that decoders know.
private struct Scalars: Decodable, Sendable, Equatable {
    var bool = true
    var string = "text"
    var double = 0.5
    var float: Float = 0.25
    var int = -1
    var int8: Int8 = -8
    var int16: Int16 = -16
    var int32: Int32 = -32
    var int64: Int64 = -64
    var int128: Int128 = -128
    var uint: UInt = 1
    var uint8: UInt8 = 8
    var uint16: UInt16 = 16
    var uint32: UInt32 = 32
    var uint64: UInt64 = 64
    var uint128: UInt128 = 128
}

/// The same in a list, one after the other.
private struct ListedScalars: Decodable, Sendable {
    var scalars = Scalars()
    var path: [String]

    init(from decoder: any Decoder) throws {
        var list = try decoder.unkeyedContainer()
        path = list.codingPath.map(\.stringValue)
        scalars.bool = try list.decode(Bool.self)
        scalars.string = try list.decode(String.self)
        scalars.double = try list.decode(Double.self)
        scalars.float = try list.decode(Float.self)
        scalars.int = try list.decode(Int.self)
        scalars.int8 = try list.decode(Int8.self)
        scalars.int16 = try list.decode(Int16.self)
        scalars.int32 = try list.decode(Int32.self)
        scalars.int64 = try list.decode(Int64.self)
        scalars.int128 = try list.decode(Int128.self)
        scalars.uint = try list.decode(UInt.self)
        scalars.uint8 = try list.decode(UInt8.self)
        scalars.uint16 = try list.decode(UInt16.self)
        scalars.uint32 = try list.decode(UInt32.self)
        scalars.uint64 = try list.decode(UInt64.self)
        scalars.uint128 = try list.decode(UInt128.self)
    }
}

/// Reads what is nested by hand, and a class's part through `super`.
private struct Nested: Decodable, Sendable {
    private enum Keys: CodingKey { case list, inner, parent }
    private enum Inner: CodingKey { case name }

    let names: [String]
    let inherited: Int
    let userInfoIsEmpty: Bool

    init(from decoder: any Decoder) throws {
        let table = try decoder.container(keyedBy: Keys.self)
        var list = try table.nestedUnkeyedContainer(forKey: .list)
        let first = try list.nestedContainer(keyedBy: Inner.self).decode(String.self, forKey: .name)
        let second = try list.superDecoder().container(keyedBy: Inner.self).decode(String.self, forKey: .name)
        let inner = try table.nestedContainer(keyedBy: Inner.self, forKey: .inner)
        names = [first, second, try inner.decode(String.self, forKey: .name)]
        inherited = try Int(from: table.superDecoder(forKey: .parent))
        userInfoIsEmpty = decoder.userInfo.isEmpty
    }
}

private enum Action: Decodable, Sendable { case start(delay: Int), stop }

struct ScalarDecodingTests {
    private static let members = """
        bool = true
        string = "text"
        double = 0.5
        float = 0.25
        int = -1
        int8 = -8
        int16 = -16
        int32 = -32
        int64 = -64
        int128 = -128
        uint = 1
        uint8 = 8
        uint16 = 16
        uint32 = 32
        uint64 = 64
        uint128 = 128
        """

    private func container(_ text: String) throws -> Container {
        let container = Container()
        try container.apply(TOMLSource(text: text, name: "x"))
        return container
    }

    @Test(
        "A member of each type that decoders know is decoded, in a table and in a list, which says what it lacks (law 16)"
    )
    func everyType() throws {
        // A member of each type that decoders know is decoded, in a table and in a list.
        do {
            let list = Self.members.split(separator: "\n").map { $0.split(separator: "= ")[1] }.joined(separator: ", ")
            let container = try container("list = [\(list)]\n[table]\n" + Self.members)
            try expect(container.property("table", as: Scalars.self), equals: Scalars())
            let listed = try container.property("list", as: ListedScalars.self)
            expect(listed?.scalars, equals: Scalars())
            expect(listed?.path, equals: ["list"])
        }
        // A list that ends early says where an element is missing.
        do {
            let container = try container("list = [true, 'text']")
            let error = #expect(throws: PropertyError.self) { try container.property("list", as: ListedScalars.self) }
            expect(error?.description.hasPrefix("x:1:8: list[2]: missing; expected Double"), equals: true, "\(error!)")
        }
    }

    @Test("What a type decodes by hand is found, in tables and lists, and through super (law 16)")
    func nested() throws {
        let text = "[a]\nlist = [{name = 'x'}, {name = 'y'}]\ninner.name = 'z'\nparent = 5"
        let value = try container(text).property("a", as: Nested.self)
        expect(value?.names, equals: ["x", "y", "z"])
        expect(value?.inherited, equals: 5)
        expect(value?.userInfoIsEmpty, equals: true)
    }

    @Test("A table that is no case of an enumeration says so (law 16)")
    func cases() throws {
        let key = PropertyKey<Action?>("scalars.action")
        let container = try container("scalars.action = {stp = {}}")
        let error = #expect(throws: PropertyError.self) { try container.require { _ in key } }
        expect(error?.description, equals: "x:1:18: scalars.action: expected one case of Action, found stp")
        try expect(self.container("scalars.action = {stop = {}}").require { _ in key } != nil)
    }

    @Test("Bytes describe themselves by their number, and are read from their two spellings (law 17)")
    func bytes() throws {
        let container = try container("a = 'aGk='\nb = 'aGk'\nc = 'a?c'")
        for name in ["a", "b"] { try expect(container.property(name, as: Data.self), equals: Data("hi".utf8)) }
        expect("\(PropertyValue.data([104, 105]))", equals: "<2 bytes>")
        #expect(throws: PropertyError.self) { try container.property("c", as: Data.self) }
    }
}

struct ContainerDecodingTests {
    private class Animal: Decodable {
        var name: String
        enum CodingKeys: CodingKey { case name }
        required init(from decoder: any Decoder) throws {
            name = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .name)
        }
    }

    private final class Fish: Animal {
        var fins: Int
        enum Keys: String, CodingKey { case fins, parent = "super" }
        required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Keys.self)
            fins = try container.decode(Int.self, forKey: .fins)
            try super.init(from: try container.superDecoder())
        }
    }

    @Test("A class finds its superclass under super")
    func superclass() throws {
        let fish = try read("a", "{\"a\": {\"fins\": 7, \"super\": {\"name\": \"fugu\"}}}", as: Fish.self)
        expect(fish.fins, equals: 7)
        expect(fish.name, equals: "fugu")
        expect(message("{\"fins\": 7}", Fish.self), equals: "x:1:7: a.super: missing; expected a value")
    }

    @Test("Nested containers are read, and a value that did not fit can be tried as another type")
    func nested() throws {
        struct Mixed: Decodable {
            enum Keys: String, CodingKey { case list, table }
            var texts: [String] = []
            var sum = 0
            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: Keys.self)
                var list = try container.nestedUnkeyedContainer(forKey: .list)
                expect(list.count, equals: 4)
                while !list.isAtEnd {
                    if try list.decodeNil() { continue }
                    if let number = try? list.decode(Int.self) {
                        sum += number
                    } else {
                        texts.append(try list.decode(String.self))
                    }
                }
                let table = try container.nestedContainer(keyedBy: Keys.self, forKey: .table)
                var inner = try table.nestedUnkeyedContainer(forKey: .list)
                var first = try inner.nestedUnkeyedContainer()
                sum += try first.decode(Int.self)
                expect(table.codingPath.map(\.stringValue), equals: ["a", "table"])
                expect(container.allKeys.count, equals: 2)
            }
        }
        let mixed = try read(
            "a", "{\"a\": {\"list\": [1, \"x\", null, 2], \"table\": {\"list\": [[39]]}, \"other\": 1}}", as: Mixed.self
        )
        expect(mixed.sum, equals: 42)
        expect(mixed.texts, equals: ["x"])
    }

    @Test("Trying types one after the other on 20,000 elements takes no longer for each as they grow")
    func attempts() throws {
        enum Either: Decodable {
            case number(Int), text(String)
            init(from decoder: any Decoder) throws {
                let container = try decoder.singleValueContainer()
                do { self = .number(try container.decode(Int.self)) } catch DecodingError.typeMismatch {
                    self = .text(try container.decode(String.self))
                }
            }
        }
        let text = "{\"a\": [" + String(repeating: "\"x\",", count: 20_000) + "]}"
        var count = 0
        let time = try ContinuousClock().measure { count = try read("a", text, as: [Either].self).count }
        expect(count, equals: 20_000)
        expect(time < .seconds(5))
    }

    @Test("A type that holds itself is read down to 100 levels")
    func recursive() throws {
        indirect enum Chain: Decodable {
            case end, next(Chain)
            enum Keys: CodingKey { case next }
            init(from decoder: any Decoder) throws {
                let next = try decoder.container(keyedBy: Keys.self).decodeIfPresent(Chain.self, forKey: .next)
                self = next.map { .next($0) } ?? .end
            }
        }
        let text = "{\"a\": " + String(repeating: "{\"next\": ", count: 99) + "{}" + String(repeating: "}", count: 100)
        var chain = try read("a", text, as: Chain.self)
        var length = 0
        while case .next(let next) = chain { (chain, length) = (next, length + 1) }
        expect(length, equals: 99)
    }
}

struct ExactDecodingTests {
    @Test(
        "A Bool, a number, and text are never made of each other, and a whole number is read only if its type holds it")
    func kinds() throws {
        // A Bool is never made of a number, nor a number of a Bool, nor either of text in a file.
        do {
            expect(message("1", Bool.self), equals: "x:1:7: a: expected Bool (true or false), found integer 1")
            expect(message("true", Int.self), equals: "x:1:7: a: expected Int, found bool true")
            expect(message("true", Double.self), equals: "x:1:7: a: expected Double, found bool true")
            expect(
                message("\"true\"", Bool.self), equals: "x:1:7: a: expected Bool (true or false), found string \"true\""
            )
            expect(message("\"1\"", Int.self), equals: "x:1:7: a: expected Int, found string \"1\"")
            expect(message("\"1.5\"", Double.self), equals: "x:1:7: a: expected Double, found string \"1.5\"")
            expect(message("1", String.self), equals: "x:1:7: a: expected String, found integer 1")
            expect(message("null", Int.self), equals: "x:1:7: a: expected Int, found null")
            expect(message("[1]", Int.self), equals: "x:1:7: a: expected Int, found array")
            expect(message("1", [Int].self), equals: "x:1:7: a: expected array, found integer 1")
            expect(message("\"a,b\"", [String].self), equals: "x:1:7: a: expected array, found string \"a,b\"")
            expect(message("1", [String: Int].self), equals: "x:1:7: a: expected table, found integer 1")
        }
        // A whole number is read from a fraction only if that is whole, and only where the width holds it.
        do {
            try expect(read("a", "{\"a\": 1.0}", as: Int.self), equals: 1)
            try expect(read("a", "{\"a\": 1e2}", as: UInt8.self), equals: 100)
            expect(message("1.5", Int.self), equals: "x:1:7: a: expected Int, found double 1.5")
            expect(message("300", UInt8.self), equals: "x:1:7: a: expected UInt8 (0...255), found integer 300")
            expect(
                message("-1", UInt.self), equals: "x:1:7: a: expected UInt (0...18446744073709551615), found integer -1"
            )
            expect(message("1e19", Int.self), equals: "x:1:7: a: expected Int, found double 1e+19")
            try expect(read("a", "{\"a\": -128}", as: Int8.self), equals: -128)
            try expect(read("a", "{\"a\": 9223372036854775807}", as: Int64.self), equals: .max)
            try expect(read("a", "{\"a\": 5}", as: Int128.self), equals: 5)
        }
    }

    @Test("A whole number is read as a fraction only if that holds it exactly; else the error says how to round it")
    func fractions() throws {
        // A whole number is read as a fraction only if that holds it exactly.
        do {
            try expect(read("a", "{\"a\": 9007199254740992}", as: Double.self), equals: 9_007_199_254_740_992)
            let rounding = "(exactly; write a decimal point to round it), found integer"
            expect(
                message("9007199254740993", Double.self),
                equals: "x:1:7: a: expected Double \(rounding) 9007199254740993")
            expect(message("16777217", Float.self), equals: "x:1:7: a: expected Float \(rounding) 16777217")
            let wide = "1" + String(repeating: "0", count: 39)
            expect(message(wide, Double.self).hasPrefix("x:1:7: a: expected Double \(rounding) 1000"))
            try expect(read("a", "{\"a\": \(wide).0}"), equals: 1e39)
            expect(message("1e300", Float.self), equals: "x:1:7: a: expected Float, found double 1e+300")
            try expect(read("a", "{\"a\": 0.1}", as: Float.self), equals: 0.1)
            // Between two values of `Float`, and nearer to the upper one by less than a `Double` tells.
            let near = "1.000000059604644775390625000001"
            try expect(read("a", "{\"a\": \(near)}", as: Float.self), equals: Float(near))
            try expect(readTOML("a", "a = 1.000_000_059604644775390625000001", as: Float.self), equals: Float(near))
            try expect(readTOML("a", "a = inf", as: Float.self), equals: .infinity)
            try expect(readTOML("a", "a = nan", as: Double.self).isNaN)
        }
        // Only text that is an integer is told how to be rounded; a date isn't one.
        do {
            let container = Container()
            try container.apply(
                EnvironmentSource(environment: ["EXACT_RATE": "9007199254740993", "EXACT_DATE": "2026-11-24"]))
            #expect(throws: PropertyError.self) { try container.require(\.exactRate) }.map {
                expect("\($0)".contains("expected Double (exactly; write a decimal point to round it), found text"))
            }
            #expect(throws: PropertyError.self) { try container.require(\.exactDate) }.map {
                expect("\($0)".contains("expected Double, found text"))
            }
        }
    }

    @Test(
        "An optional tells null from a value, an enumeration says its cases, and dictionaries take strings and numbers")
    func optionals() throws {
        // An optional tells null from a value, and a missing member is nil.
        do {
            struct Pair: Decodable, Equatable { var first: Int?; var second: Int? }
            try expect(read("a", "{\"a\": null}", as: Int?.self) == .some(nil))
            try expect(read("a", "{\"a\": 1}", as: Int?.self), equals: 1)
            try expect(read("a", "{\"a\": [1, null]}", as: [Int?].self), equals: [1, nil] as [Int?])
            try expect(read("a", "{\"a\": {\"first\": null}}", as: Pair.self), equals: Pair(first: nil, second: nil))
        }
        // An enumeration that has no such case says which there are.
        do {
            try expect(read("a", "{\"a\": \"fast\"}", as: Mode.self), equals: .fast)
            try expect(read("a", "{\"a\": [1, 2]}", as: [Level].self), equals: [.low, .high])
            expect(
                message("\"quick\"", Mode.self), equals: "x:1:7: a: expected one of slow, fast, found string \"quick\"")
            expect(message("3", Level.self), equals: "x:1:7: a: expected Level, found integer 3")
            expect(message("3", Mode.self), equals: "x:1:7: a: expected String, found integer 3")
        }
        // Dictionaries take strings and numbers as keys.
        do {
            try expect(
                read("a", "{\"a\": {\"x y\": 1, \"1\": 2}}", as: [String: Int].self), equals: ["x y": 1, "1": 2])
            try expect(read("a", "{\"a\": {\"1\": \"x\"}}", as: [Int: String].self), equals: [1: "x"])
        }
    }
}

extension ContainerKeys {
    fileprivate var exactRate: PropertyKey<Double> { .init("exact.rate", defaultValue: 0) }
    fileprivate var exactDate: PropertyKey<Double> { .init("exact.date", defaultValue: 0) }
}

struct FoundationDecodingTests {
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
                message(text, Duration.self).contains("expected Duration with a unit, such as 30s, 1h30m, or 250ms"),
                "\(text)")
        }
    }

    @Test(
        "URL, UUID, Date, Decimal and Data are read from the forms a user expects, and all else is refused with its place"
    )
    func foundation() throws {
        // URL, UUID, Date, Decimal and Data are read from the forms a user expects.
        do {
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
        // What is none of these is refused with its place.
        do {
            expect(
                message("\"not a url\"", URL.self),
                equals:
                    "x:1:7: a: expected URL (percent-encode spaces and the like, as in a%20b), found string \"not a url\""
            )
            expect(message("\"xyz\"", UUID.self), equals: "x:1:7: a: expected UUID, found string \"xyz\"")
            expect(
                message("\"1979-05-27\"", Date.self),
                equals:
                    "x:1:7: a: expected Date with an offset, such as 1979-05-27T07:32:00Z, found string \"1979-05-27\"")
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
    }

    /// Each shape with its components and the kind that an error names.
    private static let moments: [(text: String, components: DateComponents, kind: String)] = [
        ("1979-05-27", DateComponents(year: 1979, month: 5, day: 27), "local date"),
        ("07:32:00", DateComponents(hour: 7, minute: 32, second: 0), "local time"),
        ("23:59:60", DateComponents(hour: 23, minute: 59, second: 60), "local time"),
        (
            "1979-05-27T07:32:00.5",
            DateComponents(
                year: 1979, month: 5, day: 27, hour: 7, minute: 32, second: 0, nanosecond: 500_000_000),
            "local date-time"
        ),
        (
            "0000-02-29T07:32:01-07:30",
            DateComponents(
                timeZone: TimeZone(secondsFromGMT: -27_000), year: 0, month: 2, day: 29, hour: 7, minute: 32, second: 1),
            "offset date-time"
        ),
        (
            "2016-12-31T23:59:60Z",
            DateComponents(timeZone: .gmt, year: 2016, month: 12, day: 31, hour: 23, minute: 59, second: 60),
            "offset date-time"
        ),
    ]

    @Test("A date, a time, or both are read as components, as far as they are written, and as text", arguments: moments)
    func components(text: String, components: DateComponents, kind: String) throws {
        try expect(readTOML("a", "a = \(text)"), equals: components)
        try expect(readTOML("a", "a = '\(text)'"), equals: components)
        try expect(read("a", "{\"a\": \"\(text)\"}"), equals: components)
        try expect(readTOML("a", "a = [\(text), '\(text)']"), equals: [components, components])
        let variables = EnvironmentSource(environment: ["A": text, "B": "\(text),\(text)"])
        try expect(variables.load().property("a", as: DateComponents?.self), equals: components)
        try expect(variables.load().property("b", as: [DateComponents].self), equals: [components, components])
        try expect(DictionarySource(["a": .date(text)], name: "x").load().property("a"), equals: components)
        try expect(readTOML("a", "a = \(text)", as: String.self), equals: text)
        try expect(readTOML("a", "a = [\(text)]", as: [String].self), equals: [text])
        let error = #expect(throws: PropertyError.self) { try readTOML("a", "a = \(text)", as: Int.self) }
        expect(error?.description, equals: "x:1:5: a: expected Int, found \(kind) \(text)")
        expect(error?.found, equals: "\(kind) \(text)")
    }

    @Test("A date is read as text in its canonical spelling, and one that code makes of other text is an error")
    func datesAsText() throws {
        // A date is read as text in its canonical spelling, also by a type of the program.
        do {
            struct Stamp: TextDecodable, Equatable {
                let text: String
                init?(text: String) { self.text = text }
            }
            let text = "a = 1979-05-27 07:32:00.1234567890z"
            let canonical = "1979-05-27T07:32:00.123456789Z"
            try expect(readTOML("a", text, as: String.self), equals: canonical)
            try expect(readTOML("a", text, as: Stamp.self).text, equals: canonical)
            try expect(readTOML("a", "a = 07:32", as: Stamp.self).text, equals: "07:32:00")
            try expect(readTOML("a", "a = '07:32'", as: String.self), equals: "07:32")
            // What would decode from the text of a date isn't meant by one.
            for type in [URL.self, Data.self, UUID.self, Decimal.self] as [any Decodable.Type] {
                #expect(throws: PropertyError.self) { try readTOML("a", "a = 1979-05-27", as: type) }
            }
            let error = #expect(throws: PropertyError.self) { try readTOML("a", "a = 1979-05-27", as: Mode.self) }
            expect(error?.description, equals: "x:1:5: a: expected one of slow, fast, found local date 1979-05-27")
        }
        // A date that code makes of other text is an error when it's read, whatever the type, and prints as text.
        do {
            let value = PropertyValue.date("so\non")
            let snapshot = try DictionarySource(["a": value], name: "x").load()
            func message<Value: Decodable>(_ type: Value.Type) -> String? {
                #expect(throws: PropertyError.self) { try snapshot.value(named: "a")?.decode(type) }.map { "\($0)" }
            }
            expect(message(String.self), equals: "x: a: expected String, found malformed date \"so\\non\"")
            expect(
                message(Date.self),
                equals: "x: a: expected Date with an offset, such as 1979-05-27T07:32:00Z, "
                    + "found malformed date \"so\\non\"")
            expect(message(DateComponents.self)?.contains("found malformed date \"so\\non\""), equals: true)
            try expect(snapshot.property("a", as: PropertyValue.self), equals: value)
            expect("\(value)", equals: "\"so\\non\"")
            let long = try DictionarySource(["a": .date(String(repeating: "1", count: 50))], name: "x").load()
            let error = #expect(throws: PropertyError.self) { try long.value(named: "a")?.decode(Date.self) }
            expect(error?.found, equals: "malformed date \"\(String(repeating: "1", count: 40))…\"")
            expect("\(PropertyValue.date("1979-05-27 07:32"))", equals: "1979-05-27T07:32:00")
        }
    }

    @Test(
        "Text that is no date, and a table of components, are refused with their place",
        arguments: [
            ("\"soon\"", "string \"soon\""), ("\"2023-02-29\"", "string \"2023-02-29\""),
            ("\"24:00\"", "string \"24:00\""), ("\"1979-05-27T07:32+24:00\"", "string \"1979-05-27T07:32+24:00\""),
            ("\"1979-05-27x\"", "string \"1979-05-27x\""), ("\"\"", "string \"\""), ("1979", "integer 1979"),
            ("{\"year\": 1979}", "table"), ("[1979]", "array"), ("null", "null"),
        ])
    func noDates(text: String, found: String) {
        expect(
            message(text, DateComponents.self),
            equals: "x:1:7: a: expected DateComponents, such as 1979-05-27, 07:32:00, or 1979-05-27T07:32:00Z, "
                + "found \(found)")
    }

    @Test("A date needs an offset, which for components must be one that a time zone can have")
    func offsets() throws {
        let wide = "1979-05-27T07:32:00+18:01"
        try expect(readTOML("a", "a = \(wide)", as: Date.self), equals: Date(timeIntervalSince1970: 296_573_460))
        let error = #expect(throws: PropertyError.self) { try readTOML("a", "a = \(wide)", as: DateComponents.self) }
        expect(
            error?.description,
            equals: "x:1:5: a: expected DateComponents with an offset of at most 18 hours, "
                + "found offset date-time \(wide)")
        for (text, kind) in [("1979-05-27", "date"), ("07:32:00", "time"), ("1979-05-27T07:32:00", "date-time")] {
            let error = #expect(throws: PropertyError.self) { try readTOML("a", "a = \(text)", as: Date.self) }
            expect(
                error?.description,
                equals: "x:1:5: a: expected Date with an offset, such as 1979-05-27T07:32:00Z, "
                    + "found local \(kind) \(text)")
        }
    }

    @Test("Bytes are read as Data and as an array of bytes")
    func bytes() throws {
        let snapshot = try DictionarySource(["a": .data([1, 2])], name: "x").load()
        try expect(snapshot.value(named: "a")?.decode(Data.self), equals: Data([1, 2]))
        try expect(snapshot.value(named: "a")?.decode([UInt8].self), equals: [1, 2])
        try expect(read("a", "{\"a\": [1, 2]}", as: [UInt8].self), equals: [1, 2])
    }

    @Test("A PropertyValue takes whatever is there, with this decoder and with others")
    func anything() throws {
        try expect(
            readTOML("a", "a = {b = [1, 2.5, 'x', 07:32:00]}", as: PropertyValue.self).description,
            equals: "{b = [1, 2.5, \"x\", 07:32:00]}")
        let other = try JSONDecoder().decode(PropertyValue.self, from: Data("{\"b\": [1, true, \"x\"]}".utf8))
        expect(other, equals: ["b": [1, true, "x"]])
    }
}

extension ContainerKeys {
    fileprivate var limit: PropertyKey<Int> { .init("others.limit", defaultValue: 1) }
    fileprivate var doubled: FeatureKey<Int> { .init { $0.limit * 2 } }
}

private struct Limited: ThrowingFeature {
    static func load(in container: any FeatureContainer) throws -> Int { container.limit }
}

/// Values beside other coders and kinds.
struct OtherCodersTests {}

extension OtherCodersTests {
    private struct Host: TextDecodable, LosslessStringConvertible, Codable, Equatable {
        let description: String
        init?(_ text: String) {
            guard text.contains(".") else { return nil }
            description = text
        }
    }

    @Test("A type that is text, or a value of any form, passes through Foundation's coders")
    func texts() throws {
        // A type that is text passes through Foundation's coders as text.
        do {
            let hosts = [Host("a.example.org")]
            let data = try JSONEncoder().encode(hosts)
            expect(String(decoding: data, as: UTF8.self), equals: "[\"a.example.org\"]")
            try expect(JSONDecoder().decode([Host?].self, from: data), equals: hosts)
            let wrong = Data("\"a\"".utf8)
            let error = #expect(throws: DecodingError.self) { try JSONDecoder().decode(Host.self, from: wrong) }
            expect("\(error!)".contains("expected Host"))
        }
        // Values of any form pass through Foundation's decoder.
        do {
            let value = try JSONDecoder().decode(PropertyValue.self, from: Data("[1, 2.5, true, \"a\"]".utf8))
            expect(value, equals: .array([.integer(1), .double(2.5), .bool(true), .string("a")]))
        }
    }

    private enum Small: Int32, Decodable { case one = 1 }
    private enum Word: UInt32, Decodable { case two = 2 }
    private enum Wide: UInt64, Decodable { case three = 3 }

    @Test("Cases are given by numbers of every width, and the members that a type asks for by hand are known")
    func cases() throws {
        // Cases are given by numbers of every width.
        do {
            try expect(read("a", #"{"a": 1}"#, as: Small.self), equals: .one)
            try expect(read("a", #"{"a": 2}"#, as: Word.self), equals: .two)
            try expect(read("a", #"{"a": 3}"#, as: Wide.self), equals: .three)
            #expect(throws: PropertyError.self) { try read("a", #"{"a": 3}"#, as: Small.self) }
        }
        // The members of a type that asks for them by hand are known.
        do {
            let shape = TypeShape(of: ByHand.self, sample: nil)
            expect(shape.members.map(\.name).contains("table.inner"))
            expect(shape.members.map(\.name).contains("list"))
        }
    }

    /// Asks for its members by hand, in all the ways that there are.
    private struct ByHand: Decodable {
        enum Keys: String, CodingKey { case table, list, above, inner }

        init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: Keys.self)
            let table = try members.nestedContainer(keyedBy: Keys.self, forKey: .table)
            _ = try? table.decode(Int.self, forKey: .inner)
            var list = try members.nestedUnkeyedContainer(forKey: .list)
            expect(list.codingPath.count, equals: members.codingPath.count + 1)
            while !list.isAtEnd { _ = try list.decode(Int.self) }
            _ = try? members.superDecoder(forKey: .above)
            _ = try? members.superDecoder()
        }
    }

    @Test("Looking for an instance asks the sources first, and loads nothing (laws 10 and 15)")
    func looking() throws {
        let root = Container()
        expect(root.doubled, equals: 2)
        try expect(root[Limited.self], equals: 1)
        let child = root.child()
        expect(child.ifLoaded(\.doubled), equals: 2)
        expect(child.ifLoaded(Limited.self), equals: 1)
        try child.apply(DictionarySource(["others": ["limit": 5]], name: "child"))
        expect(child.ifLoaded(\.doubled) == nil)
        expect(child.ifLoaded(Limited.self) == nil)
        expect(child.doubled, equals: 10)
        expect(root.ifLoaded(\.doubled), equals: 2)
    }
}

/// Reads one value of a JSON or TOML text.
func read<Value: Decodable>(
    _ name: String, _ text: String, as type: Value.Type = Value.self
) throws(PropertyError) -> Value {
    let snapshot = try JSONSource(text: text, name: "x").load()
    guard let value = snapshot.value(named: name) else { throw PropertyError("nothing there") }
    return try value.decode(type)
}

func readTOML<Value: Decodable>(
    _ name: String, _ text: String, as type: Value.Type = Value.self
) throws(PropertyError) -> Value {
    let snapshot = try TOMLSource(text: text, name: "x").load()
    guard let value = snapshot.value(named: name) else { throw PropertyError("nothing there") }
    return try value.decode(type)
}

/// The error of a read that must fail.
func message<Value: Decodable>(_ text: String, _ type: Value.Type) -> String {
    do {
        return "read \(try read("a", "{\"a\": \(text)}", as: type))"
    } catch {
        return "\(error)"
    }
}

enum Mode: String, Decodable, CaseIterable { case slow, fast }
enum Level: Int, Decodable { case low = 1, high = 2 }
