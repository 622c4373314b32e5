import Foundation
import Fugu
@testable import FuguConfiguration
import Support
import Testing

extension ContainerKeys {
    fileprivate var timeout: PropertyKey<Int> { .init("api.timeout", defaultValue: 30) }
    fileprivate var retries: PropertyKey<Int> { .init("api.retries", defaultValue: 3) }
    fileprivate var host: PropertyKey<String> { .init("api.host", defaultValue: "localhost") }
    fileprivate var unnamed: PropertyKey<Int> { .init(defaultValue: 1) }
    fileprivate var limitKey: PropertyKey<Int> { .init("api.limit", defaultValue: 1) }
}

/// A wrong value is reported with its place, and never crashes a read (law 16).
struct MistakeTests {
    private let container = Container()
    private let reports: Log<String>
    private let wrong = TOMLSource(text: "[api]\ntimeout = \"soon\"\nretries = 7", name: "/srv/app.toml")
    private let mistake = "/srv/app.toml:2:11: api.timeout: expected Int, found string \"soon\""

    init() { reports = container.reports() }

    @Test(
        "A wrong value gives the default, to observers, too, and one report with place, name, expected and found (law 16)"
    )
    func report() throws {
        // A wrong value gives the default and one report with file, line, column, name, expected and found.
        do {
            try container.apply(wrong)
            expect(reports.all.isEmpty)
            for _ in 0..<3 { expect(container.timeout == 30 && container.child().timeout == 30) }
            expect(container.retries, equals: 7)
            expect(reports.all, equals: [mistake])
        }
        // Whoever observes hears the default in place of a wrong value.
        do {
            let fresh = Self()
            let (container, reports) = (fresh.container, fresh.reports)
            let heard = Log<Int>()
            container.observe(\.timeout) { heard.add($0) }
            try container.apply(DictionarySource(["api.timeout": 5], name: "x"))
            try container.apply(wrong)
            expect(heard.all, equals: [5, 30])
            expect(reports.all, equals: [mistake])
        }
    }

    @Test("It is reported once, whatever happens meanwhile, and is read when it is put right (law 16)")
    func once() throws {
        // It is reported once, whatever is reset, reloaded or set meanwhile, and again only if it is another mistake.
        do {
            let source = ChangingSource(["api": ["timeout": "soon"]])
            try container.apply(source)
            expect(container.timeout, equals: 30)
            container.reset(\.timeout)
            expect(container.timeout, equals: 30)
            container.timeout = 1
            container.reset(\.timeout)
            expect(container.timeout, equals: 30)
            try container.reload()
            expect(container.timeout, equals: 30)
            expect(reports.all, equals: ["changing: api.timeout: expected Int, found string \"soon\""])
            source.change(to: ["api": ["timeout": "later"]])
            try container.reload()
            expect(reports.all.count, equals: 2)
            expect(reports.all.last?.hasSuffix("\"later\""), equals: true)
        }
        // A value that is put right is read, and a wrong one that takes its place then is refused.
        do {
            let fresh = Self()
            let (container, reports) = (fresh.container, fresh.reports)
            let source = ChangingSource(["api": ["timeout": "soon"]])
            try container.apply(source)
            expect(container.timeout, equals: 30)
            source.change(to: ["api": ["timeout": 5]])
            try container.reload()
            expect(container.timeout, equals: 5)
            source.change(to: ["api": ["timeout": "soon"]])
            #expect(throws: PropertyErrors.self) { try container.reload() }
            expect(container.timeout, equals: 5)
            expect(reports.all.count, equals: 1)
        }
    }

    @Test("A report handler may use the container")
    func handler() throws {
        let log = Log<Int>()
        container.handleReports { [container] _ in log.add(container.retries + container.timeout) }
        try container.apply(wrong)
        expect(container.timeout, equals: 30)
        expect(log.all, equals: [37])
        container.handleReports(by: nil)
    }

    @Test("require and property throw a wrong value; where nothing gives one, require throws and property gives nil")
    func require() throws {
        // require throws what a read reports, and what nothing gives.
        do {
            let nothing = "api.timeout: a value is required, but code doesn't set one, and no source is applied"
            expect(thrown { _ = try container.require(\.timeout) }, equals: nothing)
            try container.apply(wrong)
            expect(thrown { _ = try container.require(\.timeout) }, equals: mistake)
            expect(
                thrown { _ = try container.require(\.limitKey) },
                equals: "api.limit: a value is required, but neither code nor /srv/app.toml provides one; "
                    + "set api.limit in /srv/app.toml")
            try expect(container.require(\.retries), equals: 7)
            container.timeout = 2
            container.limitKey = 3
            try expect(container.require(\.timeout), equals: 2)
            try expect(container.require(\.limitKey), equals: 3)
            #expect(throws: PropertyError.self) { try container.require(\.unnamed) }
            container.unnamed = 4
            try expect(container.require(\.unnamed), equals: 4)
            expect(reports.all.isEmpty)
        }
        // property throws a wrong value and gives nil where nothing is.
        do {
            let fresh = Self()
            let (container, reports) = (fresh.container, fresh.reports)
            try expect(container.property("api.nowhere", as: Int.self) == nil)
            try container.apply(wrong)
            try expect(container.property("api.retries"), equals: 7)
            try expect(container.property("api.retries", as: Double?.self), equals: 7)
            try expect(container.property("api.retries", as: PropertyValue.self), equals: 7)
            try expect(container.property("api.nowhere", as: Int.self) == nil)
            container.host = "code"
            try expect(container.property("api.host", as: String.self), equals: "code")
            let error = "/srv/app.toml:2:11: api.timeout: expected Int, found string"
            expect(thrown { _ = try container.property("api.timeout", as: Int.self) }, equals: error)
            expect(
                thrown { _ = try container.property("api.timeout", as: [Int].self) },
                equals: "/srv/app.toml:2:11: api.timeout: expected array, found string")
            expect(reports.all.isEmpty)
        }
    }

    @Test("validate throws all mistakes together, and passes what code or a later layer puts right")
    func validate() throws {
        // validate throws all mistakes together, and unknown names with the nearest known one.
        do {
            try container.apply(wrong)
            try container.apply(
                JSONSource(
                    text: #"{"api": {"limit": true, "tiemout": 1}, "apo": {"retries": 1}, "other": 1}"#, name: "b"))
            try container.apply(EnvironmentSource(environment: ["API_RETRIES": "no", "HOME": "/"]))
            try container.apply(ArgumentsSource(["--api-hots=x"]))
            let all = thrown {
                try container.validate(\.timeout, \.retries, \.host, \.limitKey)
            }
            expect(
                all,
                equals: """
                    \(mistake)
                    environment variable API_RETRIES: api.retries: expected Int, found text "no"
                    b:1:19: api.limit: expected Int, found bool true
                    argument --api-hots: unknown name; did you mean --api-host?
                    b:1:25: api.tiemout: unknown name; did you mean api.timeout?
                    b:1:40: apo: unknown name; did you mean api?
                    b:1:63: other: unknown name
                    """)
            expect(reports.all.isEmpty)
        }
        // validate passes what code set, what a later layer puts right, and names that were read.
        do {
            let fresh = Self()
            let container = fresh.container
            try container.apply(wrong)
            container.timeout = 1
            expect(container.retries, equals: 7)
            try container.validate(\.timeout)
            container.reset(\.timeout)
            #expect(throws: PropertyErrors.self) { try container.validate(\.timeout) }
            let child = container.child()
            try child.apply(ArgumentsSource(["--api-timeout", "5"]))
            try child.validate(\.timeout, \.retries)
            expect(child.timeout, equals: 5)
            expect(thrown { try Container().validate(\.limitKey) }, equals: "nothing")
            expect(thrown { try child.validate([ContainerKeys().host]) }, equals: "nothing")
        }
    }

    @Test("A bad file changes nothing at all when it is applied, nor do the others when one is bad at a reload")
    func badFile() throws {
        let first = ChangingSource(["api.timeout": 1], name: "first")
        let second = ChangingSource(["api.retries": 1], name: "second")
        try container.apply(first)
        try container.apply(second)
        expect(container.timeout, equals: 1)
        expect(container.retries, equals: 1)
        let bad = TOMLSource(text: "api.timeout = 2\napi.retries = ", name: "bad")
        expect(thrown { try container.apply(bad) }, equals: "bad:2:15: expected a value, found the end of the text")
        first.change(to: ["api.timeout": 2])
        second.fail("no such thing")
        expect(thrown { try container.reload() }, equals: "second: no such thing")
        expect(container.timeout, equals: 1)
        expect(container.retries, equals: 1)
        first.fail("gone")
        expect(thrown { try container.reload() }, equals: "second: no such thing\nfirst: gone")
        first.change(to: ["api.timeout": 2])
        second.change(to: ["api.retries": 2])
        try container.reload()
        expect(container.timeout, equals: 2)
        expect(container.retries, equals: 2)
        expect(reports.all.isEmpty)
    }

    @Test(
        "A reload in which names that were read or are observed no longer decode is refused as a whole, with all of them"
    )
    func refused() throws {
        let source = ChangingSource(["api": ["timeout": 1, "retries": 1, "limit": 1, "host": "a"]])
        try container.apply(source)
        let heard = Log<Int>()
        container.observe(\.retries) { heard.add($0) }
        expect(container.timeout, equals: 1)
        source.change(to: ["api": ["timeout": "x", "retries": true, "limit": "x", "host": "b"]])
        let errors = Set(thrown { try container.reload() }.split(separator: "\n"))
        expect(
            errors,
            equals: [
                "changing: api.timeout: expected Int, found string \"x\"",
                "changing: api.retries: expected Int, found bool true",
            ])
        expect(container.timeout, equals: 1)
        expect(container.host, equals: "a")
        expect(container.limitKey, equals: 1)
        expect(heard.all.isEmpty)
        expect(reports.all.isEmpty)
        source.change(to: ["api": ["timeout": 2]])
        try container.reload()
        expect(container.timeout, equals: 2)
        expect(container.host, equals: "localhost")
        expect(container.limitKey, equals: 1)
    }

    @Test("A reload without sources, or in a container whose parent has them, does nothing")
    func nothing() throws {
        let source = ChangingSource(["api.timeout": 1])
        try container.reload()
        try container.apply(source)
        try container.child().reload()
        expect(source.loads, equals: 1)
    }
}

extension ContainerKeys {
    fileprivate var debug: PropertyKey<Bool> { .init("law25a.debug", defaultValue: false) }
    fileprivate var link: PropertyKey<URL?> { .init("law25a.link") }
    fileprivate var level: PropertyKey<Loudness> { .init("law25a.level", defaultValue: .info) }
    fileprivate var many: PropertyKey<Many> { .init("law25a.many", defaultValue: .c0) }
    fileprivate var shape: PropertyKey<Shape?> { .init("law25a.shape") }
    fileprivate var api: PropertyKey<String?> { .init("law25a.api.url") }
}

private enum Loudness: String, Decodable, CaseIterable { case debug, info }

private enum Many: String, Decodable, CaseIterable {
    case c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12
}

private enum Shape: Decodable, CaseIterable, Sendable { case round, square }

/// Errors say what to do (law 16).
struct MistakeAdviceTests {
    @Test(
        "An error about a Boolean value in a usual spelling says what to write (law 16)",
        arguments: ["1", "yes", "OFF"])
    func booleans(text: String) throws {
        let container = Container()
        try container.apply(EnvironmentSource(environment: ["LAW25A_DEBUG": text]))
        #expect(
            thrown { try container.validate(\.debug) }
                == "environment variable LAW25A_DEBUG: law25a.debug: expected Bool (true or false), found text \"\(text)\""
        )
    }

    @Test("An error says which URLs or cases would be accepted, and that an unknown key must be declared (law 16)")
    func urls() throws {
        // An error about a URL says what would be accepted.
        do {
            let container = Container()
            try container.apply(TOMLSource(text: "law25a.link = 'https://example.org/a b'", name: "x"))
            #expect(
                thrown { try container.validate(\.link) }
                    == "x:1:15: law25a.link: expected URL (percent-encode spaces and the like, as in a%20b), found string \"https://example.org/a b\""
            )
        }
        // An error about an enumeration lists its cases, and says that there are more than a dozen.
        do {
            let container = Container()
            try container.apply(
                TOMLSource(text: "law25a.level = 'x'\nlaw25a.many = 'x'\nlaw25a.shape = {oval = {}}", name: "x"))
            #expect(
                thrown { try container.validate(\.level, \.many, \.shape) } == """
                    x:1:16: law25a.level: expected one of debug, info, found string "x"
                    x:2:15: law25a.many: expected one of c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, …, found string "x"
                    x:3:16: law25a.shape: expected one of round, square, found oval
                    """)
        }
        // An unknown name that resembles none says that keys must be declared.
        do {
            let container = Container()
            try container.apply(TOMLSource(text: "[law25a.api]\nurl = 'x'", name: "app.toml"))
            let text = thrown { try container.validate() }
            #expect(
                text
                    == "app.toml:1:2: law25a: unknown name"
            )
            container.declare(\.api)
            expect(thrown { try container.validate() }, equals: "nothing")
        }
    }
}

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

/// Places that a source of one's own gives (law 16).
struct MistakePlacesTests {
    private let container = Container()

    private func errors(_ source: some PropertySource) throws -> [String] {
        try container.apply(source)
        container.declare(\.port, \.hosts)
        return try #require(throws: PropertyErrors.self) { try container.validate() }.errors.map { "\($0)" }
    }

    @Test("Errors and explanations have the places that a source of one's own gives, for texts and views, too (law 16)")
    func values() throws {
        // Errors have the places that a source of one's own gives, also inside arrays and for unknown names.
        do {
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
        // An explanation has the place, and what has none has the name of the source.
        do {
            let container = Container()
            try container.apply(Sheet(values: ["server.port": 1, "server.name": "a"]))
            expect("\(container.explain(\.port))", equals: "server.port = 1 (sheet.csv:3:2)")
            expect("\(container.explain(\.serverName))", equals: "server.name = \"a\" (sheet)")
        }
        // Texts of a source of one's own have places, too.
        do {
            let errors = try Self().errors(Vault())
            expect(
                errors,
                equals: [
                    "vault secret server/port, version 3: server.port: expected Int, found text \"many\"",
                    "vault: server.hosts[1]: expected Int, found text \"x\"",
                ])
        }
        // A view of the source keeps the places.
        do {
            let container = Container()
            let reports = container.reports()
            try container.apply(
                Sheet(values: ["server.port": 1]).mappingNames { $0 == "server.name" ? "server.port" : nil })
            expect(container.explain(\.serverName).mistake?.line, equals: 3)
            expect(reports.all, equals: ["sheet.csv:3:2: server.port: expected String, found integer 1"])
        }
    }
}

private struct Server: Decodable, Sendable {
    var host: String?
}

extension ContainerKeys {
    fileprivate var limitedPort: PropertyKey<Int> { .init("limit25.port", defaultValue: 80) }
    fileprivate var servers: PropertyKey<[Server]> { .init("limit25.servers", defaultValue: []) }
}

/// However much is wrong, what's said of it is bounded (law 16).
struct MistakeLimitTests {
    private let container = Container()

    private func names(_ numbers: Range<Int>) -> String { numbers.map { "limit25.n\($0) = 1\n" }.joined() }

    @Test(
        "Of unknown names, the first fifty are reported, and the number of the others, from every source (law 16)",
        arguments: ["TOML", "lines", "variables", "arguments", "members"])
    func unknown(kind: String) throws {
        let numbers = 1000..<1120
        let source: any PropertySource =
            switch kind {
            case "TOML": TOMLSource(text: names(numbers), name: "x")
            case "lines":
                DotEnvSource(text: numbers.map { "APP_N\($0)=1\n" }.joined(), name: "x", prefix: "APP")
            case "variables":
                EnvironmentSource(
                    prefix: "APP", environment: Dictionary(uniqueKeysWithValues: numbers.map { ("APP_N\($0)", "1") }))
            case "arguments": ArgumentsSource(numbers.map { "--n\($0)=1" })
            default: TOMLSource(text: numbers.map { "[[limit25.servers]]\nn\($0) = 1\n" }.joined(), name: "x")
            }
        try container.apply(source)
        let error = #expect(throws: PropertyErrors.self) { try container.validate(\.limitedPort, \.servers) }
        let lines = "\(error!)".split(separator: "\n")
        expect(lines.count, equals: 51)
        expect(lines[0].contains("1000") && lines[49].contains("1049"), "\(lines[0])\n\(lines[49])")
        expect(lines.last, equals: "and 70 more errors")
    }

    @Test(
        "Unknown names are reported in the order of the document; a reload is refused for new ones however many there were (law 16)"
    )
    func order() throws {
        // Unknown names are reported in the order of the document, whatever its tables.
        do {
            let text = (0..<60).map { "[limit25.t\($0).a]\nx = 1\n[unknown\($0)]\n" }.joined()
            try container.apply(TOMLSource(text: text, name: "x"))
            let error = #expect(throws: PropertyErrors.self) { try container.validate(\.limitedPort) }
            let lines = error?.errors.compactMap(\.line)
            expect(lines?.count == 50 && lines == lines?.sorted())
        }
        // A reload is refused for a new unknown name however many there were, and for no others.
        do {
            let container = Container()
            container.declare(\.limitedPort)
            let path = try TemporaryFile(names(1000..<1200))
            try container.apply(TOMLSource(path: path.path))
            try path.write(names(1001..<1200))
            try container.reload()
            try path.write(names(1001..<1200) + "limit25.new = 1\n")
            let text = thrown { try container.reload() }
            expect(text.split(separator: "\n").count == 1 && text.contains("limit25.new"), "\(text)")
        }
    }
}

/// A file that ends with its test.
private final class TemporaryFile {
    let path = "/tmp/fugu-limit-\(UInt64.random(in: 0 ... .max))"

    init(_ text: String) throws { try write(text) }

    func write(_ text: String) throws { try text.write(toFile: path, atomically: true, encoding: .utf8) }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

extension ContainerKeys {
    fileprivate var isOn: PropertyKey<Bool> { .init("limit25.isOn", defaultValue: true) }
}

extension MistakeLimitTests {
    @Test("What arguments switch off, and words for others, aren't among the errors that are counted (law 16)")
    func arguments() throws {
        let words = (1000..<1060).flatMap { ["--n\($0)", "x", "-v"] }
        try container.apply(
            ArgumentsSource(["--no-limit25-is-on"] + words + ["--limit25-port", "a", "--limit25-port=b"]))
        let error = #expect(throws: PropertyErrors.self) { try container.validate(\.limitedPort, \.isOn) }
        let lines = "\(error!)".split(separator: "\n")
        expect(lines.count, equals: 51)
        expect(
            lines.first?.contains("expected Int, found text \"b\"") == true && lines[49].contains("1048"), "\(lines)")
        expect(lines.last, equals: "and 11 more errors")
        expect(!container.isOn)
    }
}
