import Foundation
import Fugu
import FuguConfiguration
import FuguInspection
import Support
import Testing

private enum Verbosity: String, Decodable, Sendable, CaseIterable { case debug, info }

extension ContainerKeys {
    fileprivate var declaredFirst: PropertyKey<Int> { .init("declared.first", defaultValue: 1) }
    fileprivate var declaredSecond: PropertyKey<String?> { .init("declared.second", isSecret: true) }
    fileprivate var retriesKey: PropertyKey<Int> { .init("declared.api.maxRetries", defaultValue: 3) }
}

struct DeclarationTests {
    private let container = Container()
    private let port = PropertyKey("declared.server.port", defaultValue: UInt16(8080), help: "Where it listens.")
    private let hosts = PropertyKey("declared.server.hosts", defaultValue: ["a", "b"])
    private let level = PropertyKey("declared-level", defaultValue: Verbosity.info)
    private let timeout = PropertyKey("declared.server.timeout", defaultValue: Duration.seconds(30))
    private let password = PropertyKey<String?>("declared.password", isSecret: true)

    init() {
        container.declare([port, hosts, level, timeout, password, ContainerKeys().retriesKey])
    }

    @Test("What was declared is validated and explained without a list, in descendants and copies too")
    func declared() throws {
        let reports = container.reports()
        try container.apply(TOMLSource(text: "[declared]\nserver.prot = 1\napi.maxRetries = 'x'", name: "x"))
        let mistakes = """
            x:3:18: declared.api.maxRetries: expected Int, found string "x"
            x:2:8: declared.server.prot: unknown name; did you mean declared.server.port?
            """
        expect(thrown { try container.validate() }, equals: mistakes)
        expect(thrown { try container.child().validate() }, equals: mistakes)
        expect(thrown { try Container(copying: container).validate() }, equals: mistakes)
        expect(
            container.explain().map(\.name),
            equals: [
                "declared.server.port", "declared.server.hosts", "declared-level", "declared.server.timeout",
                "declared.password", "declared.api.maxRetries",
            ])
        expect("\(container.explain()[4])", equals: "declared.password = (secret) (default)")
        expect(reports.all, equals: ["x:3:18: declared.api.maxRetries: expected Int, found string \"x\""])
    }

    @Test("Keys are declared by their members of ContainerKeys too, once, and for a child alone")
    func keyPaths() throws {
        // Keys are declared by their members of ContainerKeys too.
        do {
            let container = Container()
            container.declare(\.declaredFirst, \.declaredSecond, \.retriesKey)
            expect(
                container.explain().map(\.name),
                equals: ["declared.first", "declared.second", "declared.api.maxRetries"])
            expect(container.reference().entries[1].isSecret)
        }
        // Declaring again changes nothing, and a child's own declarations are its own.
        do {
            let fresh = Self()
            let container = fresh.container
            container.declare([port, ContainerKeys().retriesKey])
            expect(container.explain().count, equals: 6)
            let child = container.child()
            child.declare([PropertyKey("declared.child", defaultValue: 1)])
            expect(child.explain().count, equals: 7)
            expect(container.explain().count, equals: 6)
            try container.validate()
        }
    }

    @Test("The reference prints for the command line, with every spelling, type and default")
    func help() {
        expect(
            container.reference(prefix: "APP").helpText,
            equals: """
                  --declared-server-port <number>
                                                  Where it listens.
                                                  default 8080; APP_DECLARED_SERVER_PORT,
                                                  declared.server.port
                  --declared-server-hosts <text,...>
                                                  default ["a", "b"]; APP_DECLARED_SERVER_HOSTS,
                                                  declared.server.hosts
                  --declared-level <debug|info>   default "info"; APP_DECLARED_LEVEL,
                                                  declared-level
                  --declared-server-timeout <duration>
                                                  default "30s"; APP_DECLARED_SERVER_TIMEOUT,
                                                  declared.server.timeout
                  --declared-password <text>      secret; APP_DECLARED_PASSWORD,
                                                  declared.password
                  --declared-api-max-retries <number>
                                                  default 3; APP_DECLARED_API_MAX_RETRIES,
                                                  declared.api.maxRetries

                """)
    }

    @Test("The sample file parses, and with its comments off gives the defaults")
    func sample() throws {
        let toml = container.reference().toml
        expect(
            toml,
            equals: """
                # debug|info; DECLARED_LEVEL, --declared-level
                #declared-level = "info"

                [declared.server]
                # Where it listens.
                # number; DECLARED_SERVER_PORT, --declared-server-port
                #port = 8080
                # text,...; DECLARED_SERVER_HOSTS, --declared-server-hosts
                #hosts = ["a", "b"]
                # duration; DECLARED_SERVER_TIMEOUT, --declared-server-timeout
                #timeout = "30s"

                [declared]
                # text, secret; DECLARED_PASSWORD, --declared-password
                #password = …

                [declared.api]
                # number; DECLARED_API_MAX_RETRIES, --declared-api-max-retries
                #maxRetries = 3

                """)
        try container.apply(TOMLSource(text: toml, name: "sample"))
        try container.validate()
        let lines = toml.split(separator: "\n").filter { !$0.contains("…") }
        let uncommented = lines.map { $0.hasPrefix("# ") ? "" : $0.drop { $0 == "#" } }.joined(separator: "\n")
        try container.apply(TOMLSource(text: uncommented, name: "defaults"))
        try container.validate()
        try expect(container.require { _ in timeout }, equals: .seconds(30))
        try expect(container.require(\.retriesKey), equals: 3)
    }

    @Test("The reference is a table in Markdown, with the prefix of the environment that was applied")
    func markdown() throws {
        try container.apply(EnvironmentSource(prefix: "SRV", environment: [:]))
        let lines = container.reference().markdown.split(separator: "\n")
        expect(
            lines[4],
            equals: "| `declared-level` | `SRV_DECLARED_LEVEL` | `--declared-level` | debug\\|info | `\"info\"` |  |")
        expect(lines[6].contains("*secret*"))
    }
}

private struct Limits: Decodable, Sendable {
    struct Burst: Decodable, Sendable {
        var size = 10
        var window = Duration.seconds(1)
    }

    var rate = 2.5
    var burst = Burst()
    var level: Verbosity?
    var note: String?
    var names: [String] = []
}

/// One that refuses what is no host, and has itself as a member.
private final class Mirrored: Decodable, Sendable {
    struct Host: TextDecodable {
        init?(text: String) { if text.isEmpty { return nil } }
    }

    let first: DateComponents
    let times: [String: Int]
    let other: Mirrored?
    let host: Host
    let last: Int8
}

struct ReferenceMembersTests {
    private let container = Container()
    private let limits = PropertyKey("members.limits", defaultValue: Limits(), help: "How much is let through.")
    private let spare = PropertyKey<Limits?>("members.spare")
    private let secret = PropertyKey("members.secret", defaultValue: Limits.Burst(), isSecret: true)

    init() { container.declare([limits, spare, secret]) }

    @Test("The reference lists the members of a table with their types and defaults, also where the key has no default")
    func help() {
        expect(
            container.reference().helpText,
            equals: """
                  members.limits <table>  How much is let through.
                                          a table, in files, or as JSON in --members-limits or
                                          MEMBERS_LIMITS:
                                            rate <number>, default 2.5
                                            burst.size <number>, default 10
                                            burst.window <duration>, default "1s"
                                            level <debug|info>
                                            note <text>
                                            names <text,...>, default []
                  members.spare <table>   a table, in files, or as JSON in --members-spare or
                                          MEMBERS_SPARE:
                                            rate <number>
                                            burst.size <number>
                                            burst.window <duration>
                                            level <debug|info>
                                            note <text>
                                            names <text,...>
                  members.secret <table>  secret; a table, in files, or as JSON in
                                          --members-secret or MEMBERS_SECRET:
                                            size <number>
                                            window <duration>

                """)
    }

    @Test("Each member stands in the sample file, and a file with all of them is right")
    func sample() throws {
        let toml = container.reference().toml
        expect(
            toml.hasPrefix(
                """
                [members]
                # How much is let through.
                # table
                #limits.rate = 2.5  # number
                #limits.burst.size = 10  # number
                #limits.burst.window = "1s"  # duration
                #limits.level = …  # debug|info
                """))
        expect(toml.hasSuffix("# table, secret\n#secret.size = …  # number\n#secret.window = …  # duration\n"))
        let lines = toml.split(separator: "\n").filter { !$0.contains("…") }
        let uncommented = lines.map { $0.hasPrefix("# ") ? "" : $0.drop { $0 == "#" } }.joined(separator: "\n")
        try container.apply(TOMLSource(text: uncommented, name: "defaults"))
        try container.validate()
        try expect(container.require { _ in limits }.burst.size, equals: 10)
    }

    @Test("In Markdown each member has a row, and a secret's has no value")
    func markdown() {
        let lines = container.reference().markdown.split(separator: "\n")
        expect(
            lines[2],
            equals:
                "| `members.limits` | `MEMBERS_LIMITS` | `--members-limits` | table |  | How much is let through. |")
        expect(lines[4], equals: "| `members.limits.burst.size` |  |  | number | `10` |  |")
        expect(lines.last, equals: "| `members.secret.window` |  |  | duration | *secret* |  |")
    }

    @Test("A type that refuses samples is listed as far as it can be asked, and one within itself ends")
    func refusing() {
        let container = Container()
        container.declare([PropertyKey<Mirrored?>("members.mirrored")])
        let members = container.reference().entries[0].members
        expect(
            members.map { "\($0.name): \($0.type)" },
            equals: [
                "first: date and time", "times: table", "other: table", "host: text",
            ])
    }
}

extension ContainerKeys {
    fileprivate var timeout: PropertyKey<Int> { .init("api.timeout", defaultValue: 30) }
    fileprivate var host: PropertyKey<String?> { .init("api.host") }
    fileprivate var plain: PropertyKey<String> { .init(defaultValue: "a\"b") }
    fileprivate var limitKey: PropertyKey<Double> { .init("api.limit", defaultValue: 1.5) }
}

struct ExplanationTests {
    private let container = Container()

    @Test("The winner stands first with its place, then what it hides in the order in which it would count")
    func layers() throws {
        try container.apply(TOMLSource(text: "[api]\ntimeout = 1\nhost = 'a'", name: "/srv/base.toml"))
        try container.apply(JSONSource(text: "{\n  \"api\": {\"timeout\": 2}\n}", name: "/srv/local.json"))
        try container.apply(EnvironmentSource(prefix: "APP", environment: ["APP_API_TIMEOUT": "3"]))
        let child = container.child()
        try child.apply(ArgumentsSource(["--api-timeout", "4"]))
        child.timeout = 5
        let explanation = child.explain(\.timeout)
        expect(
            "\(explanation)",
            equals: """
                api.timeout = 5 (set by code)
                  hides "4" (argument --api-timeout)
                  hides "3" (environment variable APP_API_TIMEOUT)
                  hides 2 (/srv/local.json:2:22)
                  hides 1 (/srv/base.toml:2:11)
                """)
        expect(explanation.winner.origin, equals: .code)
        expect(explanation.hidden.count, equals: 4)
        expect(explanation.mistake == nil)
        expect("\(child.explain(\.host))", equals: "api.host = \"a\" (/srv/base.toml:3:8)")
        let origin = PropertyOrigin(source: "/srv/base.toml", line: 3, column: 8)
        expect(child.explain(\.host).winner.origin, equals: .source(origin))
    }

    @Test("An explanation shows dates as a source writes them, and text of the environment as what it was read as")
    func dates() throws {
        // A date and components are shown as a source writes them.
        do {
            let moment = PropertyKey("explained.moment", defaultValue: Date(timeIntervalSince1970: 0.25))
            let time = PropertyKey("explained.time", defaultValue: DateComponents(hour: 3, minute: 5))
            expect(
                "\(container.explain { _ in moment })", equals: "explained.moment = 1970-01-01T00:00:00.25Z (default)")
            expect("\(container.explain { _ in time })", equals: "explained.time = 03:05:00 (default)")
            try container.apply(TOMLSource(text: "explained.time = 04:05", name: "x"))
            expect(
                "\(container.explain { _ in time })",
                equals: "explained.time = 04:05:00 (x:1:18)")
        }
        // Text of the environment is shown as what it was read as.
        do {
            let container = Container()
            try container.apply(EnvironmentSource(environment: ["API_LIMIT": "2"]))
            expect("\(container.explain(\.limitKey))", equals: "api.limit = 2.0 (environment variable API_LIMIT)")
        }
    }

    @Test("A wrong value is shown as such, with the default that is read instead")
    func wrong() throws {
        _ = container.reports()
        try container.apply(TOMLSource(text: "api.timeout = 1", name: "base"))
        try container.apply(TOMLSource(text: "api.timeout = 'x'", name: "local"))
        expect(
            "\(container.explain(\.timeout))",
            equals: """
                api.timeout = 30 (default)
                  wrong: local:1:15: api.timeout: expected Int, found string "x"
                  hides 1 (base:1:15)
                """)
    }

    @Test("Keys without a name are explained as messages call them, also where sources are of no interest")
    func unnamed() throws {
        // Keys without a name are shown as messages call them.
        do {
            let number = PropertyKey<Int?>(defaultValue: 5, id: "number")
            expect("\(container.explain { _ in number })".hasSuffix(" = 5 (default)"))
            container[number] = nil
            expect("\(container.explain { _ in number })".hasSuffix(" = nil (set by code)"))
            expect("\(container.explain(\.limitKey))", equals: "api.limit = 1.5 (default)")
            expect("\(container.explain(\.plain))", equals: #"\.plain = "a\"b" (default)"#)
        }
        // The core explains the same keys where sources are of no interest.
        do {
            let container = Container()
            try container.apply(DictionarySource(["api": ["timeout": 2]], name: "base"))
            _ = container.timeout
            let graph = container.graph(includingValues: true)
            expect(
                graph.explanation(of: "c0_timeout"),
                equals: [
                    #"\.timeout is 2, supplied by the sources of the root."#, "Nothing was loaded from it.",
                ])
        }
    }

    private struct Client: Feature {
        static func load(in container: any FeatureContainer) -> Client {
            _ = (container.timeout, container.limitKey)
            return Client()
        }
    }

    @Test("What was made from it stands last, with its container; a list of all declared keys leaves it out")
    func readers() throws {
        try container.apply(DictionarySource(["api": ["timeout": 2]], name: "base"))
        let child = container.child { $0.limitKey = 2 }
        _ = (container[Client.self], child[Client.self])
        expect(container.explain(\.timeout).readers, equals: ["Client", "Client (container 1)"])
        expect(
            "\(child.explain(\.limitKey))",
            equals: """
                api.limit = 2.0 (set by code)
                  read by Client (container 1)
                """)
        expect(container.explain().allSatisfy { $0.readers.isEmpty })
        expect(container.graph.entries.first { $0.name == #"\.timeout"# }?.state, equals: .supplied)
    }
}
