import Fugu
import Support
import Testing

@testable import FuguConfiguration

@Suite struct Law24FormsTests {
    static let cases: [Case<Law24FormsTests>] = [
        Case("Characters that Unicode holds equal to ASCII ones are the same in a name", singletons),
        Case("One name in two forms is given twice", twice),
        Case("A table decodes with the dotted names that stand in it, as each of them answers (law 24)", dottedMembers),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<Law24FormsTests>) async throws { try await stated.run(self) }

    private static let composed = "gr\u{F6}\u{DF}e"
    private static let decomposed = "gro\u{308}\u{DF}e"

    @Test(
        "A name is found however its accents are composed, in tables of every size (law 24)",
        arguments: [0, 40], [(composed, decomposed), (decomposed, composed)])
    func accents(others: Int, names: (written: String, asked: String)) throws {
        let padding = (0..<others).map { "k\($0) = 0\n\"\u{E9}\($0)\" = 1\n" }.joined()
        let source = TOMLSource(text: "[t]\n" + padding + "\"\(names.written)\" = 5", name: "x")
        let container = Container()
        try container.apply(source)
        try expect(container.property("t.\(names.asked)", as: Int.self), equals: 5)
        try Container().apply(source)
        let dotted = Container()
        try dotted.apply(JSONSource(text: "{\"t.\(names.written)\": 6}", name: "y"))
        try expect(dotted.property("t.\(names.asked)", as: Int.self), equals: 6)
    }

    func singletons() throws {
        let container = Container()
        try container.apply(JSONSource(text: "{\"\u{212A}elvin\": 3}", name: "x"))
        try expect(container.property("Kelvin", as: Int.self), equals: 3)
        try container.apply(JSONSource(text: "{\"Key\": 4}", name: "x"))
        try expect(container.property("\u{212A}ey", as: Int.self), equals: 4)
    }

    func twice() {
        let text = "{\"\(Self.composed)\": 1, \"\(Self.decomposed)\": 2}"
        expect(thrown { try Container().apply(JSONSource(text: text, name: "x")) }.contains("the name appears twice"))
    }

    private struct Server: Decodable, Sendable {
        struct Pool: Decodable, Sendable { var size: Int }
        var host: String?
        var pool: Pool?
    }

    func dottedMembers() throws {
        let container = Container()
        try container.apply(JSONSource(text: #"{"srv": {"host": "h", "pool.size": 5}}"#, name: "x"))
        try expect(container.property("srv.pool.size", as: Int.self), equals: 5)
        try expect(container.property("srv.pool", as: Server.Pool.self)?.size, equals: 5)
        let server = try container.property("srv", as: Server.self)
        expect(server?.pool?.size, equals: 5)
        expect(server?.host, equals: "h")
        try expect(container.property("srv", as: [String: PropertyValue].self), equals: ["host": "h", "pool.size": 5])
        try container.validate([PropertyKey<Server?>("srv")])
    }
}
