import Support
import Testing

@testable import FuguConfiguration

@Suite struct ContainerDecodingTests {
    static let cases: [Case<ContainerDecodingTests>] = [
        Case("A class finds its superclass under super", superclass),
        Case("Trying types one after the other on 20,000 elements takes no longer for each as they grow", attempts),
        Case("A type that holds itself is read to the depth limit", recursive),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<ContainerDecodingTests>) async throws {
        try await stated.run(self)
    }

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

    func recursive() throws {
        indirect enum Chain: Decodable {
            case end, next(Chain)
            enum Keys: CodingKey { case next }
            init(from decoder: any Decoder) throws {
                let next = try decoder.container(keyedBy: Keys.self).decodeIfPresent(Chain.self, forKey: .next)
                self = next.map { .next($0) } ?? .end
            }
        }
        let text = "{\"a\": " + String(repeating: "{\"next\": ", count: 510) + "{}" + String(repeating: "}", count: 511)
        var chain = try read("a", text, as: Chain.self)
        var length = 0
        while case .next(let next) = chain { (chain, length) = (next, length + 1) }
        expect(length, equals: 510)
    }
}
