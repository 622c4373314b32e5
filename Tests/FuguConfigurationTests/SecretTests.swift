import Foundation
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

/// What a key calls secret is never printed (law 17).
struct SecretTests {
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

    @Test("A wrong secret is reported and thrown, and refuses a reload, without its value (law 17)")
    func errors() throws {
        // A wrong secret is reported and thrown without its value.
        do {
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
        // A reload that is refused because of a secret does not tell it.
        do {
            let fresh = try Self()
            let container = fresh.container
            let source = ChangingSource(["db.password": 5])
            try container.apply(source)
            expect(container.password, equals: 5)
            source.change(to: ["db.password": .string(secret)])
            let error = thrown { try container.reload() }
            expect(error, equals: "changing: db.password: expected Int, found string")
        }
    }

    @Test("explain masks every value of a secret, and a name that one key calls a secret is one for all (law 17)")
    func explain() throws {
        // explain masks the value that wins, those it hides, and the default.
        do {
            let key = PropertyKey("db.mode", defaultValue: "d3fault", isSecret: true)
            expect("\(container.explain { _ in key })", equals: "db.mode = (secret) (vault)")
            expect(container.explain { _ in key }.winner.value == nil)
            let child = container.child()
            child[key] = secret + " by code"
            try child.apply(ArgumentsSource(["--db-mode", secret]))
            expect(
                "\(child.explain { _ in key })",
                equals: """
                    db.mode = (secret) (set by code)
                      hides (secret) (argument --db-mode)
                      hides (secret) (vault)
                    """)
            expect("\(Container().explain { _ in key })", equals: "db.mode = (secret) (default)")
            expect(
                "\(container.explain(\.password))",
                equals: """
                    db.password = (secret) (default)
                      wrong: vault: db.password: expected Int, found string
                    """)
            expect(isClean("\(container.explain(\.databaseKey))"))
        }
        // A name that one key calls a secret is one for all keys of that name and type.
        do {
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
    }

    @Test("Syntax errors quote at most one character, errors of untyped access no value (law 17)")
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

    @Test("The graph and the containers' descriptions hold no values")
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

// The optimizer of Swift 6.3.1 crashes on this target where these tests are in it.

#if DEBUG || UNOPTIMIZED

/// A struct that prints its members.
private struct Account: Decodable, Sendable, CustomStringConvertible {
    var user: String
    var token: String
    var description: String { "\(user):\(token)" }
}

private struct Login: Feature {
    static func load(in container: any FeatureContainer) -> Login {
        _ = (container.vaultWord, container.vaultAccount)
        return Login()
    }
}

private struct FailingLogin: ThrowingFeature {
    struct Refused: Error, CustomStringConvertible { let description: String }
    static func load(in container: any FeatureContainer) throws -> Int {
        throw Refused(description: "refused \(container.vaultWord ?? "")")
    }
}

extension ContainerKeys {
    fileprivate var vaultWord: PropertyKey<String?> { .init("vault26.word") }
    fileprivate var vaultNumber: PropertyKey<Int> { .init("vault26.number", defaultValue: 0) }
    fileprivate var vaultAccount: PropertyKey<Account?> { .init("vault26.account") }
    fileprivate var openAccounts: PropertyKey<[Account]> {
        .init("open26.accounts", defaultValue: [Account(user: "hunter2", token: "hunter2")])
    }
    fileprivate var oneDefault: PropertyKey<Account> {
        .init("open26.account", defaultValue: Account(user: "hunter2", token: "a"))
    }
    fileprivate var anotherDefault: PropertyKey<Account> {
        .init("open26.account", defaultValue: Account(user: "hunter2", token: "b"))
    }
    fileprivate var mergedAccount: PropertyKey<Account?> { .init("vault26.merged", form: .merged) }
}

/// What a source calls secret is never printed, although no key says so (law 17).
struct SecretSourcesTests {
    private static let values: [String: PropertyValue] = [
        "word": "hunter2", "number": "hunter2", "account": ["user": "hunter2", "token": "hunter2"],
    ]

    @Test("What a source calls secret about one member, or later, is a secret of the whole (law 17)")
    func merged() throws {
        // What a source calls secret about one member of a merged table is secret in the whole.
        do {
            let container = Container()
            container.handleReports { _ in }
            try container.apply(DictionarySource(["vault26.merged": ["user": "hunter2"]], name: "d"))
            try container.apply(
                EnvironmentSource(environment: ["VAULT26_MERGED_TOKEN": "hunter2"]).markingSecrets("*.token"))
            container.declareCheck(of: \.mergedAccount, "is wrong") { _ in false }
            let texts = [
                "\(container.explain(\.mergedAccount) as Explanation)",
                thrown { try container.validate(\.mergedAccount) },
                "\(container.graph(includingValues: true))", container.reference().helpText,
            ]
            expect(container.mergedAccount?.token, equals: "hunter2")
            for text in texts + ["\(container.graph(includingValues: true))"] {
                expect(!text.contains("hunter2"), "\(text)")
            }
        }
        // A value that was open is a secret once the source that replaces its own calls it one.
        do {
            let container = Container()
            let source = DictionarySource(["later26.token": "hunter2"], name: "values")
            let key = PropertyKey<String?>("later26.token")
            try container.apply(source)
            expect(container[key], equals: "hunter2")
            try container.replaceSources(named: "values", with: source.markingSecrets("*.token"))
            expect(container[key], equals: "hunter2")
            expect(!container.graph(includingValues: true).json.contains("hunter2"))
        }
    }

    @Test("What may be the value of a flag that a source calls secret isn't printed as an unknown name (law 17)")
    func flags() throws {
        let arguments = ArgumentsSource(["--vault26-word", "--hunter2", "--vault26-account", "--hunter3"])
        let container = Container()
        try container.apply(arguments.markingSecrets("vault26.word"))
        try container.apply(
            arguments.markingSecrets("word").mappingNames { $0 == "vault26.word" ? "vault26.word" : nil })
        try container.apply(arguments.mappingNames { $0 }.markingSecrets("*.word"))
        let told = thrown { try container.validate(\.vaultWord, \.vaultAccount) }
        expect(told.contains("argument after --vault26-word") && told.contains("hunter3"), "\(told)")
        let safe = Container()
        try safe.apply(arguments.mappingNames { $0 }.markingSecrets("*.word"))
        expect(!thrown { try safe.validate(\.vaultWord) }.contains("hunter2"))
    }

    /// Every text about a container that could hold a value.
    private func texts(of container: Container) -> [String] {
        let reports = container.reports()
        container.declare(\.vaultWord, \.vaultNumber, \.vaultAccount)
        let errors = [
            thrown { try container.validate() }, thrown { _ = try container.require(\.vaultNumber) },
            thrown { _ = try container.property("vault26.number", as: Bool.self) },
        ]
        _ = (container[Login.self], container.vaultNumber, try? container[FailingLogin.self])
        let child = container.child { $0.vaultWord = "code" }
        let grandchild = container.child()
        _ = grandchild.vaultWord
        let graphs = [container, child, grandchild].map { $0.graph(includingValues: true) }
        let explanations = [container, child, grandchild].flatMap { container in
            container.explain().map { "\($0)" } + [
                "\(container.explain(\.vaultWord) as KeyExplanation)",
                "\(container.explain(\.vaultAccount) as KeyExplanation)",
                "\(container.explain(Login.self) as KeyExplanation)",
                "\(container.explain(FailingLogin.self) as KeyExplanation)",
            ]
        }
        return errors + explanations + graphs.flatMap { [$0.json, $0.html, "\($0)"] } + reports.all
    }

    private func expectSecret(_ source: some PropertySource) throws {
        let container = Container()
        try container.apply(source)
        expect(container.vaultWord, equals: "hunter2")
        expect(container.vaultAccount?.token, equals: "hunter2")
        for text in texts(of: container) { expect(!text.contains("hunter2"), "\(text.prefix(300))") }
    }

    @Test(
        "The values of a folder, or of a source that marks secrets, are never printed, wrapped or fetched in any order (law 17)"
    )
    func wrapped() async throws {
        // The values of a source that marks secrets are never printed, whatever wraps it and in any order.
        do {
            let plain = DictionarySource(["vault26": .table(Self.values)], name: "plain")
            let deeper = DictionarySource(["deep": ["vault26": .table(Self.values)]], name: "deep")
            let renamed = DictionarySource(["other": .table(Self.values)], name: "renamed")
            try expectSecret(plain.markingSecrets("vault26.*"))
            try expectSecret(deeper.markingSecrets("deep.*").scoped(to: "deep"))
            try expectSecret(deeper.scoped(to: "deep").markingSecrets("vault26.*"))
            try expectSecret(renamed.markingSecrets("other.*").mappingNames { "other" + $0.dropFirst(7) })
            try expectSecret(
                deeper.markingSecrets("deep.vault26.word").scoped(to: "deep").markingSecrets(
                    "*number", "*token", "*user"))
        }
        // The values of a folder are never printed, whatever wraps it.
        do {
            let folder = NSTemporaryDirectory() + "fugu-secret-\(UUID())"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(atPath: folder) }
            try Data("hunter2\n".utf8).write(to: URL(fileURLWithPath: folder + "/word"))
            try Data("hunter2\n".utf8).write(to: URL(fileURLWithPath: folder + "/number"))
            let container = Container()
            try container.apply(FolderSource(path: folder).mappingNames { String($0.dropFirst("vault26.".count)) })
            expect(container.vaultWord, equals: "hunter2")
            for text in texts(of: container) { expect(!text.contains("hunter2"), "\(text.prefix(300))") }
        }
        // The values of a fetched source that marks secrets are never printed, also after another fetch.
        do {
            let container = Container()
            try await container.apply(Remote().markingSecrets("vault26"))
            try await container.refresh()
            expect(container.vaultWord, equals: "hunter2")
            for text in texts(of: container) { expect(!text.contains("hunter2"), "\(text.prefix(300))") }
        }
    }

    @Test("A secret inside a table makes the table one, and values inside a list of tables aren't explained (law 17)")
    func insideTable() throws {
        // A secret inside a table makes the table one.
        do {
            let container = Container()
            try container.apply(
                DictionarySource(["vault26": .table(Self.values)], name: "plain").markingSecrets("*.token"))
            expect(container.explain(\.vaultAccount).winner.value == nil)
            expect(container.explain(\.vaultWord).winner.value, equals: "\"hunter2\"")
        }
        // The values inside a list of tables aren't explained, though the type prints them.
        do {
            let container = Container()
            expect(
                "\(container.explain(\.openAccounts) as Explanation)",
                equals: "open26.accounts = [{user, token}] (default)"
            )
            let accounts: PropertyValue = [["user": "hunter2", "token": "hunter2"]]
            try container.apply(DictionarySource(["open26.accounts": accounts], name: "d"))
            expect(
                "\(container.explain(\.openAccounts) as Explanation)", equals: "open26.accounts = [{token, user}] (d)")
            container.openAccounts = container.openAccounts
            expect(!"\(container.explain(\.openAccounts) as Explanation)".contains("hunter2"))
            let told = thrown { try container.validate(\.openAccounts, \.oneDefault, \.anotherDefault) }
            expect(told.contains("has two defaults, {token, user} (") && !told.contains("hunter2"), "\(told)")
        }
    }

    private struct Remote: AsyncPropertySource {
        let name = "remote"
        func fetch() async throws -> PropertySnapshot {
            try PropertySnapshot(["vault26": .table(SecretSourcesTests.values)], source: name)
        }
    }
}

#endif
