import Foundation
import Fugu
import Support
import Testing

@testable import FuguConfiguration

private struct Server: Decodable, Sendable {
    var host: String?
    var port: Int?
}

/// Names that no key has (law 16).
struct NameTyposTests {
    private func mistakes(_ sources: any PropertySource..., keys: any ConfigurationKey...) throws -> [String] {
        let container = Container()
        container.handleReports { _ in }
        for source in sources { try container.apply(source) }
        return thrown { try container.validate(keys) }.split(separator: "\n").map(String.init)
    }

    @Test(
        "A typo in a table that is read as a struct is found, in an array too, and reported with the missing member (law 16)"
    )
    func members() throws {
        // A typo in a table that is read as a struct is found, in an array of tables too.
        do {
            let one = TOMLSource(text: "[srv]\nhots = 'a'\n[srv.deeper]\nx = 1", name: "x")
            try expect(
                mistakes(one, keys: PropertyKey<Server?>("srv")),
                equals: [
                    "x:2:1: srv.hots: unknown name; did you mean srv.host?", "x:3:6: srv.deeper: unknown name",
                ])
            let many = TOMLSource(text: "[[all]]\nhost = 'a'\n[[all]]\nprot = 1", name: "x")
            try expect(
                mistakes(many, keys: PropertyKey<[Server]?>("all")),
                equals: [
                    "x:4:1: all[1].prot: unknown name; did you mean all[1].port?"
                ])
            try expect(mistakes(one, keys: PropertyKey<[String: PropertyValue]?>("srv")), equals: ["nothing"])
            try expect(mistakes(one, keys: PropertyKey<PropertyValue?>("srv")), equals: ["nothing"])
        }
        // A missing member and the one that was perhaps meant are reported together.
        do {
            struct Strict: Decodable, Sendable { var port: UInt16 }
            let source = TOMLSource(text: "[[s]]\nprot = 1", name: "x")
            try expect(
                mistakes(source, keys: PropertyKey<[Strict]?>("s")),
                equals: [
                    "x:1:1: s[0].port: missing; expected UInt16; there's a similar name, prot"
                ])
        }
    }

    @Test("A flag without a value is true to a Bool and a mistake to everything else (law 16)")
    func flags() throws {
        let source = ArgumentsSource(["--db-host", "--db-port", "5"])
        let host = PropertyKey("db.host", defaultValue: "localhost")
        try expect(
            mistakes(source, keys: host, PropertyKey("db.port", defaultValue: 1)),
            equals: [
                "argument --db-host: db.host: needs a value; expected String, as in --db-host=…"
            ])
        let list = try ArgumentsSource(["--tag", "a", "--tag"]).load().value(named: "tag")
        #expect(throws: PropertyError.self) { try list?.decode([String].self) }
    }

    @Test("Advice looks at one part of a name after the other, and says where a table is expected (law 16)")
    func segments() throws {
        let port = PropertyKey("server.port", defaultValue: 1)
        let servers = PropertyKey("servers", defaultValue: 1)
        func advice(_ text: String) throws -> [String] {
            try mistakes(TOMLSource(text: text, name: "x"), keys: port, servers)
        }
        try expect(advice("[sevrer]\nport = 80"), equals: ["x:1:2: sevrer: unknown name; did you mean server?"])
        try expect(advice("server = 80"), equals: ["x:1:1: server: expected a table (server.port), found integer"])
        try expect(advice("[server]\nowner = 'x'"), equals: ["x:2:1: server.owner: unknown name"])
        try expect(advice("port = 80"), equals: ["x:1:1: port: unknown name; did you mean server.port?"])
    }

    private func inside(_ whole: String, of table: String = "srv") -> String {
        "nothing reads this name: \(table) is given as a whole, in a file or as JSON: \(whole)='{…}'"
    }

    @Test("A variable in the place of a struct's member is a mistake, and with a prefix each that no key has (law 16)")
    func variables() throws {
        let key = PropertyKey<Server?>("srv")
        try expect(
            mistakes(EnvironmentSource(environment: ["SRV_PORT": "80", "HOME": "/"]), keys: key),
            equals: [
                "environment variable SRV_PORT: \(inside("SRV"))"
            ])
        let prefixed = EnvironmentSource(
            prefix: "APP", environment: ["APP_SRV_PORT": "80", "APP_LGO": "x", "HOME": "/"])
        try expect(
            mistakes(prefixed, keys: key, PropertyKey<Int?>("log")),
            equals: [
                "environment variable APP_LGO: unknown name; did you mean APP_LOG?",
                "environment variable APP_SRV_PORT: \(inside("APP_SRV"))",
            ])
    }

    @Test("Advice about a name inside a table is the same for variables and arguments (law 16)")
    func insideTables() throws {
        let table = PropertyKey<Server?>("srv")
        let dictionary = PropertyKey<[String: Int]?>("map")
        let keys: [any ConfigurationKey] = [table, dictionary, PropertyKey("srv.name", defaultValue: "")]
        let container = Container()
        try container.apply(
            EnvironmentSource(prefix: "APP", environment: ["APP_SRV_POTR": "1", "APP_SRV_NAEM": "", "APP_MAP_X": "1"]))
        try container.apply(ArgumentsSource(["--srv-potr=1", "--srv-naem=x", "--map-x=1"]))
        expect(
            thrown { try container.validate(keys) }.split(separator: "\n"),
            equals: [
                "argument --map-x: \(inside("--map", of: "map"))",
                "argument --srv-naem: unknown name; did you mean --srv-name?",
                "argument --srv-potr: \(inside("--srv"))",
                "environment variable APP_MAP_X: \(inside("APP_MAP", of: "map"))",
                "environment variable APP_SRV_NAEM: unknown name; did you mean APP_SRV_NAME?",
                "environment variable APP_SRV_POTR: \(inside("APP_SRV"))",
            ])
    }

    @Test(
        "A name that goes on after that of a key without members is unknown, and isn't called part of a table (law 16)")
    func notInside() throws {
        let sources = EnvironmentSource(
            prefix: "APP", environment: ["APP_PORT_MAXIMUM": "1", "APP_POOL_WAITERS": "1"])
        let pool = PropertyKey<Server?>("pool", form: .merged)
        try expect(
            mistakes(sources, keys: PropertyKey("port", defaultValue: 1), pool),
            equals: [
                "environment variable APP_POOL_WAITERS: unknown name",
                "environment variable APP_PORT_MAXIMUM: unknown name",
            ])
    }

    @Test("Of a source that is scoped to a table, the names in others aren't reported (law 16)")
    func scoped() throws {
        let port = PropertyKey("port", defaultValue: 1)
        let file = TOMLSource(text: "[live]\nprot = 2\n[staging]\nport = 3", name: "x")
        let typo = "x:2:1: live.prot: unknown name; did you mean live.port?"
        try expect(mistakes(file.scoped(to: "live"), keys: port), equals: [typo])
        try expect(mistakes(file.scoped(to: "live").mappingNames { $0 }, keys: port), equals: [typo])
        let deeper = TOMLSource(text: "[a.live]\nport = 2\n[a.staging]\nport = 3\n[b]\nport = 4", name: "x")
        try expect(mistakes(deeper.scoped(to: "a").scoped(to: "live"), keys: port), equals: ["nothing"])
        let wrong = TOMLSource(text: "live = 2", name: "x")
        try expect(
            mistakes(wrong.scoped(to: "live"), keys: port),
            equals: [
                "x:1:1: live: expected a table (live.port), found integer"
            ])
        let variables = EnvironmentSource(
            prefix: "APP", environment: ["APP_LIVE_PROT": "2", "APP_STAGING_PORT": "3", "APP_LIVELY_PORT": "4"])
        try expect(
            mistakes(variables.scoped(to: "live"), keys: port),
            equals: [
                "environment variable APP_LIVE_PROT: unknown name; did you mean APP_LIVE_PORT?"
            ])
        try expect(
            mistakes(ArgumentsSource(["--live-prot=1", "--other=2"]).scoped(to: "live"), keys: port),
            equals: [
                "argument --live-prot: unknown name; did you mean --live-port?"
            ])
    }

    @Test("A line that shares all but one word with a known name isn't that name misspelled (law 16)")
    func words() throws {
        let port = PropertyKey("redis.port", defaultValue: 1)
        func advice(_ line: String) throws -> [String] {
            try mistakes(DotEnvSource(text: line, name: ".env"), keys: port)
        }
        try expect(advice("REDIS_HOST=x"), equals: ["nothing"])
        try expect(advice("CACHE_PORT=x"), equals: ["nothing"])
        try expect(advice("REDIS_PORT_NAME=x"), equals: ["nothing"])
        try expect(advice("REDIS_PROT=1"), equals: [".env:1:1: REDIS_PROT: unknown name; did you mean REDIS_PORT?"])
        try expect(advice("REDSI_PORT=1"), equals: [".env:1:1: REDSI_PORT: unknown name; did you mean REDIS_PORT?"])
    }

    @Test("A file of variables that have a prefix, but are read without it, is a mistake (law 16)")
    func forgottenPrefix() throws {
        let keys = [PropertyKey("redis.port", defaultValue: 1), PropertyKey("size", defaultValue: 1)]
        func advice(_ text: String, prefix: String = "") throws -> [String] {
            try mistakes(DotEnvSource(text: text, name: ".env", prefix: prefix), keys: keys[0], keys[1])
        }
        let forgotten = #".env:1:1: APP_REDIS_PORT: unknown name; did you mean prefix: "APP"?"#
        try expect(advice("APP_REDIS_PORT=2\nPATH=x"), equals: [forgotten])
        let longer = #".env:1:1: MY_APP_REDIS_PORT: unknown name; did you mean prefix: "MY_APP"?"#
        try expect(advice("MY_APP_REDIS_PORT=2"), equals: [longer])
        // These may well be for another program.
        try expect(advice("APP_REDIS_PORT=2\nSIZE=3"), equals: ["nothing"])
        try expect(advice("APP_REDIS_PORT=2", prefix: "SHOP"), equals: ["nothing"])
        try expect(advice("WINDOW_SIZE=3"), equals: ["nothing"])
        let process = EnvironmentSource(environment: ["APP_REDIS_PORT": "2"])
        try expect(mistakes(process, keys: keys[0]), equals: ["nothing"])
    }
}

/// Numbers are read as they are written (law 16).
struct NumberExactTests {
    private func read<Value: Decodable & Sendable>(_ text: String, as type: Value.Type) throws -> Value? {
        let container = Container()
        try container.apply(TOMLSource(text: "a = \(text)", name: "x"))
        return try container.property("a", as: type)
    }

    private func readText<Value: Decodable & Sendable>(_ text: String, as type: Value.Type) throws -> Value? {
        let container = Container()
        try container.apply(EnvironmentSource(environment: ["A": text]))
        return try container.property("a", as: type)
    }

    @Test("A whole number is read from the digits that were written, not from the nearest Double (law 16)")
    func digits() throws {
        try expect(read("9007199254740993.0", as: Int.self), equals: 9_007_199_254_740_993)
        try expect(read("1_0.5e1", as: Int.self), equals: 105)
        try expect(read("-2e3", as: Int16.self), equals: -2000)
        #expect(throws: PropertyError.self) { try read("100000000000000000.3", as: Int.self) }
        #expect(throws: PropertyError.self) { try read("0.5", as: Int.self) }
        #expect(throws: PropertyError.self) { try readText("100000000000000000.3", as: Int.self) }
        try expect(readText("9007199254740993.0", as: Int.self), equals: 9_007_199_254_740_993)
        try expect(readText("1e2", as: UInt8.self), equals: 100)
        try expect(readText("340282366920938463463374607431768211455", as: UInt128.self), equals: .max)
        #expect(throws: PropertyError.self) { try readText("1e99999999999", as: Int.self) }
    }

    @Test(
        "Text holds the numbers of TOML and no others", arguments: ["0X10", "1_", "0b", "0x1p3", "nan(0x1)", " 1", ""])
    func decimal(text: String) {
        #expect(throws: PropertyError.self) { try readText(text, as: Int.self) }
        #expect(throws: PropertyError.self) { try readText(text, as: Double.self) }
    }

    @Test("Not-a-number, and a value that no type compares, are reported once and not at every reload (law 16)")
    func same() throws {
        struct Opaque: Decodable, Sendable { var x: Int }
        let container = Container()
        let source = ChangingSource(["ratio": .double(.nan), "opaque": ["x": 1], "count": 1])
        try container.apply(source)
        let told = Log<String>()
        let ratio = PropertyKey("ratio", defaultValue: 0.0)
        let opaque = PropertyKey<Opaque?>("opaque")
        let count = PropertyKey("count", defaultValue: 0)
        expect(container[ratio].isNaN)
        expect(container[opaque]?.x, equals: 1)
        expect(container[count], equals: 1)
        container.observe({ _ in ratio }) { _ in told.add("ratio") }
        container.observe({ _ in opaque }) { _ in told.add("opaque") }
        container.observe({ _ in count }) { told.add("count \($0)") }
        try container.reload()
        expect(told.all.isEmpty)
        source.change(to: ["ratio": .double(.nan), "opaque": ["x": 2], "count": 2])
        try container.reload()
        expect(told.all.sorted(), equals: ["count 2", "opaque"])
        expect(container[opaque]?.x, equals: 2)
        expect(container[count], equals: 2)
        container[count] = 5
        try container.reload()
        expect(container[count], equals: 5)
        container.reset { _ in count }
        expect(container[count], equals: 2)
    }
}

/// Values that are types of several members (law 16).
struct NameInStructTests {
    private enum Kind: CustomStringConvertible {
        case fast, slow
        var description: String { "the fast kind" }
    }

    @propertyWrapper struct Clamped {
        var wrappedValue: Int
    }

    private struct Settings {
        var kind = Kind.slow
        @Clamped var size = 3
        var _private = 4
    }

    @Test(
        "An enumeration is the name of its case whatever it says of itself, a wrapped property what it holds (law 16)")
    func values() throws {
        let container = Container()
        try container.apply(StructSource(reflecting: Settings()))
        try expect(container.property("kind", as: String.self), equals: "slow")
        try expect(container.property("size", as: Int.self), equals: 3)
        try expect(container.property("_private", as: Int.self), equals: 4)
    }
}

/// Deep documents need no deep stack (law 20).
struct ProportionOfDepthTests {
    private indirect enum Nest: Decodable, Sendable {
        case list([Nest])
        init(from decoder: any Decoder) throws { self = .list(try [Nest](from: decoder)) }
    }

    @Test("The deepest documents are read, explained and put in words on a stack of 256 KB (law 20)")
    func small() async throws {
        let text = "a = " + String(repeating: "[", count: 511) + String(repeating: "]", count: 511)
        let tables = "a = " + String(repeating: "{b=", count: 500) + "1" + String(repeating: "}", count: 500)
        let result = try await finishing(stackSize: 256 << 10) {
            do {
                for text in [text, tables] {
                    let container = Container()
                    try container.apply(TOMLSource(text: text, name: "x"))
                    _ = container.explain { _ in PropertyKey<PropertyValue?>("a") }.description
                    guard let value = try container.property("a", as: PropertyValue.self) else { return "nothing" }
                    try container.apply(DictionarySource(["b": value], name: "y"))
                    guard value.description.utf8.count > 1000 else { return "no words" }
                }
                let json = "{\"a\":" + text.dropFirst(4) + "}"
                try Container().apply(JSONSource(text: json, name: "z"))
                return "read"
            } catch {
                return "\(error)"
            }
        }
        expect(result, equals: "read")
    }

    @Test("A type that decodes itself deeper than 100 levels is refused, on a stack of 512 KB (law 20)")
    func decoding() async throws {
        let text = "a = " + String(repeating: "[", count: 511) + String(repeating: "]", count: 511)
        let result = try await finishing(stackSize: 512 << 10) {
            do {
                let container = Container()
                try container.apply(TOMLSource(text: text, name: "x"))
                return try container.property("a", as: Nest.self) == nil ? "nothing" : "read"
            } catch {
                return "\(error)"
            }
        }
        expect(result.hasSuffix("expected at most 100 nested levels, found array"), "\(result)")
    }
}

extension ContainerKeys {
    fileprivate var port: PropertyKey<Int> { .init("port", defaultValue: 80) }
    fileprivate var isVerbose: PropertyKey<Bool> { .init("verbose", defaultValue: false) }
    fileprivate var tags: PropertyKey<[String]> { .init("tags", defaultValue: []) }
    fileprivate var token: PropertyKey<String?> { .init("others.token", isSecret: true) }
    fileprivate var serviceHost: PropertyKey<String> { .required("service.host") }
}

/// Names that a source leaves to others (law 16).
struct NameOfOthersTests {
    /// What Kubernetes gives to a service beside one called `komodo`.
    private let links = [
        "KOMODO_SERVICE_HOST": "10.0.0.1", "KOMODO_SERVICE_PORT": "80", "KOMODO_PORT": "tcp://10.0.0.1:80",
        "KOMODO_PORT_80_TCP": "tcp://10.0.0.1:80", "KOMODO_PORT_80_TCP_PROTO": "tcp",
        "KOMODO_PORT_80_TCP_PORT": "80", "KOMODO_PORT_80_TCP_ADDR": "10.0.0.1",
    ]

    @Test(
        "A source of any kind gives no values under names that it ignores, and validate reports none of them (law 16)")
    func serviceLinks() throws {
        // A source gives no values under names that it ignores, and validate reports none of them.
        do {
            let container = Container()
            try container.apply(DictionarySource(["port": 8080], name: "base"))
            try container.apply(
                EnvironmentSource(prefix: "KOMODO", environment: links).ignoringNames("port", "port.*", "SERVICE_*"))
            try container.validate(\.port)
            #expect(container.port == 8080 && container.explain(\.port).hidden.isEmpty)
            let all = Container()
            try all.apply(EnvironmentSource(prefix: "KOMODO", environment: links))
            let lines = thrown { try all.validate(\.port) }.split(separator: "\n")
            expect(lines.count == 2 && lines[1].contains(#"ignoringNames("port.*", "service.*")"#), "\(lines)")
        }
        // Every kind of source ignores names.
        do {
            let sources: [any PropertySource] = [
                DotEnvSource(text: "APP_VENDOR_KEY=1\nAPP_PORT=1", name: ".env", prefix: "APP")
                    .ignoringNames("vendor.*", "port"),
                ArgumentsSource(["--vendor-key=1", "--port", "1"]).ignoringNames("vendor*", "port"),
                TOMLSource(text: "port = 1\n[vendor]\nkey = 1", name: "a").ignoringNames("vendor", "port"),
                JSONSource(text: #"{"vendor.key": 1, "port": 1}"#, name: "b").ignoringNames("Vendor.Key", "port"),
                DictionarySource(["vendor": ["key": 1], "port": 1], name: "c").ignoringNames("vendor.*", "port"),
                TOMLSource(text: "[a]\nvendor.key = 1\nport = 1", name: "d").scoped(to: "a").ignoringNames(
                    "vendor", "port"),
            ]
            for source in sources {
                let container = Container()
                try container.apply(source)
                expect(thrown { try container.validate(\.port) }, equals: "nothing", "\(source)")
                #expect(container.port == 80, "\(source)")
            }
        }
    }

    @Test(
        "An ignored name isn't advised for a missing value, and a name that no pattern matches is still unknown (law 16)"
    )
    func advice() throws {
        // An ignored name isn't advised for a missing value.
        do {
            let container = Container()
            try container.apply(EnvironmentSource(prefix: "KOMODO", environment: [:]).ignoringNames("service.*"))
            let text = thrown { try container.validate(\.serviceHost) }
            #expect(
                !text.contains("KOMODO_SERVICE_HOST") && text.hasPrefix("service.host: a value is required"), "\(text)")
        }
        // A name that no pattern matches is still unknown, and patterns match whole names.
        do {
            let container = Container()
            try container.apply(
                TOMLSource(text: "ports = 1\nvendors.key = 1", name: "a").ignoringNames("port", "vendor"))
            expect(thrown { try container.validate(\.isVerbose) }.split(separator: "\n").count, equals: 2)
        }
    }

    // MARK: Words that were meant as arguments

    @Test(
        "A word that was meant as an argument is reported (law 16)",
        arguments: [
            (["–port", "1"], "argument –port: an argument begins with --; did you mean --port?"),
            (["—port=1"], "argument —port: an argument begins with --; did you mean --port?"),
            (["-port", "1"], "argument -port: an argument begins with --; did you mean --port?"),
            (["-prot=1"], "argument -prot: an argument begins with --; did you mean --port?"),
            (["port=1"], "argument port: an argument begins with --; did you mean --port?"),
            (["PORT=1"], "argument PORT: an argument begins with --; did you mean --port?"),
            (["–quick"], "argument –quick: an argument begins with --"),
            (["--verbose=true", "-port", "1"], "argument -port: an argument begins with --; did you mean --port?"),
            (["--tags", "a", "-port", "-v"], "argument -port: an argument begins with --; did you mean --port?"),
            (["--port", "1", "verbose=true"], "argument verbose: an argument begins with --; did you mean --verbose?"),
            (["--others.token", "x", "-port"], "argument -port: an argument begins with --; did you mean --port?"),
        ] as [([String], String)])
    func meantAsArguments(words: [String], expected: String) throws {
        let container = Container()
        try container.apply(ArgumentsSource(words))
        let text = thrown { try container.validate(\.port, \.isVerbose, \.tags, \.token) }
        expect(text, equals: expected)
    }

    @Test("A word behind a flag that is a name behind one dash is reported, and an ignored word is no mistake (law 16)")
    func swallowed() throws {
        // A word behind a flag that is a name behind one dash is reported.
        do {
            let container = Container()
            try container.apply(ArgumentsSource(["--verbose", "-port", "1"]))
            let text = thrown { try container.validate(\.port, \.isVerbose) }
            expect(text, equals: "argument -port: an argument begins with --; did you mean --port?")
            expect(container.isVerbose)
        }
        // An ignored word is no mistake.
        do {
            let container = Container()
            try container.apply(ArgumentsSource(["-port", "1", "–quick"]).ignoringNames("port", "quick"))
            expect(thrown { try container.validate(\.port) }, equals: "nothing")
        }
    }

    @Test(
        "A word after a flag isn't its value, whatever it is in a variable (law 16)",
        arguments: [
            ["--verbose=true", "file"], ["file", "--verbose"], ["--verbose", "--", "file"], ["--verbose", "file"],
        ])
    func options(words: [String]) throws {
        let container = Container()
        try container.apply(ArgumentsSource(words))
        try container.validate(\.isVerbose)
        #expect(container.isVerbose)
        let variable = Container()
        try variable.apply(EnvironmentSource(environment: ["VERBOSE": "file"]))
        let text = thrown { try variable.validate(\.isVerbose) }
        #expect(text.hasSuffix(": verbose: expected Bool (true or false), found text \"file\""))
    }

    @Test(
        "Words of others and values are left alone (law 16)",
        arguments: [
            ["serve", "file.txt", "-v", "-5", "-Xcc", "x=y"], ["--tags", "a", "port=1", "b"], ["--tags", "port=1"],
            ["--others.token", "–porto"], ["--others.token", "a", "-prot"], ["--others.token=-port"],
            ["--", "-port", "1"],
        ])
    func othersWords(words: [String]) throws {
        let container = Container()
        try container.apply(ArgumentsSource(words))
        expect(thrown { try container.validate(\.port, \.isVerbose, \.tags, \.token) }, equals: "nothing")
    }
}
