import Foundation
import Fugu
@testable import FuguConfiguration
import FuguInspection
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

/// Names are the same for every format (law 15).
struct NameTests {
    private let container = Container()

    @Test(
        "The same dotted name is meant in every format (law 15)",
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

    @Test("A layer answers with its whole table or array: neither is merged (law 15)")
    func tables() throws {
        // A layer answers with its whole table: tables are never merged.
        do {
            try container.apply(JSONSource(text: #"{"api": {"timeout": 1, "limit": 2, "retries": 3}}"#, name: "base"))
            try container.apply(TOMLSource(text: "[api]\ntimeout = 9\nretries = 3", name: "local"))
            expect(container.api, equals: ["timeout": 9, "retries": 3])
            // A name is asked of each layer on its own, so what the later one lacks comes from the earlier one.
            expect(container.timeout, equals: 9)
            expect(container.limit, equals: 2)
        }
        // Arrays are replaced as a whole too.
        do {
            let container = Container()
            try container.apply(JSONSource(text: #"{"api": {"hosts": ["a", "b", "c"]}}"#, name: "base"))
            try container.apply(ArgumentsSource(["--api-hosts", "z"]))
            expect(container.hosts, equals: ["z"])
        }
    }

    @Test(
        "What a layer has is what it has: null, a value in place of a table, or a table in place of a value (laws 15, 16)"
    )
    func null() throws {
        // null is a value: it hides what earlier layers have, and does not fit a type without nil.
        do {
            let reports = container.reports()
            try container.apply(JSONSource(text: #"{"api": {"limit": 1, "timeout": 1}}"#, name: "base"))
            expect(container.limit, equals: 1)
            expect(container.timeout, equals: 1)
            try container.apply(JSONSource(text: #"{"api": {"limit": null, "timeout": null}}"#, name: "local"))
            expect(container.limit == nil)
            expect(container.timeout, equals: 30)
            expect(reports.all, equals: ["local:1:36: api.timeout: expected Int, found null"])
        }
        // A value in place of a table, and a table in place of a value, is what the layer has.
        do {
            let container = Container()
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
}

extension ContainerKeys {
    fileprivate var limit24: PropertyKey<Int> { .init("law24.limit", defaultValue: 0) }
}

/// A variable has one spelling, however its prefix is written, and whatever wraps its source (law 15).
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

extension ContainerKeys {
    fileprivate var named: PropertyKey<Int> { .init("law1.named", defaultValue: 1) }
    fileprivate func named(_ name: String) -> PropertyKey<Int> { .init(name, defaultValue: 0) }
}

/// What makes keys with names the same (law 1).
struct NamedKeyTests {
    private let container = Container()

    @Test(
        "Keys of one name and type are the same, its name tells it from others of its place, and graphs use it (law 1)")
    func identity() {
        // Keys with the same name and type are the same, wherever they're made.
        do {
            container.named = 9
            let sameName = PropertyKey("law1.named", defaultValue: 5)
            let otherType = PropertyKey("law1.named", defaultValue: "text")
            expect(sameName, equals: ContainerKeys().named)
            expect(sameName.name, equals: "law1.named")
            expect(PropertyKey(defaultValue: 1).name == nil)
            expect(container[sameName], equals: 9)
            expect(container[otherType], equals: "text")
        }
        // Names tell the keys of one place apart, whichever is asked first.
        do {
            let keys = ["identity.a", "identity.b", "identity.a"].map { ContainerKeys().named($0) }
            expect(keys[0] == keys[2] && keys[0] != keys[1])
            expect(keys.map(\.name), equals: ["identity.a", "identity.b", "identity.a"])
        }
        // Graphs call a key with a name by its member, and by its name if no member makes it.
        do {
            let container = Container()
            container.named = 3
            container[ContainerKeys().named("identity.made")] = 4
            expect(container.graph.entries.map(\.name).sorted(), equals: [#"\.named"#, "identity.made"])
        }
    }
}

struct DottedNameTests {
    private func snapshot(_ json: String) throws -> PropertySnapshot { try JSONSource(text: json, name: "x").load() }

    private func value(_ name: String, _ json: String) throws -> PropertyValue? {
        try snapshot(json).value(named: name)?.propertyValue
    }

    @Test(
        "A literal dotted name equals a nested one (law 15)",
        arguments: [
            "{\"api\": {\"timeout\": 30, \"base\": {\"url\": \"u\"}}}",
            "{\"api.timeout\": 30, \"api.base.url\": \"u\"}",
            "{\"api.timeout\": 30, \"api\": {\"base.url\": \"u\"}}",
            "{\"api\": {\"base.url\": \"u\"}, \"api.timeout\": 30}",
            "{\"api.base\": {\"url\": \"u\"}, \"api\": {\"timeout\": 30}}",
        ])
    func equal(json: String) throws {
        struct API: Decodable, Equatable {
            struct Base: Decodable, Equatable { var url: String }
            var timeout: Int
            var base: Base?
        }
        try expect(value("api.timeout", json), equals: 30)
        try expect(value("api.base.url", json), equals: "u")
        try expect(value("api.base", json), equals: ["url": "u"])
        let api = try #require(try snapshot(json).value(named: "api"))
        try expect(api.decode(API.self).timeout, equals: 30)
        try expect(snapshot(json).value(named: "api.other") == nil)
        try expect(snapshot(json).value(named: "api.timeout.x") == nil)
        try expect(snapshot(json).value(named: "other") == nil)
    }

    @Test("Tables that dotted names made decode whole, with the places of their members")
    func decoded() throws {
        struct API: Decodable { struct Base: Decodable { var url: Int }; var timeout: Int; var base: Base }
        let api = try #require(
            try snapshot("{\n\"api.timeout\": 30,\n\"api\": {\"base.url\": \"u\"}}").value(named: "api"))
        let error = #expect(throws: PropertyError.self) { try api.decode(API.self) }
        expect(error?.description, equals: "x:3:21: api.base.url: expected Int, found string")
        let kind = #expect(throws: PropertyError.self) { try api.decode(Int.self) }
        expect(kind?.description, equals: "x:3:8: api: expected Int, found table")
        let made = try #require(try snapshot("{\n \"a.b.c\": 1}").value(named: "a.b"))
        let missing = #expect(throws: PropertyError.self) { try made.decode(API.self) }
        expect(missing?.description, equals: "x:2:2: a.b.timeout: missing; expected Int")
    }

    @Test(
        "A file in which both stand is refused (law 15)",
        arguments: [
            ("{\"api\": {\"timeout\": 1},\n \"api.timeout\": 2}", "x:2:2: "),
            ("{\"api.timeout\": 1,\n \"api\": {\"timeout\": 2}}", "x:2:10: "),
            ("{\"a.b\": {\"c\": 1},\n \"a\": {\"b.c\": 2}}", "x:2:8: "),
        ])
    func both(json: String, place: String) {
        let error = #expect(throws: PropertyError.self) { try JSONSource(text: json, name: "x").load() }
        expect(error?.description, equals: place + "the name appears twice, dotted and nested; the first is on line 1")
    }

    @Test("Values from Swift and files whose top is no table are refused alike")
    func values() {
        // Values from Swift are refused alike, without a line.
        do {
            let source = DictionarySource(["a.b": 1, "a": ["b": 2]], name: "defaults")
            let error = #expect(throws: PropertyError.self) { try source.load() }
            expect(error?.description, equals: "defaults: a.b: the name appears twice, dotted and nested")
        }
        // A file whose top is no table is no configuration.
        do {
            let error = #expect(throws: PropertyError.self) { try JSONSource(text: "\n [1]", name: "x").load() }
            expect(error?.description, equals: "x:2:2: the top level of a configuration file must be an object")
        }
    }

    @Test("A quoted name with dots is a literal one, and a dictionary whose keys have dots keeps them")
    func toml() throws {
        // A dotted key of TOML is a table, a quoted one a literal name, and both answer alike.
        do {
            let snapshot = try TOMLSource(text: "a.b = 1\n\"c.d\" = 2\n[e.\"f.g\"]\nh = 3", name: "x").load()
            expect(snapshot.value(named: "a")?.propertyValue, equals: ["b": 1])
            expect(snapshot.value(named: "c")?.propertyValue, equals: ["d": 2])
            expect(snapshot.value(named: "e.f.g.h")?.propertyValue, equals: 3)
            expect(snapshot.value(named: "e.f.g.h")?.origin.description, equals: "x:4:5")
        }
        // A dictionary whose keys have dots keeps them, and each answers by its full name.
        do {
            let json = "{\"hosts\": {\"example.com\": \"1\", \"Hello. You\": \"2\", \"Hello\": \"3\"}}"
            let hosts = try #require(try snapshot(json).value(named: "hosts"))
            try expect(
                hosts.decode([String: String].self), equals: ["example.com": "1", "Hello. You": "2", "Hello": "3"])
            try expect(value("hosts.example.com", json), equals: "1")
            try expect(value("hosts.Hello", json), equals: "3")
            try expect(value("hosts.Hello. You", json), equals: "2")
        }
    }

    @Test("An unknown name is reported at its place with the nearest known one, or none if none is near (law 16)")
    func unknown() throws {
        // An unknown name is reported at its place with the nearest known one, once for a whole table.
        do {
            let text = """
                [api]
                timeuot = 1
                retries = 2
                limits.load = 3
                [apj]
                x = 1
                y = 2
                [other.thing]
                "a.b" = 1
                """
            let errors = try TOMLSource(text: text, name: "x").load()
                .unknownNames(known: ["api.timeout", "api.retries", "api.limits", "other.name"])
            expect(
                errors.map(\.description),
                equals: [
                    "x:2:1: api.timeuot: unknown name; did you mean api.timeout?",
                    "x:5:2: apj: unknown name; did you mean api?", "x:8:8: other.thing: unknown name",
                ])
            try expect(snapshot("{\"a.b.c\": 1, \"d.e\": 2}").unknownNames(known: ["a.b", "d.e"]).isEmpty)
        }
        // The nearest name is suggested, and none if none is near.
        do {
            let known = ["api.timeout", "api.base_url", "log.level", "port"]
            expect(NearestName.suggestion(for: "api.tiemout", among: known), equals: "api.timeout")
            expect(NearestName.suggestion(for: "API.Timeout", among: known), equals: "api.timeout")
            expect(NearestName.suggestion(for: "api.baseurl", among: known), equals: "api.base_url")
            expect(NearestName.suggestion(for: "prot", among: known), equals: "port")
            expect(NearestName.suggestion(for: "database", among: known) == nil)
            expect(NearestName.suggestion(for: "", among: known) == nil)
            expect(NearestName.suggestion(for: "ab", among: ["ac", "bb"]), equals: "ac")
        }
    }
}
