import Fugu
import FuguConfiguration
import FuguInspection
import Support
import Testing

extension ContainerKeys {
    fileprivate var password: PropertyKey<Int> { .init("db.password", defaultValue: 0, isSecret: true) }
    fileprivate var mode: PropertyKey<SecretMode> { .init("db.mode", defaultValue: SecretMode.slow, isSecret: true) }
    fileprivate var timeout: PropertyKey<Int> { .init("db.timeout", defaultValue: 30) }
}

private enum SecretMode: String, Decodable { case slow, fast }

/// A type whose own error quotes what it was given.
private struct Key: Decodable {
    struct Refused: Error { let text: String }
    init(from decoder: any Decoder) throws {
        throw Refused(text: try decoder.singleValueContainer().decode(String.self))
    }
}

extension ContainerKeys {
    fileprivate var databaseKey: PropertyKey<Key?> { .init("db.key", isSecret: true) }
}

@Suite struct Law26SecretTests {
    static let cases: [Case<Law26SecretTests>] = [
        Case("A wrong secret is reported and thrown without its value (law 26)", errors),
        Case("A reload that is refused because of a secret does not tell it", reload),
        Case("A name that one key calls a secret is one for all keys of that name and type", sameName),
        Case("Syntax errors quote at most one character, errors of untyped access no value (law 26)", syntax),
        Case("The graph and the containers' descriptions hold no values", graph),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<Law26SecretTests>) async throws { try await stated.run(self) }

    private let container = Container()
    private let reports: Log<String>
    private let secret = "s3cr3t-hunter2"

    init() throws {
        reports = container.reports()
        try container.apply(
            DictionarySource(
                ["db": ["password": .string(secret), "mode": .string(secret), "key": .string(secret), "timeout": 1]],
                name: "vault"))
    }

    private func isClean(_ text: String) -> Bool { !text.contains("s3cr3t") && !text.contains("hunter2") }

    func errors() {
        expect(container.password, equals: 0)
        expect(container.mode, equals: .slow)
        expect(container.databaseKey == nil)
        expect(reports.all.count, equals: 3)
        expect(reports.all.first, equals: "vault: db.password: expected Int, found string")
        let texts =
            reports.all + [
                thrown { _ = try container.require(\.password) },
                thrown { _ = try container.require(\.databaseKey) },
                thrown { try container.validate(\.password, \.mode, \.databaseKey) },
                thrown { _ = try container.property("db.password", as: Bool.self) },
                thrown { _ = try container.property("db.mode", as: [Int].self) },
                thrown { _ = try container.property("db.key", as: Key.self) },
            ]
        for text in texts { expect(isClean(text) && text.contains("vault"), "\(text)") }
    }

    func reload() throws {
        let source = ChangingSource(["db.password": 5])
        try container.apply(source)
        expect(container.password, equals: 5)
        source.change(to: ["db.password": .string(secret)])
        let error = thrown { try container.reload() }
        expect(error, equals: "changing: db.password: expected Int, found string")
    }

    @Test("explain masks the value that wins, those it hides, and the default")
    func explain() throws {
        let key = PropertyKey("db.mode", defaultValue: "d3fault", isSecret: true)
        expect("\(container.explain(key))", equals: "db.mode = (secret) (vault)")
        expect(container.explain(key).winner.value == nil)
        let child = container.child()
        child[key] = secret + " by code"
        try child.apply(ArgumentsSource(["--db-mode", secret]))
        expect(
            "\(child.explain(key))",
            equals: """
                db.mode = (secret) (set by code)
                  hides (secret) (argument --db-mode)
                  hides (secret) (vault)
                """)
        expect("\(Container().explain(key))", equals: "db.mode = (secret) (default)")
        expect(
            "\(container.explain(\.password))",
            equals: """
                db.password = (secret) (default)
                  wrong: vault: db.password: expected Int, found string
                """)
        expect(isClean("\(container.explain(\.databaseKey))"))
    }

    func sameName() throws {
        let careless = PropertyKey("db.same", defaultValue: 0)
        let careful = PropertyKey("db.same", defaultValue: 0, isSecret: true)
        expect(careless, equals: careful)
        let container = Container()
        let source = ChangingSource(["db.same": 1])
        try container.apply(source)
        expect(container[careless], equals: 1)
        expect(container[careful], equals: 1)
        source.change(to: ["db.same": .string(secret)])
        expect(isClean(thrown { try container.reload() }))
    }

    func syntax() {
        for text in [
            "{\"password\": \(secret)}", "{\"password\": \"\(secret)", "{\"\(secret)\" 1}",
            "{\"password\": =\(secret)}",
        ] {
            expect(isClean(thrown { try container.apply(JSONSource(text: text, name: "vault")) }))
        }
        for text in [
            "password = \(secret)", "password = \"\(secret)", "password = \"\(secret)\" x", "password \(secret)",
        ] {
            expect(isClean(thrown { try container.apply(TOMLSource(text: text, name: "vault")) }))
        }
    }

    func graph() {
        container[PropertyKey<String>("db.mode", defaultValue: "", isSecret: true)] = secret
        _ = container.password
        let graph = container.graph
        expect(isClean("\(graph)"))
        expect(isClean(graph.mermaid))
        expect(isClean(graph.dot))
        expect(isClean("\(container)"))
        expect(isClean("\(DictionarySource(["a": .string(secret)], name: "x").name)"))
        container.password = 31_337
        container.timeout = 41_414
        let values = container.graph(includingValues: true).entries.compactMap(\.value)
        expect(values.contains("41414"))
        expect(!values.contains("31337"))
    }
}
