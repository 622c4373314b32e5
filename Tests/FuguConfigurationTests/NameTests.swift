import Foundation
import Fugu
import FuguConfiguration
import Support
import Testing

extension ContainerKeys {
    fileprivate var timeout: PropertyKey<Int> { .init("api.timeout", defaultValue: 30) }
    fileprivate var api: PropertyKey<[String: Int]> { .init("api", defaultValue: [String: Int]()) }
    fileprivate var hosts: PropertyKey<[String]> { .init("api.hosts", defaultValue: [String]()) }
    fileprivate var limit: PropertyKey<Int?> { .init("api.limit") }
}

private struct API: Encodable {
    struct Inner: Encodable { var timeout = 5 }
    var api = Inner()
}

/// Names are the same for every format (law 24).
struct NameTests {
    private let container = Container()

    @Test(
        "The same dotted name is meant in every format (law 24)",
        arguments: [
            JSONSource(text: #"{"api": {"timeout": 5}}"#, name: "x"),
            JSONSource(text: #"{"api.timeout": 5}"#, name: "x"),
            TOMLSource(text: "[api]\ntimeout = 5", name: "x"), TOMLSource(text: "api.timeout = 5", name: "x"),
            DictionarySource(["api": ["timeout": 5]], name: "x"), StructSource(reflecting: API()),
            EnvironmentSource(prefix: "APP", environment: ["APP_API_TIMEOUT": "5"]),
            ArgumentsSource(["--api-timeout", "5"]), ArgumentsSource(["--api.timeout=5"]),
        ] as [any PropertySource])
    func formats(source: any PropertySource) throws {
        try container.apply(source)
        expect(container.timeout, equals: 5)
        try expect(container.property("api.timeout", as: Int.self), equals: 5)
        try expect(container.require(\.timeout), equals: 5)
    }

    @Test("A layer answers with its whole table: tables are never merged (law 24)")
    func tables() throws {
        try container.apply(JSONSource(text: #"{"api": {"timeout": 1, "limit": 2, "retries": 3}}"#, name: "base"))
        try container.apply(TOMLSource(text: "[api]\ntimeout = 9\nretries = 3", name: "local"))
        expect(container.api, equals: ["timeout": 9, "retries": 3])
        // A name is asked of each layer on its own, so what the later one lacks comes from the earlier one.
        expect(container.timeout, equals: 9)
        expect(container.limit, equals: 2)
    }

    @Test("Arrays are replaced as a whole too (law 24)")
    func arrays() throws {
        try container.apply(JSONSource(text: #"{"api": {"hosts": ["a", "b", "c"]}}"#, name: "base"))
        try container.apply(ArgumentsSource(["--api-hosts", "z"]))
        expect(container.hosts, equals: ["z"])
    }

    @Test("null is a value: it hides what earlier layers have, and does not fit a type without nil (laws 24, 25)")
    func null() throws {
        let reports = container.reports()
        try container.apply(JSONSource(text: #"{"api": {"limit": 1, "timeout": 1}}"#, name: "base"))
        expect(container.limit, equals: 1)
        expect(container.timeout, equals: 1)
        try container.apply(JSONSource(text: #"{"api": {"limit": null, "timeout": null}}"#, name: "local"))
        expect(container.limit == nil)
        expect(container.timeout, equals: 30)
        expect(reports.all, equals: ["local:1:36: api.timeout: expected Int, found null"])
    }

    @Test("A value in place of a table, and a table in place of a value, is what the layer has")
    func shapes() throws {
        let reports = container.reports()
        // A name of its own, since values are hidden of tables in which anything in the process declares a secret.
        let (table, member) = (
            PropertyKey("shape", defaultValue: [String: Int]()), PropertyKey("shape.size", defaultValue: 30)
        )
        try container.apply(JSONSource(text: #"{"shape": {"size": 1}}"#, name: "base"))
        try container.apply(JSONSource(text: #"{"shape": 5}"#, name: "local"))
        // The later layer has nothing under shape.size.
        expect(container[member], equals: 1)
        expect(container[table], equals: [:])
        expect(reports.all, equals: ["local:1:11: shape: expected table, found integer 5"])
    }
}

extension ContainerKeys {
    fileprivate var limit24: PropertyKey<Int> { .init("law24.limit", defaultValue: 0) }
}

/// A variable has one spelling, however its prefix is written, and whatever wraps its source (law 24).
struct NameOfVariableTests {
    @Test("A prefix is read as a name is", arguments: ["APP", "APP_", "App", "app", "app_", " APP "])
    func prefixes(prefix: String) throws {
        let container = Container()
        container.declare(\.limit24)
        let environment = ["APP_LAW24_LIMIT": "7", "APP_LAW24_LIMT": "8"]
        try container.apply(EnvironmentSource(prefix: prefix, environment: environment))
        expect(container.limit24, equals: 7)
        expect(thrown { try container.validate() }.contains("did you mean APP_LAW24_LIMIT?"))
        expect(EnvironmentSource(prefix: prefix, environment: [:]).name, equals: "environment APP_")
        expect(container.reference().entries[0].variable, equals: "APP_LAW24_LIMIT")
        expect(container.reference(prefix: prefix).entries[0].variable, equals: "APP_LAW24_LIMIT")
        let lines = Container()
        try lines.apply(DotEnvSource(text: "APP_LAW24_LIMIT=7", name: ".env", prefix: prefix))
        expect(lines.limit24, equals: 7)
    }

    @Test("An element of a list in a file of variables has the place of its line")
    func elements() throws {
        let container = Container()
        try container.apply(DotEnvSource(text: "A=1\n\nLAW24_LIST=1,x,3", name: ".env"))
        let message = thrown { _ = try container.property("law24.list", as: [Int].self) }
        expect(message.hasPrefix(".env:3:") && message.contains("LAW24_LIST[1]: expected Int"), "\(message)")
    }

    @Test(
        "A prefix of several words is read as a name is", arguments: ["MY_APP", "MY-APP", "my.app", "myApp", "MyApp"])
    func words(prefix: String) throws {
        let container = Container()
        try container.apply(EnvironmentSource(prefix: prefix, environment: ["MY_APP_LAW24_LIMIT": "7"]))
        expect(container.limit24, equals: 7)
    }

    @Test("The reference spells variables as the source that was applied does, whatever wraps it")
    func reference() throws {
        func variable(_ source: some PropertySource) throws -> String {
            let container = Container()
            container.declare(\.limit24)
            try container.apply(source)
            return container.reference().entries[0].variable
        }
        let source = EnvironmentSource(prefix: "APP", environment: [:])
        try expect(variable(source.markingSecrets("*password")), equals: "APP_LAW24_LIMIT")
        try expect(variable(source.scoped(to: "tenant")), equals: "APP_TENANT_LAW24_LIMIT")
        try expect(variable(DotEnvSource(text: "", name: ".env", prefix: "APP")), equals: "APP_LAW24_LIMIT")
        try expect(variable(DictionarySource([:], name: "x")), equals: "LAW24_LIMIT")
    }

    @Test("An empty variable counts, unless its source is told that it doesn't")
    func empty() throws {
        let word = PropertyKey("law24.word", defaultValue: "default")
        let container = Container()
        let source = EnvironmentSource(prefix: "APP", environment: ["APP_LAW24_WORD": "", "APP_LAW24_LIMIT": ""])
        try container.apply(source)
        expect(container[word], equals: "")
        #expect(throws: PropertyError.self) { try container.require(\.limit24) }
        let other = Container()
        try other.apply(DictionarySource(["law24.limit": 3], name: "base"))
        try other.apply(source.ignoringEmptyTexts())
        expect(other[word], equals: "default")
        expect(other.limit24, equals: 3)
    }

    @Test(
        "A line of a .env file without a prefix that almost has a name is reported, and those of others aren't",
        arguments: ["exportLAW24_LIMIT=1", "LAW24-LIMIT=1", "LAW24_LIMT=1", "law24.limt=1"])
    func nearLines(line: String) throws {
        let container = Container()
        container.declare(\.limit24)
        try container.apply(DotEnvSource(text: "PATH=x\nEDITOR=y\n\(line)", name: ".env"))
        let text = thrown { try container.validate() }
        expect(text.hasPrefix(".env:3:1: ") && text.hasSuffix("unknown name; did you mean LAW24_LIMIT?"), "\(text)")
    }
}
