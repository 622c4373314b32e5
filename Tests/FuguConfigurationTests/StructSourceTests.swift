import Foundation
import Support
import Testing

@testable import FuguConfiguration

private struct Settings {
    struct API {
        var base: URL
        var timeout: Duration?
        var retries: Int?
    }
    enum Mode: String { case slow, fast }
    enum Plain { case one, two }

    var api = API(base: URL(string: "https://x.org")!, timeout: .milliseconds(1500), retries: nil)
    var ports: [UInt16] = [80, 443]
    var names: [String: Int] = ["a": 1]
    var mode = Mode.fast
    var plain = Plain.two
    var price = Decimal(string: "19.99")!
    var ratio: Float = 0.5
    var id: UUID?
    var date = Date(timeIntervalSince1970: 1.5)
    var bytes = Data([1, 2])
    var day = LocalDate(year: 2024, month: 2, day: 29)
    var raw: PropertyValue = [1]
    var nothing: Int??
    var optionals: [Int?] = [1, nil, 2]
}

private class Node {
    var label = "n"
    var next: Node?
}

private final class Leaf: Node {
    var weight = 2
}

@Suite struct StructSourceTests {
    static let cases: [Case<StructSourceTests>] = [
        Case("A class answers with its own and inherited properties", classes),
        Case("An instance that leads back to itself is refused with the way, one that is met twice is not", cycles),
        Case("What has no form as a configuration value is refused with its name", refused),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<StructSourceTests>) async throws { try await stated.run(self) }

    private func message(_ value: Any) -> String {
        do {
            return "read \(try StructSource(reflecting: value, name: "s").load())"
        } catch {
            return "\(error)"
        }
    }

    @Test("Stored properties answer by name, nested ones by dotted name, optionals as what they hold")
    func values() throws {
        let snapshot = try StructSource(reflecting: Settings()).load()
        func read<Value: Decodable>(_ name: String, as type: Value.Type = Value.self) throws -> Value? {
            try snapshot.value(named: name)?.decode(type)
        }
        try expect(read("api.base", as: URL.self)?.absoluteString, equals: "https://x.org")
        try expect(read("api.timeout", as: Duration.self), equals: .milliseconds(1500))
        expect(snapshot.value(named: "api.retries") == nil)
        expect(snapshot.value(named: "id") == nil)
        try expect(read("ports", as: [Int].self), equals: [80, 443])
        try expect(read("names.a", as: Int.self), equals: 1)
        try expect(read("mode", as: String.self), equals: "fast")
        try expect(read("plain", as: String.self), equals: "two")
        try expect(read("price", as: Decimal.self), equals: Decimal(string: "19.99"))
        try expect(read("ratio", as: Float.self), equals: 0.5)
        try expect(read("date", as: Date.self), equals: Date(timeIntervalSince1970: 1.5))
        try expect(read("bytes", as: Data.self), equals: Data([1, 2]))
        try expect(read("day", as: LocalDate.self), equals: LocalDate(year: 2024, month: 2, day: 29))
        try expect(read("raw", as: [Int].self), equals: [1])
        expect(snapshot.value(named: "nothing") == nil)
        try expect(read("optionals", as: [Int].self), equals: [1, 2])
        expect(snapshot.source, equals: "Settings")
    }

    func classes() throws {
        let leaf = Leaf()
        leaf.next = Leaf()
        leaf.next?.label = "inner"
        let snapshot = try StructSource(reflecting: leaf).load()
        expect(snapshot.value(named: "label")?.propertyValue, equals: "n")
        expect(snapshot.value(named: "weight")?.propertyValue, equals: 2)
        expect(snapshot.value(named: "next.label")?.propertyValue, equals: "inner")
        expect(snapshot.value(named: "next.weight")?.propertyValue, equals: 2)
        expect(snapshot.value(named: "next.next") == nil)
    }

    func cycles() throws {
        let (first, second) = (Node(), Node())
        first.next = second
        second.next = first
        expect(
            message(first),
            equals: "s: next.next: an instance refers back to itself (s → next → next); "
                + "break the reference cycle or leave the member out")
        second.next = nil
        let pair = (struct: ["a": second, "b": second], 0)
        try expect(StructSource(reflecting: Holder(nodes: pair.struct)).load().value(named: "nodes.b.label") != nil)
    }

    private struct Holder { var nodes: [String: Node] }

    func refused() {
        struct Wrong { var a: [Any] }
        enum Payload { case some(Int) }
        let hint =
            " can't be a configuration value; use numbers, strings, arrays, dictionaries, and structs of them"
        expect(message(Wrong(a: [1, UInt64.max])), equals: "s: a[1]: the UInt64 is out of range for Int64")
        expect(message(Wrong(a: [{ () -> Void in }])), equals: "s: a[0]: () -> ()" + hint)
        expect(message(Wrong(a: [Payload.some(1)])), equals: "s: a[0]: Payload" + hint)
        expect(message(Wrong(a: [(1, 2)])), equals: "s: a[0]: (Int, Int)" + hint)
        expect(message(Wrong(a: [1..<2])), equals: "s: a[0]: Range<Int>" + hint)
        expect(message(Wrong(a: [[1: 2]])), equals: "s: a[0]: Dictionary<Int, Int>" + hint)
        expect(message(Wrong(a: [Calendar(identifier: .gregorian)])), equals: "s: a[0]: Calendar" + hint)
        expect(message(5), equals: "s: Int" + hint)
    }
}
