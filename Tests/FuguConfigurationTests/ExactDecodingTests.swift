import Fugu
import Support
import Testing

@testable import FuguConfiguration

@Suite struct ExactDecodingTests {
    static let cases: [Case<ExactDecodingTests>] = [
        Case("A Bool is never made of a number, nor a number of a Bool, nor either of text in a file", kinds),
        Case("A whole number is read from a fraction only if that is whole, and only where the width holds it", widths),
        Case("Only text that is an integer is told how to be rounded; a date isn't one", integersAsText),
        Case("A whole number is read as a fraction only if that holds it exactly", fractions),
        Case("An optional tells null from a value, and a missing member is nil", optionals),
        Case("An enumeration that has no such case says which there are", enumerations),
        Case("Dictionaries take strings and numbers as keys", dictionaries),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<ExactDecodingTests>) async throws {
        try await stated.run(self)
    }

    func kinds() {
        expect(message("1", Bool.self), equals: "x:1:7: a: expected Bool (true or false), found integer 1")
        expect(message("true", Int.self), equals: "x:1:7: a: expected Int, found bool true")
        expect(message("true", Double.self), equals: "x:1:7: a: expected Double, found bool true")
        expect(message("\"true\"", Bool.self), equals: "x:1:7: a: expected Bool (true or false), found string \"true\"")
        expect(message("\"1\"", Int.self), equals: "x:1:7: a: expected Int, found string \"1\"")
        expect(message("\"1.5\"", Double.self), equals: "x:1:7: a: expected Double, found string \"1.5\"")
        expect(message("1", String.self), equals: "x:1:7: a: expected String, found integer 1")
        expect(message("null", Int.self), equals: "x:1:7: a: expected Int, found null")
        expect(message("[1]", Int.self), equals: "x:1:7: a: expected Int, found array")
        expect(message("1", [Int].self), equals: "x:1:7: a: expected array, found integer 1")
        expect(message("\"a,b\"", [String].self), equals: "x:1:7: a: expected array, found string \"a,b\"")
        expect(message("1", [String: Int].self), equals: "x:1:7: a: expected table, found integer 1")
    }

    func widths() throws {
        try expect(read("a", "{\"a\": 1.0}", as: Int.self), equals: 1)
        try expect(read("a", "{\"a\": 1e2}", as: UInt8.self), equals: 100)
        expect(message("1.5", Int.self), equals: "x:1:7: a: expected Int, found double 1.5")
        expect(message("300", UInt8.self), equals: "x:1:7: a: expected UInt8 (0...255), found integer 300")
        expect(message("-1", UInt.self), equals: "x:1:7: a: expected UInt (0...18446744073709551615), found integer -1")
        expect(message("1e19", Int.self), equals: "x:1:7: a: expected Int, found double 1e+19")
        try expect(read("a", "{\"a\": -128}", as: Int8.self), equals: -128)
        try expect(read("a", "{\"a\": 9223372036854775807}", as: Int64.self), equals: .max)
        try expect(read("a", "{\"a\": 5}", as: Int128.self), equals: 5)
    }

    func integersAsText() throws {
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

    func fractions() throws {
        try expect(read("a", "{\"a\": 9007199254740992}", as: Double.self), equals: 9_007_199_254_740_992)
        let rounding = "(exactly; write a decimal point to round it), found integer"
        expect(
            message("9007199254740993", Double.self), equals: "x:1:7: a: expected Double \(rounding) 9007199254740993")
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

    func optionals() throws {
        struct Pair: Decodable, Equatable { var first: Int?; var second: Int? }
        try expect(read("a", "{\"a\": null}", as: Int?.self) == .some(nil))
        try expect(read("a", "{\"a\": 1}", as: Int?.self), equals: 1)
        try expect(read("a", "{\"a\": [1, null]}", as: [Int?].self), equals: [1, nil] as [Int?])
        try expect(read("a", "{\"a\": {\"first\": null}}", as: Pair.self), equals: Pair(first: nil, second: nil))
    }

    func enumerations() throws {
        try expect(read("a", "{\"a\": \"fast\"}", as: Mode.self), equals: .fast)
        try expect(read("a", "{\"a\": [1, 2]}", as: [Level].self), equals: [.low, .high])
        expect(message("\"quick\"", Mode.self), equals: "x:1:7: a: expected Mode (slow, fast), found string \"quick\"")
        expect(message("3", Level.self), equals: "x:1:7: a: expected Level, found integer 3")
        expect(message("3", Mode.self), equals: "x:1:7: a: expected String, found integer 3")
    }

    func dictionaries() throws {
        try expect(read("a", "{\"a\": {\"x y\": 1, \"1\": 2}}", as: [String: Int].self), equals: ["x y": 1, "1": 2])
        try expect(read("a", "{\"a\": {\"1\": \"x\"}}", as: [Int: String].self), equals: [1: "x"])
    }
}

extension ContainerKeys {
    fileprivate var exactRate: PropertyKey<Double> { .init("exact.rate", defaultValue: 0) }
    fileprivate var exactDate: PropertyKey<Double> { .init("exact.date", defaultValue: 0) }
}
