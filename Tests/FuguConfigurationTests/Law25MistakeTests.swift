import Fugu
import FuguConfiguration
import Support
import Testing

extension ContainerKeys {
    fileprivate var timeout: PropertyKey<Int> { .init("api.timeout", defaultValue: 30) }
    fileprivate var retries: PropertyKey<Int> { .init("api.retries", defaultValue: 3) }
    fileprivate var host: PropertyKey<String> { .init("api.host", defaultValue: "localhost") }
    fileprivate var unnamed: PropertyKey<Int> { .init(defaultValue: 1) }
}

extension ContainerKeys {
    fileprivate var limitKey: PropertyKey<Int> { .init("api.limit", defaultValue: 1) }
}

@Suite struct Law25MistakeTests {
    static let cases: [Case<Law25MistakeTests>] = [
        Case(
            "A wrong value gives the default and one report with file, line, column, name, expected and found (law 25)",
            report),
        Case(
            "It is reported once, whatever is reset, reloaded or set meanwhile, and again only if it is another mistake",
            once),
        Case("A value that is put right is read, and a wrong one that takes its place then is refused", repaired),
        Case("Whoever observes hears the default in place of a wrong value", observed),
        Case("A report handler may use the container", handler),
        Case("require throws what a read reports, and what nothing gives", require),
        Case("property throws a wrong value and gives nil where nothing is", property),
        Case("validate passes what code set, what a later layer puts right, and names that were read", valid),
        Case("A reload without sources, or in a container whose parent has them, does nothing", nothing),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<Law25MistakeTests>) async throws { try await stated.run(self) }

    private let container = Container()
    private let reports: Log<String>
    private let wrong = TOMLSource(text: "[api]\ntimeout = \"soon\"\nretries = 7", name: "/srv/app.toml")
    private let mistake = "/srv/app.toml:2:11: api.timeout: expected Int, found string \"soon\""

    init() { reports = container.reports() }

    func report() throws {
        try container.apply(wrong)
        expect(reports.all.isEmpty)
        for _ in 0..<3 { expect(container.timeout == 30 && container.child().timeout == 30) }
        expect(container.retries, equals: 7)
        expect(reports.all, equals: [mistake])
    }

    func once() throws {
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

    func repaired() throws {
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

    func observed() throws {
        let heard = Log<Int>()
        container.observe(\.timeout) { heard.add($0) }
        try container.apply(DictionarySource(["api.timeout": 5], name: "x"))
        try container.apply(wrong)
        expect(heard.all, equals: [5, 30])
        expect(reports.all, equals: [mistake])
    }

    func handler() throws {
        let log = Log<Int>()
        container.handleReports { [container] _ in log.add(container.retries + container.timeout) }
        try container.apply(wrong)
        expect(container.timeout, equals: 30)
        expect(log.all, equals: [37])
        container.handleReports(by: nil)
    }

    func require() throws {
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

    func property() throws {
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

    @Test("validate throws all mistakes together, and unknown names with the nearest known one")
    func validate() throws {
        try container.apply(wrong)
        try container.apply(
            JSONSource(text: #"{"api": {"limit": true, "tiemout": 1}, "apo": {"retries": 1}, "other": 1}"#, name: "b"))
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
                b:1:63: other: unknown name\(undeclared)
                """)
        expect(reports.all.isEmpty)
    }

    func valid() throws {
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

    func nothing() throws {
        let source = ChangingSource(["api.timeout": 1])
        try container.reload()
        try container.apply(source)
        try container.child().reload()
        expect(source.loads, equals: 1)
    }
}
