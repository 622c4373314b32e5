import Foundation
import Fugu
import FuguConfiguration
import Support
import Testing

/// What is written in arguments, variables, and files is read as written, or it's a mistake (law 25).
@Suite struct Law25TextFormsTests {
    static let cases: [Case<Law25TextFormsTests>] = [
        Case("Every word of an argument that occurs several times is an element of its list", repeated),
        Case("Words behind an option in the middle of a list are a mistake instead of being lost", interrupted),
        Case("An integer that its type can represent is read exactly, and one that it can't is a mistake", exact),
        Case("null isn't a value that require accepts", null),
        Case("An explanation writes a value as a source would, whether it wins or is hidden", explained),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<Law25TextFormsTests>) async throws {
        try await stated.run(self)
    }

    private func read<Value: Decodable & Sendable>(
        _ arguments: [String], as _: Value.Type = Value.self
    ) throws -> Value? {
        let container = Container()
        try container.apply(ArgumentsSource(arguments))
        return try container.property("law25t.list", as: Value.self)
    }

    func repeated() throws {
        let words = ["--law25t-list", "a", "b", "--law25t-list", "c", "d", "--other"]
        try expect(read(words, as: [String].self), equals: ["a", "b", "c", "d"])
        try expect(read(["--law25t-list", "1", "--law25t-list", "-2", "3"], as: [Int].self), equals: [1, -2, 3])
    }

    func interrupted() throws {
        for words in [["--law25t-list", "a", "-v", "c"], ["--law25t-list", "a", "--law25t-list", "b", "-v", "c"]] {
            let text = thrown { _ = try read(words, as: [String].self) }
            expect(text.contains("--law25t-list=") && text.hasPrefix("argument --law25t-list: "), "\(text)")
            #expect(throws: PropertyError.self) { try read(words, as: Set<String>.self) }
        }
        try expect(read(["--law25t-list", "a", "b", "-v"], as: [String].self), equals: ["a", "b"])
        try expect(read(["--law25t-list", "a", "-v", "c"], as: String.self), equals: "a")
        try expect(read(["--law25t-list", "a", "-v", "--law25t-list", "b"], as: [String].self), equals: ["a", "b"])
    }

    private func everywhere<Value: Decodable & Sendable & Equatable>(
        _ text: String, as _: Value.Type, _ sources: (String) -> [any PropertySource]
    ) -> [Value?] {
        sources(text).map { source in
            let container = Container()
            guard (try? container.apply(source)) != nil else { return nil }
            return try? container.property("n", as: Value.self)
        }
    }

    private func numbers(_ text: String) -> [any PropertySource] {
        [
            TOMLSource(text: "n = \(text)", name: "t"), JSONSource(text: "{\"n\": \(text)}", name: "j"),
            EnvironmentSource(environment: ["N": text]), ArgumentsSource(["--n=\(text)"]),
            DotEnvSource(text: "N=\(text)", name: ".env"),
        ]
    }

    @Test(
        "A number means the same wherever it's written",
        arguments: [
            "1.0", "1e3", "1.5", "9007199254740992", "9007199254740993", "-9007199254740993", "9007199254740993.0",
            "9223372036854775807", "9223372036854775808", "18446744073709551615", "18446744073709551616",
            "-9223372036854775809", "340282366920938463463374607431768211456", "0.1", "1e400",
        ])
    func everySource(text: String) {
        expect(Set(everywhere(text, as: Int.self, numbers)).count, equals: 1, "Int")
        expect(Set(everywhere(text, as: UInt64.self, numbers)).count, equals: 1, "UInt64")
        expect(Set(everywhere(text, as: Double.self, numbers)).count, equals: 1, "Double")
        expect(Set(everywhere(text, as: Float.self, numbers)).count, equals: 1, "Float")
        expect(Set(everywhere(text, as: Decimal.self, numbers)).count, equals: 1, "Decimal")
    }

    func exact() {
        expect(everywhere("18446744073709551615", as: UInt64.self, numbers).allSatisfy { $0 == .max })
        expect(everywhere("1.0", as: Int.self, numbers).allSatisfy { $0 == 1 })
        expect(everywhere("9007199254740993", as: Double.self, numbers).allSatisfy { $0 == nil })
        expect(everywhere("9007199254740993.0", as: Double.self, numbers).allSatisfy { $0 == 9007199254740992 })
        expect(everywhere("9223372036854775808", as: Int.self, numbers).allSatisfy { $0 == nil })
    }

    func null() throws {
        let key = PropertyKey<String?>("law25t.text")
        let container = Container()
        try container.apply(JSONSource(text: #"{"law25t": {"text": null}}"#, name: "j"))
        expect(container[key] == nil)
        expect(thrown { _ = try container.require(key) }.hasPrefix("j:1:21: law25t.text: a value is required"))
        try container.apply(JSONSource(text: #"{"law25t": {"text": "x"}}"#, name: "k"))
        try expect(container.require(key), equals: "x")
    }

    private enum Mode: String, Decodable { case slow, fast }

    func explained() throws {
        let wait = PropertyKey("law25t.wait", defaultValue: Duration.seconds(1))
        let container = Container()
        expect("\(container.explain(wait))", equals: "law25t.wait = \"1s\" (default)")
        try container.apply(DictionarySource(["law25t.wait": "45s"], name: "a"))
        try container.apply(DictionarySource(["law25t.wait": "1m"], name: "b"))
        expect("\(container.explain(wait))", equals: "law25t.wait = \"60s\" (b)\n  hides \"45s\" (a)")
        let mode = PropertyKey("law25t.mode", defaultValue: Mode.slow)
        expect("\(container.explain(mode))", equals: "law25t.mode = \"slow\" (default)")
        let url = PropertyKey<URL?>("law25t.url")
        try container.apply(DictionarySource(["law25t.url": "https://x.org"], name: "c"))
        expect("\(container.explain(url))", equals: "law25t.url = \"https://x.org\" (c)")
    }
}
