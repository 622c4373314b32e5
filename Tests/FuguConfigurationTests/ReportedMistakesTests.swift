import Foundation
import Fugu
import FuguConfiguration
import FuguInspection
import FuguTesting
import Support
import Testing

private struct Floor: CodingKeyRepresentable, Hashable, Decodable, Sendable {
    let number: Int
    var codingKey: any CodingKey { Name(stringValue: "level\(number)") }

    init?<Key: CodingKey>(codingKey: Key) {
        guard let number = Int(codingKey.stringValue.dropFirst(5)), codingKey.stringValue.hasPrefix("level") else {
            return nil
        }
        self.number = number
    }

    struct Name: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}

private struct Twin: Feature {
    static func load(in _: any FeatureContainer) -> Twin { Twin() }
}

private struct Login: Feature {
    let url: String
    static func load(in container: any FeatureContainer) -> Login { Login(url: container.databaseURL) }
}

extension ContainerKeys {
    fileprivate var databasePassword: PropertyKey<String> {
        .init("guarded.password", defaultValue: "hunter2", isSecret: true)
    }
    fileprivate var databaseURL: PropertyKey<String> {
        .init("guarded.url", defaultValue: "pg:" + Container.current.databasePassword)
    }
    fileprivate var banner: PropertyKey<String> {
        .init("guarded.banner", defaultValue: Container.current[Login.self].url)
    }
    fileprivate var plain: PropertyKey<String> { .init("guarded.plain", defaultValue: "open") }
}

private struct Bounds: Decodable, Sendable {
    let low: Int
    let high: Int
    private enum Names: CodingKey { case low, high }

    init(from decoder: any Decoder) throws {
        let table = try decoder.container(keyedBy: Names.self)
        (low, high) = try (table.decode(Int.self, forKey: .low), table.decode(Int.self, forKey: .high))
        if high < low {
            throw DecodingError.dataCorruptedError(forKey: .high, in: table, debugDescription: "is less than low")
        }
    }
}

/// Mistakes and surprises that people have reported about other libraries.
@Suite("What people have reported about libraries like this one (laws 15, 16)", .timeLimit(.minutes(5)))
struct ReportedMistakesTests {
    private func error<Value: Decodable & Sendable>(_ source: any PropertySource, _: Value.Type) throws -> String {
        let container = Container()
        try container.apply(source)
        return thrown { try container.validate([PropertyKey<Value?>("reported")]) }
    }

    private func read<Value: Decodable & Sendable>(_ source: any PropertySource, _: Value.Type) throws -> Value? {
        let container = Container()
        try container.apply(source)
        return try container.property("reported", as: Value.self)
    }

    private func variable(_ text: String) -> EnvironmentSource { EnvironmentSource(environment: ["REPORTED": text]) }

    private func arguments(_ words: String...) -> ArgumentsSource { ArgumentsSource(["--reported"] + words) }

    // MARK: Lists

    @Test(
        "A list that isn't closed, or is in quotes, is a mistake (law 16)",
        arguments: [
            #"["a", "b""#, #""a","b""#, "'a','b'", "a, b]", "[a", #"["a","b"#, "[a,b]", #"a,"b""#,
        ])
    func tornLists(text: String) throws {
        for source: any PropertySource in [
            variable(text), arguments(text), DotEnvSource(text: "REPORTED=`\(text)`", name: "env"),
        ] {
            let error = try error(source, [String].self)
            expect(error.contains(#"expected an array, written a,b or as JSON, ["a","b"]"#), error)
        }
    }

    @Test(
        "Brackets and quotes in a word of several are mistakes, but an address's own; an error quotes its occurrence (law 16)"
    )
    func tornWords() throws {
        // Brackets and quotes in a word of several are mistakes, too, but those of an address are its own.
        do {
            try expect(
                error(arguments("a", "[b,c]"), [String].self),
                equals: """
                    argument --reported: reported: expected an array, written a,b or as JSON, ["a","b"] (line 1, column 2: unknown word; \
                    only true, false, and null are written without quotes), found text "[b,c]"
                    """)
            try expect(read(arguments("[::1]", "x"), [String].self), equals: ["[::1]", "x"])
            try expect(read(variable("[::1]:80,[fe80::1%1]"), [String].self), equals: ["[::1]:80", "[fe80::1%1]"])
            try expect(read(arguments("a[0]", "b"), [String].self), equals: ["a[0]", "b"])
        }
        // An error about one of several occurrences quotes that one.
        do {
            let text = try error(ArgumentsSource(["--reported", "1,,2", "--reported", "3"]), [Int].self)
            expect(text.contains(#"found text "1,,2""#), text)
        }
    }

    @Test("A number or a duration with a dash is an element, and an option with one dash still ends a list (law 15)")
    func dashes() throws {
        try expect(read(arguments("5", "-1_000", "7"), [Int].self), equals: [5, -1000, 7])
        try expect(
            read(arguments("5s", "-5s", "1m"), [Duration].self), equals: [.seconds(5), .seconds(-5), .seconds(60)])
        try expect(read(arguments("1", "-.5", "-inf"), [Double].self), equals: [1, -0.5, -.infinity])
        try expect(read(arguments("a", "-v", "b"), [String].self), equals: ["a"])
        try expect(error(arguments("5", "-5s"), [Int].self).contains(#"reported[1]: expected Int, found text "-5s""#))
    }

    // MARK: Tables

    @Test("The keys of a dictionary are decoded as every type that Swift codes, with the name and its place (law 16)")
    func dictionaryKeys() throws {
        func toml(_ text: String) -> TOMLSource { TOMLSource(text: "[reported]\n" + text, name: "t") }
        try expect(read(toml("80 = 'a'\n443 = 'b'"), [Int: String].self), equals: [80: "a", 443: "b"])
        try expect(
            read(toml("level2 = 1"), [Floor: Int].self),
            equals: [Floor(codingKey: Floor.Name(stringValue: "level2"))!: 1])
        try expect(read(toml("80 = 'a'"), [UInt8: String].self), equals: [80: "a"])
        for (text, message) in [
            ("x = 'a'", "x: the name must be Int"),
            ("080 = 'a'", "080: the name must be Int without a leading zero (an octal number begins with 0o)"),
        ] { try expect(error(toml(text), [Int: String].self), equals: "t:2:1: reported.\(message)") }
        try expect(error(toml("x = 1"), [Floor: Int].self), equals: "t:2:1: reported.x: the name must be Floor")
        try expect(
            error(variable(#"{"x": 1}"#), [Int: Int].self),
            equals: "environment variable REPORTED: reported.x: the name must be Int")
        try expect(
            error(toml("80 = 'a'\n\"+80\" = 'b'"), [Int: String].self),
            equals: "t:3:1: reported.+80: the name is the same key as \"80\"; remove one of them")
        try expect(
            error(toml("1 = 'a'\n0x1 = 'b'"), [UInt8: String].self),
            equals: "t:3:1: reported.0x1: the name is the same key as \"1\"; remove one of them")
    }

    @Test("A type's own error about a member has the place of the member (law 16)")
    func ownErrors() throws {
        let source = TOMLSource(text: "[reported]\nlow = 5\nhigh = 3", name: "t")
        try expect(error(source, Bounds.self), equals: "t:3:8: reported.high: the value is invalid")
    }

    // MARK: Texts

    @Test(
        "Base64 can have line breaks, as tools write it (law 15)",
        arguments: ["aGVs\nbG8=\n", "aGVs\r\nbG8=\r\n", "  aGVs bG8 "])
    func base64(text: String) throws {
        try expect(read(variable(text), Data.self), equals: Data("hello".utf8))
    }

    @Test("A host can have letters beyond ASCII, and blanks are still a mistake (law 15)")
    func hosts() throws {
        try expect(
            read(variable("http://münchen.de/ü?q=ß"), URL.self)?.absoluteString,
            equals: "http://xn--mnchen-3ya.de/%C3%BC?q=%C3%9F")
        try expect(read(variable("http://münchen.de/"), URLComponents.self)?.encodedHost, equals: "xn--mnchen-3ya.de")
        for text in ["http://münchen.de/a b", "http://a.example/b c", "http://mün\u{a0}chen.de/", "http://ü/%"] {
            try expect(error(variable(text), URL.self).contains("expected URL (percent-encode"), text)
        }
    }

    @Test("A line break in a value of a .env file is one character (law 15)")
    func lineBreaks() throws {
        let file = "REPORTED=\"a\r\nb\\r\\n\"\r\nOTHER='c\r\nd'\r\n"
        try expect(read(DotEnvSource(text: file, name: "env"), String.self), equals: "a\nb\r\n")
        let container = Container()
        try container.apply(DotEnvSource(text: file, name: "env"))
        try expect(container.property("other", as: String.self), equals: "c\nd")
    }

    // MARK: Names

    @Test("An argument that is cut short, or has a sign behind its name, is told the right form (law 16)")
    func spellings() throws {
        let keys: [any ConfigurationKey] = [
            PropertyKey<Int?>("server.port"), PropertyKey<[String]?>("tags"), PropertyKey<Bool?>("verbose"),
        ]
        for (word, advice) in [
            ("--server-port:80", "argument --server-port…: unknown name; did you mean --server-port=…?"),
            ("--tags[0]=a", "argument --tags…: tags is a list, which is given as a whole, in JSON: --tags='[…, …]'"),
            ("--verb", "argument --verb: unknown name; did you mean --verbose?"),
            ("--other", "argument --other: unknown name"),
        ] {
            let container = Container()
            try container.apply(ArgumentsSource([word]))
            expect(thrown { try container.validate(keys) }, equals: advice)
        }
    }

    @Test("The links of a service are told apart from the setting that the pod gives itself (law 16)")
    func serviceLinks() throws {
        let links = [
            "SHOP_SERVICE_HOST": "10.0.0.1", "SHOP_SERVICE_PORT": "80", "SHOP_SERVICE_PORT_HTTP": "80",
            "SHOP_PORT": "8080",
            "SHOP_PORT_80_TCP": "tcp://10.0.0.1:80", "SHOP_PORT_80_TCP_PROTO": "tcp", "SHOP_PORT_80_TCP_PORT": "80",
            "SHOP_PORT_80_TCP_ADDR": "10.0.0.1",
        ]
        let container = Container()
        try container.apply(EnvironmentSource(prefix: "SHOP", environment: links))
        let port = PropertyKey("port", defaultValue: 1)
        expect(
            thrown { try container.validate([port]) },
            equals: """
                environment variable SHOP_PORT_80_TCP: unknown name; Kubernetes sets it, and others, for a service: set \
                enableServiceLinks: false for the pod, or let the program ignore them with ignoringNames("port.*", "service.*")
                """)
        let ignoring = Container()
        try ignoring.apply(EnvironmentSource(prefix: "SHOP", environment: links).ignoringNames("port.*", "service.*"))
        try ignoring.validate([port])
        expect(ignoring[port], equals: 8080)
    }

    // MARK: Help

    @Test("Help and sample files are the same in each run, and in the user's words (law 15)")
    func help() throws {
        let container = Container()
        container.declare([
            PropertyKey("names", defaultValue: Set((1...9).map { "n\($0)" }), form: .separated(by: ";")),
            PropertyKey("sizes", defaultValue: [10, 9, 2.5] as Set<Double>), PropertyKey<[[Int]]?>("matrix"),
            PropertyKey<Decimal?>("price"), PropertyKey<Floor?>("level"),
        ])
        expect(
            container.reference().helpText,
            equals: """
                  --names <text;...>    default ["n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8",
                                        "n9"]; NAMES, names
                  --sizes <number,...>  default [2.5, 9.0, 10.0]; SIZES, sizes
                  matrix <list>         in files, or as JSON in --matrix or MATRIX
                  --price <number>      PRICE, price
                  level <table>         a table, in files, or as JSON in --level or LEVEL:
                                          number <number>

                """)
        expect(container.explain()[1].winner.description, equals: "[2.5, 9.0, 10.0] (default)")
        let names = Set(["b", "a", "c"])
        try expect(
            StructSource(reflecting: ["names": names]).load().property("names", as: [String].self),
            equals: ["a", "b", "c"])
    }

    @Test("A table in Markdown renders, whatever is in a default or a description (law 15)")
    func markdown() throws {
        let container = Container()
        container.declare([
            PropertyKey("a", defaultValue: "`x` | y", help: "A <tag> & a | b."), PropertyKey("b", defaultValue: "``"),
            PropertyKey<String?>("c", form: .checked("<c>") { _ in true }),
        ])
        let rows = container.reference().markdown.split(separator: "\n").dropFirst(2)
        expect(
            Array(rows),
            equals: [
                #"| `a` | `A` | `--a` | text | ``"`x` \| y"`` | A &lt;tag> &amp; a \| b. |"#,
                #"| `b` | `B` | `--b` | text | ```"``"``` |  |"#, #"| `c` | `C` | `--c` | text, &lt;c> |  |  |"#,
            ])
    }

    // MARK: Secrets

    @Test("A required secret that is empty is missing, and its error names an argument last (law 16)")
    func emptySecrets() throws {
        let key = PropertyKey<String>.required("guarded.token", isSecret: true)
        let container = Container()
        container.declare([key])
        try container.apply(TOMLSource(text: "guarded.token = 'good'", name: "t"))
        try container.apply(EnvironmentSource(environment: ["GUARDED_TOKEN": ""]))
        try container.validate()
        expect(container[key], equals: "good")
        expect("\(container.explain()[0])", equals: "guarded.token = (secret) (t:1:17)")
        let empty = Container()
        empty.declare([key])
        try empty.apply(EnvironmentSource(environment: ["GUARDED_TOKEN": "\n"]))
        try empty.apply(ArgumentsSource([]))
        expect(
            thrown { try empty.validate() },
            equals: """
                guarded.token: a value is required, but neither code nor arguments nor environment provides one that isn't empty; set \
                GUARDED_TOKEN or --guarded-token
                """)
        // What isn't a secret may be empty.
        let open = Container()
        open.declare([PropertyKey<String>.required("guarded.title")])
        try open.apply(EnvironmentSource(environment: ["GUARDED_TITLE": ""]))
        try open.validate()
    }

    @Test("What a default makes of a secret isn't shown in graphs, explanations, and help (law 17)")
    func derivedSecrets() throws {
        let container = Container()
        let reports = container.logReports()
        container.declare(\.databasePassword, \.databaseURL, \.banner, \.plain)
        expect(container.banner, equals: "pg:hunter2")
        expect(container.plain, equals: "open")
        let graph = container.graph(includingValues: true)
        let values = graph.entries.filter { $0.kind == .property }.map { "\($0.isSecret) \($0.value ?? "")" }
        expect(values.sorted(), equals: ["false \"open\"", "true ", "true ", "true "])
        var texts =
            container.explain().map(\.description) + [
                graph.json, container.reference().helpText, container.reference().toml,
            ]
        texts += [container.reference().markdown, "\(container.explain(\.banner))", "\(graph)"]
        expect(texts.allSatisfy { !$0.contains("hunter2") }, texts.joined(separator: "\n"))
        // What code sets instead isn't made from it.
        container.databaseURL = "pg:open"
        expect(container.explain(\.databaseURL).winner.value, equals: "\"pg:open\"")
        expect(reports.all.allSatisfy { !$0.contains("hunter2") }, "\(reports.all)")
    }

    @Test("Private types of one name have names in graphs that are the same in each run (law 20)")
    func privateTypes() {
        let container = Container()
        _ = container[Twin.self]
        loadTwin(in: container)
        let names = container.graph.entries.map(\.name).filter { $0.contains("Twin") }
        expect(names.sorted(), equals: ["FuguConfigurationTests.Twin", "FuguConfigurationTests.Twin (2)"])
    }

    // MARK: Reloads

    @Test("A file behind a name is read again when it changes, and not before (law 16)")
    func rotatedFiles() async throws {
        let path = NSTemporaryDirectory() + "fugu-\(UUID())"
        defer { try? FileManager.default.removeItem(atPath: path) }
        func write(_ text: String) throws { try Data(text.utf8).write(to: URL(fileURLWithPath: path)) }
        let sources: [any PropertySource] = [
            EnvironmentSource(environment: ["REPORTED_FILE": path]).readingFiles(namedBy: "_FILE"),
            TOMLSource(text: "reported_file = '\(path)'", name: "t").readingFiles(namedBy: "_file").markingSecrets(
                "other"),
            DictionarySource(["app": ["reported_file": .string(path)]], name: "d").readingFiles(namedBy: "_file")
                .scoped(to: "app"),
        ]
        for source in sources {
            try write("old")
            let (container, loads) = (Container(), Locked(0))
            try container.apply(CountedLoads(source: source, loads: loads))
            let clock = ManualClock()
            container.clock = AnyClock(clock)
            try expect(container.property("reported", as: String.self), equals: "old")
            let task = Task { await container.reload(every: .seconds(1)) }
            await clock.sleepers(atLeast: 1)
            func step() async {
                clock.move(by: .seconds(1))
                await clock.sleepers(atLeast: 1)
            }
            for _ in 0..<3 { await step() }
            expect(loads.withLock { $0 }, equals: 1)
            try write("new secret")
            for _ in 0..<3 { await step() }
            try expect(container.property("reported", as: String.self), equals: "new secret")
            for _ in 0..<3 { await step() }
            expect(loads.withLock { $0 }, equals: 2)
            task.cancel()
            await task.value
        }
    }

    @Test("A reload is refused for the names that it makes unknown, and not for those that were (law 16)")
    func newUnknownNames() throws {
        let names = Locked("")
        let keys: [any ConfigurationKey] = [
            PropertyKey<Int?>("unknown.port"), PropertyKey<Int?>("unknown.deep.size"), PropertyKey<Int?>("unknown.api"),
        ]
        func reload(_ before: String, _ after: String, _ view: (TextSource) -> any PropertySource = { $0 }) throws
            -> String
        {
            let container = Container()
            container.declare(keys)
            names.withLock { $0 = before }
            try container.apply(view(TextSource(text: names)))
            names.withLock { $0 = after }
            return thrown { try container.reload() }
        }
        let before = "[unknown]\nport = 1\na = 1\nb = 2\n[unknown.deep]\nx = 1\n[other]\ny = 1\n"
        try expect(reload(before, before), equals: "nothing")
        // Another order, other values, and fewer.
        let fewer = "[other]\ny = 5\n[unknown]\nb = 'x'\na = 3\nport = 2\n[unknown.deep]\nx = 7\n"
        try expect(reload(before, fewer), equals: "nothing")
        try expect(reload(before, "unknown.b = 1\nunknown.deep.x = 1"), equals: "nothing")
        // What's inside an unknown table isn't looked at.
        try expect(reload(before, before + "z = 1"), equals: "nothing")
        try expect(
            reload(before, before.replacing("a = 1", with: "a = 1\nnew = 1")),
            equals: "t:4:1: unknown.new: unknown name")
        try expect(
            reload(before, before.replacing("x = 1", with: "x = 1\nnew = 1")),
            equals: "t:7:1: unknown.deep.new: unknown name")
        // A table in the place of a value, and the other way around.
        let table = "t:2:1: unknown.deep: expected a table (unknown.deep.size), found integer"
        try expect(reload("[unknown.deep]\nsize = 1", "[unknown]\ndeep = 1"), equals: table)
        try expect(
            reload("[unknown]\ndeep = 1", "[unknown.deep]\nx = 1"), equals: "t:2:1: unknown.deep.x: unknown name")
        // Behind each view of a source.
        let views: [(TextSource) -> any PropertySource] = [
            { $0.markingSecrets("none").ignoringNames("none").ignoringEmptyTexts() },
            { $0.readingFiles(namedBy: "_file") },
            { $0.mappingNames { $0 } },
        ]
        for view in views {
            try expect(reload(before, fewer, view), equals: "nothing")
            try expect(
                reload(before, before.replacing("a = 1", with: "a = 1\nnew = 1"), view),
                equals: "t:4:1: unknown.new: unknown name")
        }
    }

    @Test("An interval of zero doesn't poll without a pause, and one for ever is one (laws 9, 16)")
    func intervals() async throws {
        let container = Container()
        let clock = ManualClock()
        container.clock = AnyClock(clock)
        let polling = Task { await container.reload(every: .zero) }
        await clock.sleepers(atLeast: 1)
        expect(clock.now.offset, equals: .zero)
        clock.move(by: .milliseconds(9))
        await clock.sleepers(atLeast: 1)
        polling.cancel()
        await polling.value
        for clock in [AnyClock(.continuous), AnyClock(.suspending), AnyClock(ManualClock())] {
            container.clock = clock
            let tasks: [Task<Void, Never>] = [
                Task { await container.reload(every: .seconds(Int64.max)) },
                Task { _ = try? await clock.sleep(for: .seconds(Int64.max)) },
                Task { _ = try? await clock.sleep(until: AnyClock.Instant(offset: .seconds(Int64.max))) },
            ]
            await Task.yield()
            for task in tasks { task.cancel() }
            for task in tasks { _ = await task.value }
        }
    }
}

/// A source of a text that changes.
private struct TextSource: PropertySource {
    let text: Locked<String>
    var name: String { "t" }
    func load() throws(PropertyError) -> PropertySnapshot {
        try TOMLSource(text: text.withLock { $0 }, name: "t").load()
    }
}

/// A source that counts how often it's read.
private struct CountedLoads: PropertySource {
    let source: any PropertySource
    let loads: Locked<Int>
    var name: String { source.name }

    func load() throws(PropertyError) -> PropertySnapshot {
        loads.withLock { $0 += 1 }
        return try source.load()
    }

    func modificationStamp() -> PropertySourceStamp? { source.modificationStamp() }
}
