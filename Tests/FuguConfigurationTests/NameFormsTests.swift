import Foundation
import Fugu
import Support
import Testing

@testable import FuguConfiguration

/// One name, however it is written (law 15).
struct NameFormsTests {
    private static let composed = "gr\u{F6}\u{DF}e"
    private static let decomposed = "gro\u{308}\u{DF}e"

    @Test(
        "A name is found however its accents are composed, in tables of every size (law 15)",
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

    @Test("Characters that Unicode holds equal are the same in a name, which given in two forms is given twice")
    func singletons() throws {
        // Characters that Unicode holds equal to ASCII ones are the same in a name.
        do {
            let container = Container()
            try container.apply(JSONSource(text: "{\"\u{212A}elvin\": 3}", name: "x"))
            try expect(container.property("Kelvin", as: Int.self), equals: 3)
            try container.apply(JSONSource(text: "{\"Key\": 4}", name: "x"))
            try expect(container.property("\u{212A}ey", as: Int.self), equals: 4)
        }
        // One name in two forms is given twice.
        do {
            let text = "{\"\(Self.composed)\": 1, \"\(Self.decomposed)\": 2}"
            expect(
                thrown { try Container().apply(JSONSource(text: text, name: "x")) }.contains("the name appears twice"))
        }
    }

    private struct Server: Decodable, Sendable {
        struct Pool: Decodable, Sendable { var size: Int }
        var host: String?
        var pool: Pool?
    }

    @Test("A table decodes with the dotted names that stand in it, as each of them answers (law 15)")
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

// The optimizer of Swift 6.3.1 crashes on this target where these tests are in it.

#if DEBUG || UNOPTIMIZED

extension ContainerKeys {
    fileprivate var typedPoolKey: PropertyKey<Pool?> { .init("law24m.typed", form: .merged) }
}

private struct Pool: Decodable, Sendable, Equatable {
    struct Burst: Decodable, Sendable, Equatable {
        var size = 1
        var note: String?
    }
    var size: Int
    var idle: Int
    var hosts: [String]?
    var burst: Burst?
}

private struct Nodes: Decodable, Sendable {
    var all: [Pool.Burst]?
    var labels: [String: String]?
}

extension ContainerKeys {
    fileprivate var mergedPool: PropertyKey<Pool?> { .init("law24m.pool", form: .merged) }
    fileprivate var readPool: PropertyKey<Pool?> { .init("law24m.read", form: .merged) }
    fileprivate var nodes: PropertyKey<Nodes?> { .init("law24m.nodes", form: .merged) }
    fileprivate var nodeList: PropertyKey<[Pool.Burst]> { .init("law24m.list", defaultValue: [], form: .merged) }
    fileprivate var wholePool: PropertyKey<Pool?> { .init("law24m.whole") }
    fileprivate var mergedLabels: PropertyKey<[String: String]> {
        .init("law24m.labels", defaultValue: [:], form: .merged)
    }
}

/// Tables are merged where a key asks for it, and nowhere else (law 15).
struct NameMergingTests {
    private let container = Container()
    private let base = TOMLSource(
        text: "[law24m.pool]\nsize = 10\nidle = 5\nhosts = ['a', 'b']\nburst = {size = 2, note = 'n'}", name: "base")

    init() { container.declare(\.mergedPool) }

    @Test("The members of a merged table come from the last source that has them, from variables and arguments too")
    func members() throws {
        try container.apply(base)
        try container.apply(
            TOMLSource(text: "law24m.pool = {size = 20, hosts = ['c'], burst = {size = 3}}", name: "site"))
        expect(
            container.mergedPool, equals: Pool(size: 20, idle: 5, hosts: ["c"], burst: Pool.Burst(size: 3, note: "n")))
        try container.apply(EnvironmentSource(prefix: "APP", environment: ["APP_LAW24M_POOL_SIZE": "99"]))
        try container.apply(ArgumentsSource(["--law24m-pool-burst-note", "x", "--law24m-pool-hosts", "d", "e"]))
        try container.validate()
        expect(
            container.mergedPool,
            equals: Pool(size: 99, idle: 5, hosts: ["d", "e"], burst: Pool.Burst(size: 3, note: "x")))
        let explanation = container.explain(\.mergedPool) as Explanation
        expect(
            Set(explanation.members.map(\.description)),
            equals: [
                "size (environment variable APP_LAW24M_POOL_SIZE)", "idle (base:3:8)",
                "hosts (argument --law24m-pool-hosts)", "burst.size (site:1:58)",
                "burst.note (argument --law24m-pool-burst-note)",
            ])
        expect(explanation.hidden.isEmpty)
        expect(explanation.winner.value, equals: "{hosts, burst, size, idle}")
        expect(container.child().mergedPool?.size, equals: 99)
    }

    @Test("A merged property that is a type is explained, also where only variables give its members")
    func typed() throws {
        try container.apply(
            EnvironmentSource(
                prefix: "APP", environment: ["APP_LAW24M_TYPED_SIZE": "3", "APP_LAW24M_TYPED_IDLE": "1"]))
        let explanation = container.explain(\.typedPoolKey) as Explanation
        expect(container.typedPoolKey, equals: Pool(size: 3, idle: 1))
        expect(explanation.members.map(\.name), equals: ["size", "idle"])
    }

    @Test("The help text of a merged table shows the argument and the variable of each member")
    func help() throws {
        let reference = container.reference(prefix: "APP")
        let members = try #require(reference.entries.first).members
        expect(members.map(\.argument).prefix(2), equals: ["--law24m-pool-size", "--law24m-pool-idle"])
        expect(members.map(\.variable).prefix(2), equals: ["APP_LAW24M_POOL_SIZE", "APP_LAW24M_POOL_IDLE"])
        expect(reference.helpText.words.contains("size <number>, --law24m-pool-size, APP_LAW24M_POOL_SIZE"))
        expect(reference.helpText.contains("a table with members of any source:"))
        expect(reference.markdown.contains("`APP_LAW24M_POOL_SIZE`"))
        let whole = Container()
        whole.declare(\.wholePool)
        expect(
            whole.reference().helpText.words.contains(
                "a table, in files, or as JSON in --law24m-whole or LAW24M_WHOLE:"))
    }

    @Test("Variables and arguments alone make a merged table")
    func variables() throws {
        let variables = ["LAW24M_POOL_SIZE": "1", "LAW24M_POOL_IDLE": "2"]
        try container.apply(EnvironmentSource(environment: variables))
        expect(container.mergedPool, equals: Pool(size: 1, idle: 2))
        try container.validate()
        expect("\(container.explain(\.mergedPool) as Explanation)".hasPrefix("law24m.pool = {size, idle} ("))
    }

    @Test("A member that is wrong, missing, unknown, or not a folder's to give is reported with its own place")
    func mistakes() throws {
        // A member that is wrong, missing, or unknown is reported with its own place.
        do {
            try container.apply(base)
            try container.apply(EnvironmentSource(prefix: "APP", environment: ["APP_LAW24M_POOL_SIZE": "hunter2"]))
            expect(
                thrown { try container.validate() },
                equals: "environment variable APP_LAW24M_POOL_SIZE: law24m.pool.size: expected Int, found text")
            let other = Container()
            other.declare(\.mergedPool)
            try other.apply(TOMLSource(text: "law24m.pool = {size = 1, idel = 2}", name: "t"))
            expect(
                thrown { try other.validate() }.split(separator: "\n").last,
                equals: "t:1:26: law24m.pool.idel: unknown name; did you mean law24m.pool.idle?")
            expect(thrown { try other.validate() }.hasPrefix("t:1:15: law24m.pool.idle: missing; expected Int"))
        }
        // A member that a folder can't give is a mistake, with its own reason.
        do {
            let fresh = Self()
            let container = fresh.container
            let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            for spelling in ["law24m.pool.size", "law24m-pool-size"] {
                try Data("7".utf8).write(to: folder.appending(path: spelling))
            }
            try container.apply(TOMLSource(text: "[law24m.pool]\nidle = 5", name: "base"))
            try container.apply(FolderSource(path: folder.path))
            let error = #expect(throws: PropertyError.self) { try container.require(\.mergedPool) }
            expect(error?.description.contains(folder.path), equals: true)
        }
    }

    @Test("A reload that changes a member of any source is seen, and secrets stay secrets")
    func reloaded() throws {
        let (lower, upper) = (ChangingSource(["law24m.pool.idle": 1]), ChangingSource(["law24m.pool.size": 1]))
        try container.apply(lower)
        try container.apply(upper.markingSecrets("*.size"))
        let seen = Log<Int?>()
        container.observe(\.mergedPool) { seen.add($0?.idle) }
        expect(container.mergedPool, equals: Pool(size: 1, idle: 1))
        lower.change(to: ["law24m.pool.idle": 2])
        try container.reload()
        try container.reload()
        expect(container.mergedPool?.idle == 2 && seen.all == [2])
        expect(container.explain(\.mergedPool).winner.value == nil)
    }

    @Test(
        "A dictionary is merged, too; where tables are not merged, or a value hides all below, what gets lost is reported"
    )
    func others() throws {
        // A dictionary is merged too, and a value that isn't a table hides all below.
        do {
            let reports = container.reports()
            try container.apply(DictionarySource(["law24m.labels": ["a": "1", "b": "2"]], name: "base"))
            try container.apply(DictionarySource(["law24m.labels": ["b": "3"]], name: "site"))
            expect(container.mergedLabels, equals: ["a": "1", "b": "3"])
            try container.apply(DictionarySource(["law24m.labels": 5], name: "wrong"))
            #expect(throws: PropertyError.self) { try container.require(\.mergedLabels) }
            expect(reports.all, equals: ["wrong: law24m.labels: expected table, found integer 5"])
        }
        // Where tables aren't merged, members that get lost are reported.
        do {
            let fresh = Self()
            let container = fresh.container
            try container.apply(TOMLSource(text: "law24m.whole = {size = 1, idle = 2, hosts = ['a']}", name: "base"))
            try container.apply(TOMLSource(text: "law24m.whole = {size = 3, idle = 4}", name: "site"))
            expect(container.wholePool, equals: Pool(size: 3, idle: 4))
            expect(
                thrown { try container.validate(\.wholePool) }
                    .hasPrefix("base:1:37: law24m.whole.hosts: isn't used, because the table at site:1:16 replaces"))
        }
    }

    @Test("Members that get lost are reported at every depth, and where a child's table hides its parent's")
    func lostDeeper() throws {
        let burst = "burst = {size = 2, note = 'n'}"
        try container.apply(TOMLSource(text: "law24m.whole = {size = 1, idle = 2, \(burst)}", name: "base"))
        try container.apply(
            TOMLSource(text: "law24m.whole = {size = 3, idle = 4, burst = {size = 3}}", name: "site"))
        let deeper =
            "base:1:56: law24m.whole.burst.note: isn't used, because the table at site:1:45 replaces the whole table"
        expect(
            thrown { try container.validate(\.wholePool) },
            equals: deeper + "; write it there")
        let child = container.child()
        try child.apply(TOMLSource(text: "law24m.whole = {size = 5, idle = 6}", name: "child"))
        let mistakes = thrown { try child.validate(\.wholePool) }.split(separator: "\n")
        expect(
            mistakes.first,
            equals:
                "site:1:37: law24m.whole.burst: isn't used, because the table at child:1:16 replaces the whole table; write it there",
            "\(mistakes)")
        // A child's merged table hides what only a variable of the parent gives, too.
        let merged = Container()
        try merged.apply(EnvironmentSource(environment: ["LAW24M_READ_HOSTS": "a"]))
        let below = merged.child()
        try below.apply(TOMLSource(text: "law24m.read = {size = 1, idle = 2}", name: "child"))
        expect(
            thrown { try below.validate(\.readPool) },
            equals:
                "environment variable LAW24M_READ_HOSTS: law24m.read.hosts: isn't used, because the table at child:1:15 "
                + "replaces the whole table; write it there")
        // A dictionary has no members that could get lost.
        let labels = Container()
        try labels.apply(TOMLSource(text: "law24m.nodes.labels = {a = 'a'}", name: "base"))
        let narrower = labels.child()
        try narrower.apply(TOMLSource(text: "law24m.nodes.labels = {b = 'b'}", name: "child"))
        expect(thrown { try narrower.validate(\.nodes) }, equals: "nothing")
    }

    @Test("A typo in a list of tables is found, inside a merged table, in a merged list, and beside a wrong element")
    func listed() throws {
        let text = "law24m.nodes.all = [{size = 1, noet = 'n'}]\nlaw24m.list = [{size = 'x'}, {size = 1, noet = 'n'}]"
        try container.apply(TOMLSource(text: text, name: "t"))
        expect(
            thrown { try container.validate(\.nodes, \.nodeList) },
            equals: """
                t:2:24: law24m.list[0].size: expected Int, found string
                t:1:32: law24m.nodes.all[0].noet: unknown name; did you mean law24m.nodes.all[0].note?
                t:2:41: law24m.list[1].noet: unknown name; did you mean law24m.list[1].note?
                """)
    }

    @Test("The members of a merged table that was read are known names, declared or not")
    func read() throws {
        let container = Container()
        try container.apply(
            EnvironmentSource(prefix: "APP", environment: ["APP_LAW24M_READ_SIZE": "1", "APP_LAW24M_READ_IDLE": "2"]))
        expect(container.readPool, equals: Pool(size: 1, idle: 2))
        try container.validate()
    }

    @Test("A condition that isn't met names the place of a merged table, also where only variables give it")
    func place() throws {
        try container.apply(
            EnvironmentSource(environment: ["LAW24M_POOL_SIZE": "1", "LAW24M_POOL_IDLE": "2"]))
        container.declareCheck(of: \.mergedPool, "is too small") { ($0.mergedPool?.size ?? 2) > 1 }
        expect(
            thrown { try container.validate() },
            equals: "environment variable LAW24M_POOL_SIZE: law24m.pool: is too small")
        try container.apply(TOMLSource(text: "law24m.pool.size = 0", name: "t"))
        expect(thrown { try container.validate() }, equals: "t:1:8: law24m.pool: is too small")
    }
}

#endif

extension ContainerKeys {
    fileprivate var color: PropertyKey<String?> { .init("color") }
    fileprivate var corsOrigins: PropertyKey<[String]> { .init("cors.origins", defaultValue: []) }
    fileprivate var counts: PropertyKey<[Int]> { .init("counts", defaultValue: [], form: .separated(by: ";")) }
    fileprivate var servers: PropertyKey<[Server]> { .init("servers", defaultValue: []) }
    fileprivate var proxy: PropertyKey<String?> { .init("http_proxy") }
    fileprivate var host: PropertyKey<String?> { .init("host") }
    fileprivate var option: PropertyKey<Int?> { .init("OPTION-B") }
    fileprivate var dots: PropertyKey<Int?> { .init("VAR.WITH.DOTS") }
}

private struct Server: Decodable, Sendable, Equatable {
    var host: String
    var port: Int
}

/// What people write in variables and `.env` files, as they write it (law 15).
struct NameInDotEnvTests {
    private func value(of line: String) throws -> String? {
        try DotEnvSource(text: line, name: ".env").load().property("color", as: String.self)
    }

    @Test("What goes on after quotes in a .env file, or stands in an open backtick, is an error (law 16)")
    func afterQuotes() {
        // What follows a quoted value in a .env file without a blank is an error, not a comment.
        do {
            let error = #expect(throws: PropertyError.self) { try value(of: "COLOR='a'#b") }
            #expect(
                error?.description
                    == ".env:1:10: expected the end of the line, found \"#\"; a comment begins after a blank")
        }
        // A string in backticks that isn't closed is an error at its beginning.
        do {
            let error = #expect(throws: PropertyError.self) { try value(of: "A=1\nCOLOR=`a\nb\n") }
            expect(error?.description, equals: ".env:2:7: the string that begins here isn't closed")
        }
    }

    // MARK: Lists

    @Test("A list in a variable, a .env file, or an argument may be written as JSON, and is exact then (law 15)")
    func jsonLists() throws {
        // A list in a variable, a .env file, or an argument may be written as JSON.
        do {
            let text = #"["https://a.example", "b, c"]"#
            let sources: [any PropertySource] = [
                EnvironmentSource(prefix: "APP", environment: ["APP_CORS_ORIGINS": " \(text) "]),
                DotEnvSource(text: "CORS_ORIGINS=\(text)", name: ".env"), ArgumentsSource(["--cors-origins", text]),
                ArgumentsSource(["--cors-origins=\(text)"]),
                DictionarySource(["cors": ["origins": ["https://a.example", "b, c"]]], name: "values"),
            ]
            for source in sources {
                let container = Container()
                try container.apply(source)
                try container.validate(\.corsOrigins)
                #expect(container.corsOrigins == ["https://a.example", "b, c"], "\(source)")
            }
        }
        // A JSON list in a text is exact: numbers, lists of tables, none, and a form's separator doesn't matter.
        do {
            let container = Container()
            try container.apply(
                EnvironmentSource(environment: ["COUNTS": "[1, 2]", "SERVERS": #"[{"host": "a", "port": 1}]"#]))
            #expect(container.counts == [1, 2] && container.servers == [Server(host: "a", port: 1)])
            try container.apply(EnvironmentSource(environment: ["COUNTS": "[]"]))
            expect(container.counts, equals: [])
            try container.apply(EnvironmentSource(environment: ["COUNTS": "1;2"]))
            expect(container.counts, equals: [1, 2])
        }
    }

    @Test(
        "A wrong JSON list, and a wrong element of one, are errors that say how to write it and quote no value (laws 16, 17)"
    )
    func wrongLists() throws {
        // Text between brackets that isn't JSON, and a wrong element, are errors that say how to write a list.
        do {
            let container = Container()
            try container.apply(EnvironmentSource(environment: ["CORS_ORIGINS": "[a, b]", "COUNTS": #"[1, "2"]"#]))
            let errors = #expect(throws: PropertyErrors.self) { try container.validate(\.corsOrigins, \.counts) }
            #expect(
                errors?.description == """
                    environment variable CORS_ORIGINS: cors.origins: expected an array, written a,b or as JSON, ["a","b"] (line 1, column 2: unknown word; only true, false, and null are written without quotes), found text "[a, b]"
                    environment variable COUNTS: counts[1]: expected Int, found string "2"
                    """)
        }
        // An error inside a table of a JSON list quotes no value.
        do {
            let container = Container()
            try container.apply(EnvironmentSource(environment: ["SERVERS": #"[{"host": "a", "port": "hunter2"}]"#]))
            let errors = #expect(throws: PropertyErrors.self) { try container.validate(\.servers) }
            #expect(
                errors?.description == "environment variable SERVERS: servers[0].port: expected Int, found string")
        }
    }

    // MARK: Names

    @Test(
        "A variable, a prefix, or a mapped name that is spelled like the key has the value where the uppercase one is absent (law 15)"
    )
    func exactNames() throws {
        // Where the variable in uppercase is absent, the one that is spelled like the key has the value.
        do {
            let file = Container()
            try file.apply(DotEnvSource(text: "http_proxy=p\nhost=x\nOPTION-B=2\nVAR.WITH.DOTS=3", name: ".env"))
            try file.validate(\.proxy, \.host, \.option, \.dots)
            #expect(file.proxy == "p" && file.host == "x" && file.option == 2 && file.dots == 3)
            let process = Container()
            try process.apply(EnvironmentSource(environment: ["http_proxy": "a", "host": "b", "HOST": "c"]))
            #expect(process.proxy == "a" && process.host == "c")
            expect(process.explain(\.proxy).winner.description, equals: "\"a\" (environment variable http_proxy)")
            expect(process.explain(\.host).winner.description, equals: "\"c\" (environment variable HOST)")
        }
        // A prefix is found as it was given, too, and its unknown names are reported.
        do {
            for prefix in ["app", "app_"] {
                let container = Container()
                try container.apply(EnvironmentSource(prefix: prefix, environment: ["app_host": "a", "app_hsot": "b"]))
                expect(container.host, equals: "a")
                let errors = #expect(throws: PropertyErrors.self) { try container.validate(\.host) }
                #expect(
                    errors?.description == "environment variable app_hsot: unknown name; did you mean APP_HOST?")
            }
        }
        // A mapped name is found as it's spelled.
        do {
            let key = PropertyKey<String?>("law24.network.proxy")
            let container = Container()
            let source = EnvironmentSource(environment: ["no_proxy": "a"])
            try container.apply(source.mappingNames { $0 == "law24.network.proxy" ? "no_proxy" : nil })
            expect(container[key], equals: "a")
        }
    }
}
