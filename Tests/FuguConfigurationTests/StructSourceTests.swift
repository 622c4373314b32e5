import Foundation
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
        #expect(try read("api.base", as: URL.self)?.absoluteString == "https://x.org")
        #expect(try read("api.timeout", as: Duration.self) == .milliseconds(1500))
        #expect(snapshot.value(named: "api.retries") == nil && snapshot.value(named: "id") == nil)
        #expect(try read("ports", as: [Int].self) == [80, 443])
        #expect(try read("names.a", as: Int.self) == 1)
        #expect(try read("mode", as: String.self) == "fast")
        #expect(try read("plain", as: String.self) == "two")
        #expect(try read("price", as: Decimal.self) == Decimal(string: "19.99"))
        #expect(try read("ratio", as: Float.self) == 0.5)
        #expect(try read("date", as: Date.self) == Date(timeIntervalSince1970: 1.5))
        #expect(try read("bytes", as: Data.self) == Data([1, 2]))
        #expect(try read("day", as: LocalDate.self) == LocalDate(year: 2024, month: 2, day: 29))
        #expect(try read("raw", as: [Int].self) == [1])
        #expect(snapshot.value(named: "nothing") == nil)
        #expect(try read("optionals", as: [Int].self) == [1, 2])
        #expect(snapshot.source == "Settings")
    }

    @Test("A class answers with its own and inherited properties")
    func classes() throws {
        let leaf = Leaf()
        leaf.next = Leaf()
        leaf.next?.label = "inner"
        let snapshot = try StructSource(reflecting: leaf).load()
        #expect(snapshot.value(named: "label")?.propertyValue == "n")
        #expect(snapshot.value(named: "weight")?.propertyValue == 2)
        #expect(snapshot.value(named: "next.label")?.propertyValue == "inner")
        #expect(snapshot.value(named: "next.weight")?.propertyValue == 2)
        #expect(snapshot.value(named: "next.next") == nil)
    }

    @Test("An instance that leads back to itself is refused with the way, one that is met twice is not")
    func cycles() throws {
        let (first, second) = (Node(), Node())
        first.next = second
        second.next = first
        #expect(
            message(first) == "s: next.next: an instance refers back to itself (s → next → next); "
                + "break the reference cycle or leave the member out")
        second.next = nil
        let pair = (struct: ["a": second, "b": second], 0)
        #expect(try StructSource(reflecting: Holder(nodes: pair.struct)).load().value(named: "nodes.b.label") != nil)
    }

    private struct Holder { var nodes: [String: Node] }

    @Test("What has no form as a configuration value is refused with its name")
    func refused() {
        struct Wrong { var a: [Any] }
        enum Payload { case some(Int) }
        let hint =
            " can't be a configuration value; use numbers, strings, arrays, dictionaries, and structs of them"
        #expect(message(Wrong(a: [1, UInt64.max])) == "s: a[1]: the UInt64 is out of range for Int64")
        #expect(message(Wrong(a: [{ () -> Void in }])) == "s: a[0]: () -> ()" + hint)
        #expect(message(Wrong(a: [Payload.some(1)])) == "s: a[0]: Payload" + hint)
        #expect(message(Wrong(a: [(1, 2)])) == "s: a[0]: (Int, Int)" + hint)
        #expect(message(Wrong(a: [1..<2])) == "s: a[0]: Range<Int>" + hint)
        #expect(message(Wrong(a: [[1: 2]])) == "s: a[0]: Dictionary<Int, Int>" + hint)
        #expect(message(Wrong(a: [Calendar(identifier: .gregorian)])) == "s: a[0]: Calendar" + hint)
        #expect(message(5) == "s: Int" + hint)
    }
}
