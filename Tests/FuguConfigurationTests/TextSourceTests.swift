import Foundation
import Support
import Testing

@testable import FuguConfiguration

@Suite struct EnvironmentSourceTests {
    static let cases: [Case<EnvironmentSourceTests>] = [
        Case("Text of the environment is parsed to the type that is asked for", types),
        Case("Text that does not fit is refused with the variable and the name", errors),
        Case("Without a prefix the plain name in capitals is meant, and the process has an environment", plain),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<EnvironmentSourceTests>) async throws {
        try await stated.run(self)
    }

    private let snapshot: PropertySnapshot

    init() throws {
        snapshot = try EnvironmentSource(
            prefix: "APP",
            environment: [
                "APP_API_BASE_URL": "https://x.org", "APP_PORT": "8080", "APP_DEBUG": "true", "APP_TAGS": "a, b,c",
                "APP_TIMEOUT": "1.5m", "APP_RATE": "0.5", "APP_EMPTY": "", "APP_FLAG": "1", "PORT": "1",
                "APP_NUMBERS": "1,x",
                "APP_LOG_LEVEL": "fast",
            ]
        ).load()
    }

    private func read<Value: Decodable>(_ name: String, as type: Value.Type) throws -> Value? {
        try snapshot.value(named: name)?.decode(type)
    }

    func types() throws {
        try expect(read("api.base_url", as: URL.self)?.absoluteString, equals: "https://x.org")
        try expect(read("api.base-url", as: String.self), equals: "https://x.org")
        try expect(read("port", as: Int.self), equals: 8080)
        try expect(read("port", as: UInt16?.self), equals: 8080)
        try expect(read("port", as: String.self), equals: "8080")
        try expect(read("port", as: Double.self), equals: 8080)
        try expect(read("debug", as: Bool.self), equals: true)
        try expect(read("tags", as: [String].self), equals: ["a", "b", "c"])
        try expect(read("tags", as: Set<String>.self), equals: ["a", "b", "c"])
        try expect(read("port", as: [Int].self), equals: [8080])
        try expect(read("empty", as: [String].self), equals: [])
        try expect(read("empty", as: String.self), equals: "")
        try expect(read("timeout", as: Duration.self), equals: .seconds(90))
        try expect(read("rate", as: Decimal.self), equals: Decimal(string: "0.5"))
        try expect(read("none", as: Int.self) == nil)
        try expect(read("api", as: String.self) == nil)
    }

    @Test("Errors print together, one line each, and what is unknown is left out")
    func errors() throws {
        let place = "environment variable APP_FLAG: flag: "
        let flag = #expect(throws: PropertyError.self) { try read("flag", as: Bool.self) }
        expect(
            flag?.description,
            equals: place
                + "expected Bool (true or false; a key with form: .anyBoolean takes yes, on, and 1, too), found text \"1\""
        )
        let list = #expect(throws: PropertyError.self) { try read("numbers", as: [Int].self) }
        expect(
            list?.description, equals: "environment variable APP_NUMBERS: numbers[1]: expected Int, found text \"x\"")
        let empty = #expect(throws: PropertyError.self) { try read("empty", as: Int.self) }
        expect(empty?.reason, equals: "expected Int, found text \"\"")
        let nested = #expect(throws: PropertyError.self) { try read("tags", as: [[String]].self) }
        expect(nested?.reason, equals: "expected array, found text \"a\"")
        let table = #expect(throws: PropertyError.self) { try read("tags", as: [String: String].self) }
        expect(table?.reason, equals: "expected table, found text \"a, b,c\"")
    }

    func plain() throws {
        let plain = try EnvironmentSource(environment: ["PORT": "1"]).load()
        try expect(plain.value(named: "port")?.decode(Int.self), equals: 1)
        expect(EnvironmentSource.current["PATH"], equals: ProcessInfo.processInfo.environment["PATH"])
        expect(plain.unknownNames(known: []).isEmpty)
    }
}

@Suite struct ArgumentsSourceTests {
    static let cases: [Case<ArgumentsSourceTests>] = [
        Case("A bare flag is true, a value may begin with a dash, and two dashes end the arguments", flags),
        Case("An argument given several times is an array and nothing else", repeated),
        Case(
            "An argument without a name is refused, and unknown ones are reported with the nearest known name", mistakes
        ),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<ArgumentsSourceTests>) async throws {
        try await stated.run(self)
    }

    private func read<Value: Decodable>(_ name: String, _ arguments: [String], as type: Value.Type) throws -> Value? {
        try ArgumentsSource(arguments).load().value(named: name)?.decode(type)
    }

    @Test(
        "All spellings of a name are one",
        arguments: ["--api-base-url", "--api.base_url", "--api_base_url", "--api.base-url"])
    func spellings(option: String) throws {
        try expect(read("api.base_url", ["program", option, "v"], as: String.self), equals: "v")
        try expect(read("api.base_url", ["program", option + "=v=w"], as: String.self), equals: "v=w")
    }

    func flags() throws {
        let arguments = ["program", "file", "--verbose", "--level", "-5", "--dry-run", "--", "--port", "1"]
        try expect(read("verbose", arguments, as: Bool.self), equals: true)
        try expect(read("level", arguments, as: Int.self), equals: -5)
        try expect(read("dry.run", arguments, as: Bool.self), equals: true)
        try expect(read("port", arguments, as: Int.self) == nil)
        try expect(read("file", arguments, as: String.self) == nil)
        try expect(read("a", ["--a="], as: String.self), equals: "")
        try expect(read("a", ["--a=false", "x"], as: Bool.self), equals: false)
        try expect(read("a", ["--a"], as: Bool.self), equals: true)
    }

    func repeated() throws {
        let arguments = ["--tag", "a", "--tag=b,c"]
        try expect(read("tag", arguments, as: [String].self), equals: ["a", "b,c"])
        try expect(read("tag", ["--tag", "a,b"], as: [String].self), equals: ["a", "b"])
        let error = #expect(throws: PropertyError.self) { try read("tag", arguments, as: String.self) }
        expect(
            error?.description,
            equals: "argument --tag: tag: expected String, found 2 values, because the argument occurs 2 times")
    }

    func mistakes() throws {
        let error = #expect(throws: PropertyError.self) { try ArgumentsSource(["--=1"]).load() }
        expect(error?.description, equals: "arguments: an argument that begins with --= has no name")
        let wrong = #expect(throws: PropertyError.self) { try read("port", ["--port", "x"], as: Int.self) }
        expect(wrong?.description, equals: "argument --port: port: expected Int, found text \"x\"")
        let unknown = try ArgumentsSource(["--api-tiemout", "1", "--zzz", "--log.level=x"]).load()
            .unknownNames(known: ["api.timeout", "log.level"])
        expect(
            unknown.map(\.description),
            equals: [
                "argument --api-tiemout: unknown name; did you mean --api-timeout?",
                "argument --zzz: unknown name\(undeclared)",
            ])
    }
}

@Suite struct OwnSourceTests {
    @Test("A source of one's own gives values or texts")
    func own() throws {
        struct Vault: PropertySource {
            var name: String { "vault" }
            func load() throws(PropertyError) -> PropertySnapshot {
                PropertySnapshot(source: name) { $0 == "api.port" ? "80" : nil }
            }
        }
        let snapshot = try Vault().load()
        try expect(snapshot.value(named: "api.port")?.decode(Int.self), equals: 80)
        expect(snapshot.value(named: "api.port")?.origin.description, equals: "vault")
        expect(snapshot.value(named: "api.host") == nil)
        let values = try PropertySnapshot(["a": ["b": "80"]], source: "values")
        let error = #expect(throws: PropertyError.self) { try values.value(named: "a.b")?.decode(Int.self) }
        expect(error?.description, equals: "values: a.b: expected Int, found string \"80\"")
    }

    @Test("Values nested deeper than 512 levels are refused")
    func deep() {
        var value: PropertyValue = 1
        for _ in 0..<513 { value = [value] }
        let error = #expect(throws: PropertyError.self) { try DictionarySource(["a": value], name: "x").load() }
        expect(error?.description, equals: "x: nested deeper than 512 levels")
    }

    func errors() {
        let errors = PropertyErrors([
            PropertyError(
                expected: "Int", found: "string \"abc\"", source: "/srv/app/config.toml", line: 12, column: 9,
                name: "api.timeout"),
            PropertyError("is wrong"), PropertyError("is wrong", name: "a"), PropertyError("is wrong", source: "s"),
        ])
        expect(
            errors.description,
            equals: "/srv/app/config.toml:12:9: api.timeout: expected Int, found string \"abc\"\n"
                + "is wrong\na: is wrong\ns: is wrong")
    }
}
