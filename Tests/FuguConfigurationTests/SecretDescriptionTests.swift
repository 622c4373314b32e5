import Foundation
import Fugu
import FuguConfiguration
import FuguInspection
import FuguScopes
import Support
import Testing

extension ContainerKeys {
    fileprivate var databasePasswordKey: PropertyKey<String?> { .init("law26.database.password", isSecret: true) }
}

private struct DatabaseContent: Decodable, Sendable {
    var host: String
    var password: Bool
}

extension ContainerKeys {
    fileprivate var databaseKey: PropertyKey<DatabaseContent?> { .init("law26.database") }
}

/// A type whose own error tells what it was given wherever it can.
private struct Talkative: Decodable, Sendable {
    init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        throw PropertyError("bad \(text)", name: text, expected: "not \(text)", found: text)
    }
}

/// Descriptions of containers, sources, and errors show no secret (law 17).
struct SecretDescriptionTests {
    private static let secret = "hunter2"
    private static let toml = "[database]\npassword = 'hunter2'"

    private static var sources: [any PropertySource] {
        [
            EnvironmentSource(environment: ["PASSWORD": secret]), ArgumentsSource(["--password", secret]),
            DictionarySource(["password": .string(secret)], name: "values"),
            StructSource(reflecting: Settings()), TOMLSource(text: toml, name: "toml"),
            JSONSource(text: #"{"password": "hunter2"}"#, name: "json"),
        ]
    }

    private struct Settings { var password = SecretDescriptionTests.secret }

    private func texts(of value: Any) -> [String] {
        var dumped = ""
        dump(value, to: &dumped)
        return [
            "\(value)", String(reflecting: value), dumped, "\([value])",
            "\(Mirror(reflecting: value).children.map { $0 })",
        ]
    }

    @Test(
        "No source and no snapshot prints, dumps or mirrors a value; they tell their name and the number of values (law 17)"
    )
    func sources() throws {
        // No source and no snapshot prints, dumps or mirrors a value.
        do {
            for source in Self.sources {
                for text in texts(of: source) + texts(of: try source.load()) {
                    expect(!text.contains("hunter2"), "\(text)")
                }
            }
        }
        // A source describes itself by its name and its number of values.
        do {
            let variables = EnvironmentSource(environment: ["A": "1", "B": "2"])
            expect("\(variables)", equals: "EnvironmentSource(environment, 2 values)")
            expect("\(DictionarySource(["a": 1], name: "d"))", equals: "DictionarySource(d, 1 value)")
            expect(
                "\(try TOMLSource(text: "a = 1\n[b]\nc = 2", name: "x").load())",
                equals: "PropertySnapshot(x, 2 values)")
            struct Own: PropertySource {
                let name = "own"
                let secret = "hunter2"
                func load() throws(PropertyError) -> PropertySnapshot { .missing(source: name) }
            }
            expect("\(Own())", equals: "Own(own)")
        }
    }

    @Test("What lies inside a table is shown by no explanation and no error, declared secret or not (law 17)")
    func insideTables() throws {
        let container = Container()
        let reports = container.reports()
        try container.apply(TOMLSource(text: "[law26.server]\nhost = 'h'\npassword = 'hunter2'", name: "x"))
        let table = PropertyKey<[String: PropertyValue]>("law26.server", defaultValue: [:])
        expect("\(container.explain { _ in table })", equals: "law26.server = {host, password} (x:1:1)")
        struct Server: Decodable, Sendable {
            var host: String
            var password: Int
        }
        let wrong = PropertyKey<Server?>("law26.server")
        expect(
            thrown { _ = try container.require { _ in wrong } },
            equals: "x:3:12: law26.server.password: expected Int, found string")
        container[PropertyKey<Law26Settings?>("law26.code")] = Law26Settings()
        expect(
            "\(container.explain { _ in PropertyKey<Law26Settings?>("law26.code") })",
            equals: "law26.code = {password} (set by code)")
        expect(reports.all.allSatisfy { !$0.contains("hunter2") })
    }

    private struct Law26Settings: Decodable, Sendable { var password = SecretDescriptionTests.secret }

    @Test(
        "A key that was declared, or whose name shares a variable with a secret, is secret before it is read (law 17)")
    func declared() throws {
        // A key that declare or validate has named is secret before it is first read.
        do {
            let container = Container().unreported
            container.declare(\.databaseKey, \.databasePasswordKey)
            try container.apply(DictionarySource(["law26.database": .string(Self.secret)], name: "x"))
            expect("\(container.explain(\.databaseKey))".contains("(secret)"))
            expect(thrown { try container.validate() }, equals: "x: law26.database: expected table, found string")
        }
        // Two names that share a variable are both secret if one is.
        do {
            let secret = PropertyKey<String?>("law26.pass.word", isSecret: true)
            let other = PropertyKey<Int>("law26.pass_word", defaultValue: 1)
            let container = Container().unreported
            try container.apply(EnvironmentSource(environment: ["LAW26_PASS_WORD": Self.secret]))
            expect(container[secret], equals: Self.secret)
            expect(!thrown { _ = try container.require { _ in other } }.contains("hunter2"))
            expect(!"\(container.explain { _ in other })".contains("hunter2"))
        }
    }

    @Test("Nothing that a type's own error says of a secret is printed, nor a name inside it (law 17)")
    func ownErrors() throws {
        // Nothing that a type's own error says of a secret is printed.
        do {
            let container = Container()
            try container.apply(TOMLSource(text: "law26.custom = 'hunter2'", name: "x"))
            let key = PropertyKey<Talkative?>("law26.custom", isSecret: true)
            expect(
                thrown { _ = try container.require { _ in key } }, equals: "x:1:16: law26.custom: the value is invalid")
            let open = PropertyKey<Talkative?>("law26.open")
            try container.apply(TOMLSource(text: "law26.open = 'blue'", name: "y"))
            expect(thrown { _ = try container.require { _ in open } }, equals: "y:1:14: blue: bad blue")
        }
        // The names inside a secret are shown by no error.
        do {
            let container = Container()
            let key = PropertyKey<[String: Int]>("law26.tokens", defaultValue: [:], isSecret: true)
            try container.apply(TOMLSource(text: "law26.tokens.hunter2 = 'x'", name: "x"))
            expect(
                thrown { _ = try container.require { _ in key } },
                equals: "x:1:24: law26.tokens.…: expected Int, found string")
            struct Login: Decodable, Sendable { var user: String }
            let login = PropertyKey<Login?>("law26.account", isSecret: true)
            try container.apply(TOMLSource(text: "[law26.account]", name: "y"))
            expect(
                thrown { _ = try container.require { _ in login } },
                equals: "y:1:1: law26.account.…: missing; expected String")
        }
    }

    @Test("An argument that stands where a secret's value should is not printed, nor what follows a name (law 17)")
    func arguments() throws {
        let key = PropertyKey<String?>("law26.password", isSecret: true)
        let container = Container()
        try container.apply(ArgumentsSource(["--law26-password", "--hunter2"]))
        expect(
            thrown { try container.validate([key]) },
            equals: """
                argument --law26-password: law26.password: needs a value; expected String, as in --law26-password=…
                the argument after --law26-password: unknown name; if it's the value of --law26-password, write --law26-password=…
                """)
        let other = Container()
        try other.apply(ArgumentsSource(["--law26-password:hunter2"]))
        expect(!thrown { try other.validate([key]) }.contains("hunter2"))
    }

    @Test(
        "A source can mark values as secrets by patterns of their names, which names that only begin alike do not match (law 17)"
    )
    func patterns() throws {
        // A source can mark values as secrets by patterns of their names.
        do {
            let container = Container()
            let source = DictionarySource(
                ["law26p": ["apiToken": "hunter2", "open": "blue", "a.token.b": "x"]], name: "x")
            try container.apply(source.markingSecrets("*apiToken", "vault.*", "law26p.*token*b"))
            expect(
                "\(container.explain { _ in PropertyKey<String?>("law26p.a.token.b") })",
                equals: "law26p.a.token.b = (secret) (x)")
            let token = PropertyKey<Int>("law26p.apiToken", defaultValue: 1)
            expect(
                thrown { _ = try container.require { _ in token } },
                equals: "x: law26p.apiToken: expected Int, found string")
            expect(
                "\(container.explain { _ in PropertyKey<String?>("law26p.apiToken") })",
                equals: "law26p.apiToken = (secret) (x)")
            expect(
                "\(container.explain { _ in PropertyKey<String?>("law26p.open") })",
                equals: "law26p.open = \"blue\" (x)")
        }
        // A name that only begins like a secret's is none; what stands in a secret's table or list is.
        do {
            let container = Container().unreported
            _ = container[PropertyKey<String?>("law26b.key", isSecret: true)]
            let values: [String: PropertyValue] = ["law26b.keyboard": "qwerty", "law26b.key.text": "hunter2"]
            try container.apply(DictionarySource(values, name: "x"))
            let open = PropertyKey<String?>("law26b.keyboard")
            expect("\(container.explain { _ in open })", equals: "law26b.keyboard = \"qwerty\" (x)")
            expect(!"\(container.explain { _ in PropertyKey<String?>("law26b.key.text") })".contains("hunter2"))
            expect(SecretNames.cover("law26b.key[2]") && !SecretNames.cover("law26b.keyboard[2]"))
        }
    }

    @Test("A line feed or an escape sequence in a name, a path or an argument forges no line (law 17)")
    func forged() throws {
        let container = Container()
        try container.apply(ArgumentsSource(["--x\nerror: all is well\u{1B}[2J=1"]))
        try container.apply(JSONSource(text: #"{"a\nfake: line\u001b[2J": 1}"#, name: "x\ny"))
        let error = thrown { try container.validate([PropertyKey<Int?>("law26.known")]) }
        expect(error.split(separator: "\n").count, equals: 2)
        expect(!error.contains("\u{1B}"))
        expect(error.contains("x\\ny:1:2: a\\nfake: line\\u001B[2J: unknown name"))
        expect(!"\(PropertyError("a\nb", source: "s\n", name: "n\u{7}"))".contains { $0.isNewline || $0 == "\u{7}" })
    }
}

extension ContainerKeys {
    fileprivate var database: PropertyKey<String?> { .init("law26.address") }
    fileprivate var link: PropertyKey<URL?> { .init("law26.link") }
    fileprivate var limit: PropertyKey<Int> { .init("law26.limit", defaultValue: 1) }
    fileprivate var replicas: PropertyKey<[String]> { .init("law26.replicas", defaultValue: []) }
    fileprivate var fallback: PropertyKey<URL> {
        .init("law26.fallback", defaultValue: URL(string: "redis://:hunter2@cache.example:6379")!)
    }
}

/// The user's part of a URL is never printed, secret or not (law 17).
struct SecretAddressTests {
    @Test(
        "A printed URL has no user and no password (law 17)",
        arguments: [
            ("postgres://user:hunter2@db.example:5432/app", "postgres://…@db.example:5432/app"),
            ("https://hunter2@example.org", "https://…@example.org"),
            ("redis://:hunter2@cache/0?a=b@c", "redis://…@cache/0?a=b@c"),
            ("amqp://u:hunter/2#?@host/x", "amqp://…@host/x"),
            ("mongodb://u:hunter2@a:1,b:2/x", "mongodb://…@a:1,b:2/x"),
            ("a://u:hunter2@b c://v:hunter2@d", "a://…@b c://…@d"),
            ("https://u:p@hunter2@example.org", "https://…@example.org"),
            ("https://example.org/@user", "https://example.org/@user"), ("user@example.org", "user@example.org"),
            ("https://example.org", "https://example.org"), ("://", "://"), ("é://ü:hunter2@ö/@", "é://…@ö/@"),
        ])
    func texts(text: String, expected: String) throws {
        let quoted = "\"\(expected)\""
        expect(PropertyValue.string(text).description, equals: quoted)
        expect(PropertyError("it's \(text)").description, equals: "it's \(expected)")
        expect(PropertyOrigin(source: text).description, equals: expected)
        let container = Container()
        try container.apply(
            DictionarySource(["law26.address": .string(text), "law26.limit": .string(text)], name: "x"))
        expect(container.explain(\.database).winner.value, equals: quoted)
        let error = #expect(throws: PropertyError.self) { try container.require(\.limit) }
        #expect(error?.found?.contains("hunter2") == false && error?.description.contains("hunter2") == false)
    }

    @Test("A long URL is cut after its user is left out, so that no part of it is seen (law 17)")
    func long() throws {
        let container = Container()
        let text = "postgres://user:hunter2\(String(repeating: "hunter2", count: 20))@db.example/app"
        try container.apply(EnvironmentSource(environment: ["LAW26_LIMIT": text]))
        let error = #expect(throws: PropertyError.self) { try container.require(\.limit) }
        expect(error?.found, equals: "text \"postgres://…@db.example/app\"")
    }

    @Test("Explanations, references, and graphs print no user of a URL, in lists and defaults, too (law 17)")
    func everywhere() throws {
        let container = Container()
        container.declare(\.database, \.link, \.replicas, \.fallback)
        let text = "postgres://user:hunter2@db.example/app"
        try container.apply(
            TOMLSource(text: "law26.replicas = ['\(text)', '\(text)']\nlaw26.link = '\(text)'", name: "x.toml"))
        try container.apply(ArgumentsSource(["--law26-address", text]))
        container.link = URL(string: text)
        _ = (container.database, container.replicas, container.fallback)
        let reference = container.reference()
        let texts =
            container.explain().map(\.description) + [
                reference.helpText, reference.toml, reference.markdown,
                "\(container.graph(includingValues: true))", "\(container)",
            ]
        for text in texts { #expect(!text.contains("hunter2"), "\(text)") }
        #expect(container.explain(\.replicas).winner.value?.contains("postgres://…@db.example/app") == true)
    }
}

extension ContainerKeys {
    fileprivate var password: PropertyKey<String> {
        .init("law26.password", defaultValue: "HUNTER default", isSecret: true)
    }
    fileprivate var token: PropertyKey<String> { .init(defaultValue: "HUNTER default", isSecret: true) }
}

// Law 17: a secret is never printed, not in dumps or mirrors either, of whatever the container hands out.
/// Law 17: nothing that a container hands out reveals a secret.
struct SecretDumpTests {}

extension SecretDumpTests {
    struct Password: Property {
        static var isSecret: Bool { true }
        static var defaultValue: String { "HUNTER default" }
    }
    private struct Reader { @Injected(\.password) var password }

    /// Expects that neither a description nor a dump nor a mirror of `subject` reveals anything.
    private func expectSecrecy(of subject: Any, _ name: String, sourceLocation: SourceLocation = #_sourceLocation) {
        var text = "\(subject) \(String(reflecting: subject))"
        dump(subject, to: &text)
        var open = [(Mirror(reflecting: subject), 0)]
        while let (mirror, depth) = open.popLast(), depth < 8 {
            for child in mirror.children {
                text += "\(child.value) \(String(reflecting: child.value))"
                open.append((Mirror(reflecting: child.value), depth + 1))
            }
        }
        #expect(!text.contains("HUNTER"), "\(name)", sourceLocation: sourceLocation)
    }

    @Test("Sequences of values, their iterators and wrappers tell nothing (law 17)")
    func sequences() async {
        let root = Container()
        root.password = "HUNTER2"
        let child = root.child { $0.token = "HUNTER3" }
        expectSecrecy(of: root.values(of: \.password), "values")
        expectSecrecy(of: child.values(of: \.token), "values of a child")
        expectSecrecy(of: child.values(of: Password.self), "values of a type")
        var iterator = root.values(of: \.password).makeAsyncIterator()
        expectSecrecy(of: iterator, "iterator")
        await expect(iterator.next(isolation: nil), equals: "HUNTER2")
        root.password = "HUNTER4"
        expectSecrecy(of: iterator, "iterator with a value that nobody has taken")
        expectSecrecy(of: Reader(), "injected")
        expectSecrecy(of: Injected(\.password, in: child), "injected in a child")
    }

    @Test("Containers, views, handles, keys, tokens, events and graphs tell nothing (law 17)")
    func handles() {
        let root = Container()
        let events = Log<ContainerEvent>()
        let recording = root.observeEvents { events.add($0) }
        root.password = "HUNTER2"
        root[Password.self] = "HUNTER3"
        let child = root.child { $0.token = "HUNTER4" }
        for container in [root, child] {
            expectSecrecy(of: container, "container")
            expectSecrecy(of: container.observable, "observable")
            expectSecrecy(of: container.graph, "graph")
        }
        expectSecrecy(of: ContainerKeys().password, "key")
        expectSecrecy(of: ContainerKeys().token, "key without a name")
        expectSecrecy(of: root.observe(\.password) { _ in }, "token")
        root.update { changes in
            changes[Password.self] = "HUNTER5"
            expectSecrecy(of: changes, "update")
        }
        root.configureScopes { handle in
            handle.password = "HUNTER6"
            expectSecrecy(of: handle, "rule")
        }
        let scope = root.scope("/a")
        expect(scope.password, equals: "HUNTER6")
        expectSecrecy(of: scope, "scope")
        let key = FeatureKey { handle in
            expectSecrecy(of: handle, "handle")
            expectSecrecy(of: Container.current, "current")
            return handle.password.count
        }
        expect(root[key], equals: 7)
        expectSecrecy(of: key, "feature key")
        expectSecrecy(of: Container(copying: root), "copy")
        root.reset(\.password)
        _ = root.password
        expectSecrecy(of: events.all, "events")
        recording.cancel()
    }

    @Test("Children by a secret tell none of its values (law 17)")
    func children() async {
        let children = Container().children(by: \.token)
        await children.withChild(for: "HUNTER2") { _ in expectSecrecy(of: children, "children in use") }
        expectSecrecy(of: children, "children")
        let held = await children.hold("HUNTER3")
        expectSecrecy(of: held, "held child")
        await held.close()
        await children.evictAll()
        expectSecrecy(of: children, "no children")
    }
}

/// A type that says everything it knows in its error.
private struct Login: Decodable, Sendable {
    var user: String
    var password: String

    init(from decoder: any Decoder) throws {
        struct Plain: Decodable { var user, password: String }
        let plain = try Plain(from: decoder)
        (user, password) = (plain.user, plain.password)
        let text = "\(plain) is too short"
        switch user {
        case "coding":
            throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: text))
        case "own": throw PropertyError(text, name: text)
        default: throw Failure(text: text)
        }
    }

    private struct Failure: Error { let text: String }
}

/// What a type's own error says of the values inside a table, which may be secrets that no key declares (law 17).
struct SecretInOwnErrorTests {
    @Test(
        "An error that a table's own type throws quotes nothing from inside, nor does an explanation of it (law 17)",
        arguments: ["coding", "own", "other"])
    func tables(user: String) throws {
        let container = Container()
        container.handleReports { _ in }
        let text = "[own26]\nlogin = { user = '\(user)', password = 'hunter2' }"
        try container.apply(TOMLSource(text: text, name: "x"))
        let key = PropertyKey<Login?>("own26.login")
        let list = PropertyKey<[Login]?>("own26.list")
        try container.apply(
            DictionarySource(["own26": ["list": [["user": .string(user), "password": "hunter2"]]]], name: "y"))
        for said in [
            thrown { _ = try container.require { _ in key } }, thrown { _ = try container.require { _ in list } },
            thrown { try container.validate([key, list]) }, "\(container.explain { _ in key })",
            "\(container.explain { _ in list })",
        ] {
            expect(!said.contains("hunter2") && said.contains("the value is invalid"), "\(said)")
        }
    }

    @Test("An error of a type that is one text is shown as the type says it (law 17)")
    func texts() throws {
        struct Color: Decodable, Sendable {
            init(from decoder: any Decoder) throws {
                let text = try decoder.singleValueContainer().decode(String.self)
                throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "no color: \(text)"))
            }
        }
        let container = Container()
        try container.apply(TOMLSource(text: "own26.color = 'bleu'", name: "x"))
        let color = PropertyKey<Color?>("own26.color")
        expect(thrown { _ = try container.require { _ in color } }, equals: "x:1:15: own26.color: no color: bleu")
    }
}

private struct Member: Codable, Sendable { var a: Int? }

extension ContainerKeys {
    fileprivate var secretNames: PropertyKey<[String: Int]> {
        .init("names17.map", defaultValue: [:], form: .formerly("names17.old"), isSecret: true)
    }
    fileprivate var secretMerged: PropertyKey<[String: Int]> {
        .init("names17.merged", defaultValue: [:], form: .merged, isSecret: true)
    }
    fileprivate var secretMember: PropertyKey<Member> { .init("names17.t", defaultValue: Member(), isSecret: true) }
    fileprivate var secretMembers: PropertyKey<[Member]> { .init("names17.list", defaultValue: [], isSecret: true) }
    fileprivate var markedNames: PropertyKey<[String: Int]> { .init("marked17.map", defaultValue: [:]) }
    fileprivate var markedMember: PropertyKey<Member> { .init("marked17.t", defaultValue: Member()) }
    fileprivate var outerNames: PropertyKey<[String: [String: Int]]> { .init("outer17", defaultValue: [:]) }
    fileprivate var innerNames: PropertyKey<[String: Int]> { .init("outer17.inner", defaultValue: [:], isSecret: true) }
}

struct SecretTableTests {
    private static let table = #"{"hunter2": "x"}"#

    /// `names`: Those of the tables, the innermost first.
    private static func file(_ names: String...) -> JSONSource {
        JSONSource(text: names.reduce(table) { "{\"\($1)\": \($0)}" }, name: "file")
    }

    private static func lines(_ variable: String, _ text: String = table) -> DotEnvSource {
        DotEnvSource(text: "\(variable)=\(text)", name: ".env", prefix: "APP")
    }

    @Test("No name inside a secret table is printed, however its source spells the table's name (law 17)")
    func names() throws {
        let sources: [any PropertySource] = [
            Self.lines("APP_NAMES17_MAP"), Self.lines("APP_NAMES17_OLD"), Self.lines("APP_NAMES17_MERGED"),
            Self.lines("APP_NAMES17_T"), Self.lines("APP_NAMES17_LIST", "[\(Self.table)]"),
            Self.lines("APP_OUTER17", "{\"inner\": \(Self.table)}"),
            Self.file("map", "names17", "app").scoped(to: "app"), Self.file("t", "names17", "app").scoped(to: "app"),
            Self.file("map").mappingNames { $0.hasPrefix("names17.") ? String($0.dropFirst(8)) : nil },
            Self.file("map", "marked17").markingSecrets("marked17.*"),
            Self.file("t", "marked17").markingSecrets("marked17.t"),
            Self.file("map", "marked17").markingSecrets("marked17"),
            Self.lines("APP_MARKED17_MAP").markingSecrets("*.map"), Self.lines("APP_MARKED17_T").markingSecrets("*.t"),
            EnvironmentSource(environment: ["MARKED17_MAP": Self.table]).markingSecrets("marked17.map"),
            ArgumentsSource(["--marked17-t", Self.table]).markingSecrets("marked17.t"),
        ]
        for source in sources {
            let container = Container()
            let reports = container.reports()
            container.declare(
                \.secretNames, \.secretMerged, \.secretMember, \.secretMembers, \.markedNames, \.markedMember,
                \.outerNames, \.innerNames)
            try container.apply(source)
            _ = (container.secretNames, container.secretMerged, container.markedNames, container.outerNames)
            let told = thrown { try container.validate() }
            let texts = [told] + container.explain().map { "\($0)" } + reports.all
            for text in texts { expect(!text.contains("hunter2"), "\(text)") }
            expect(told.contains("…"), "\(told)")
        }
        // Nor is a name that no key has, inside a table that a source calls secret.
        let other = Container()
        other.declare(\.markedMember)
        try other.apply(JSONSource(text: #"{"marked17": {"hunter2": 1}}"#, name: "file").markingSecrets("marked17"))
        expect(thrown { try other.validate() }, equals: "file:1:15: marked17.…: unknown name")
        // The names around a secret are printed, and those beside it.
        let container = Container().unreported
        container.declare(\.outerNames, \.innerNames)
        try container.apply(Self.lines("APP_OUTER17", #"{"beside": {"a": "x"}}"#))
        expect(
            thrown { try container.validate() }, equals: ".env:1:13: APP_OUTER17.beside.a: expected Int, found string")
    }

    private struct Pool: Codable, Sendable { var user: String? }

    @Test("A text that begins as a list of tables does isn't quoted (law 17)")
    func lists() throws {
        let one = PropertyKey<Pool?>("pools17.one"), all = PropertyKey<[Pool]>("pools17.all", defaultValue: [])
        let table = #"{"password": "hunter2"}"#
        for text in ["[\(table)", "[\(table)]", " [ \n\(table)", "[[\(table)"] {
            for variable in ["POOLS17_ONE", "POOLS17_ALL"] {
                let container = Container().unreported
                try container.apply(EnvironmentSource(environment: [variable: text]))
                let told = [
                    thrown { _ = try container.require { _ in one } },
                    thrown { _ = try container.require { _ in all } },
                ]
                expect(!told.joined().contains("hunter2"), "\(told)")
            }
        }
    }
}
