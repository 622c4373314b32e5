import Fugu
import FuguConfiguration
import Support
import Testing

/// A source of one's own that knows where its values are.
private struct Sheet: PropertySource {
    let name = "sheet"
    let values: [String: PropertyValue]

    func load() throws(PropertyError) -> PropertySnapshot {
        try PropertySnapshot(values, source: name) { name in
            let rows = ["server.port": 3, "server.hosts[1]": 5, "sever.port": 7, "server": 2]
            return rows[name].map { PropertyOrigin(source: "sheet.csv", line: $0, column: 2) }
        }
    }
}

private struct Vault: PropertySource {
    let name = "vault"

    func load() throws(PropertyError) -> PropertySnapshot {
        PropertySnapshot(source: name) { name in
            name == "server.port" ? PropertyOrigin(source: "vault secret server/port, version 3") : nil
        } text: { name in
            ["server.port": "many", "server.hosts": "1,x", "server.name": "a"][name]
        }
    }
}

extension ContainerKeys {
    fileprivate var port: PropertyKey<Int> { .init("server.port", defaultValue: 80) }
    fileprivate var hosts: PropertyKey<[Int]> { .init("server.hosts", defaultValue: []) }
    fileprivate var serverName: PropertyKey<String> { .init("server.name", defaultValue: "none") }
}

@Suite struct Law25OwnPlacesTests {
    static let cases: [Case<Law25OwnPlacesTests>] = [
        Case(
            "Errors have the places that a source of one's own gives, also inside arrays and for unknown names (law 25)",
            values),
        Case("An explanation has the place, and what has none has the name of the source (law 25)", explanations),
        Case("Texts of a source of one's own have places, too (law 25)", texts),
        Case("A view of the source keeps the places (law 25)", views),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<Law25OwnPlacesTests>) async throws {
        try await stated.run(self)
    }

    private let container = Container()

    private func errors(_ source: some PropertySource) throws -> [String] {
        try container.apply(source)
        container.declare(\.port, \.hosts)
        return try #require(throws: PropertyErrors.self) { try container.validate() }.errors.map { "\($0)" }
    }

    func values() throws {
        let source = Sheet(values: ["server": ["port": "x", "hosts": [1, "y"]], "sever.port": 1])
        let errors = try errors(source)
        expect(
            errors,
            equals: [
                "sheet.csv:3:2: server.port: expected Int, found string \"x\"",
                "sheet.csv:5:2: server.hosts[1]: expected Int, found string \"y\"",
                "sheet.csv:7:2: sever: unknown name; did you mean server?",
            ])
    }

    func explanations() throws {
        try container.apply(Sheet(values: ["server.port": 1, "server.name": "a"]))
        expect("\(container.explain(\.port))", equals: "server.port = 1 (sheet.csv:3:2)")
        expect("\(container.explain(\.serverName))", equals: "server.name = \"a\" (sheet)")
    }

    func texts() throws {
        let errors = try errors(Vault())
        expect(
            errors,
            equals: [
                "vault secret server/port, version 3: server.port: expected Int, found text \"many\"",
                "vault: server.hosts[1]: expected Int, found text \"x\"",
            ])
    }

    func views() throws {
        try container.apply(
            Sheet(values: ["server.port": 1]).mappingNames { $0 == "server.name" ? "server.port" : nil })
        expect(container.explain(\.serverName).mistake?.line, equals: 3)
    }
}
