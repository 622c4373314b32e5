import Foundation
import Testing

@testable import FuguConfiguration

@Suite struct EnvironmentSourceTests {
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

    @Test("Text of the environment is parsed to the type that is asked for")
    func types() throws {
        #expect(try read("api.base_url", as: URL.self)?.absoluteString == "https://x.org")
        #expect(try read("api.base-url", as: String.self) == "https://x.org")
        #expect(try read("port", as: Int.self) == 8080)
        #expect(try read("port", as: UInt16?.self) == 8080)
        #expect(try read("port", as: String.self) == "8080")
        #expect(try read("port", as: Double.self) == 8080)
        #expect(try read("debug", as: Bool.self) == true)
        #expect(try read("tags", as: [String].self) == ["a", "b", "c"])
        #expect(try read("tags", as: Set<String>.self) == ["a", "b", "c"])
        #expect(try read("port", as: [Int].self) == [8080])
        #expect(try read("empty", as: [String].self) == [])
        #expect(try read("empty", as: String.self) == "")
        #expect(try read("timeout", as: Duration.self) == .seconds(90))
        #expect(try read("rate", as: Decimal.self) == Decimal(string: "0.5"))
        #expect(try read("none", as: Int.self) == nil)
        #expect(try read("api", as: String.self) == nil)
    }

    @Test("Text that does not fit is refused with the variable and the name")
    func errors() throws {
        let place = "environment variable APP_FLAG: flag: "
        let flag = #expect(throws: PropertyError.self) { try read("flag", as: Bool.self) }
        #expect(flag?.description == place + "expected Bool (true or false), found text \"1\"")
        let list = #expect(throws: PropertyError.self) { try read("numbers", as: [Int].self) }
        #expect(list?.description == "environment variable APP_NUMBERS: numbers[1]: expected Int, found text \"x\"")
        let empty = #expect(throws: PropertyError.self) { try read("empty", as: Int.self) }
        #expect(empty?.reason == "expected Int, found text \"\"")
        let nested = #expect(throws: PropertyError.self) { try read("tags", as: [[String]].self) }
        #expect(nested?.reason == "expected array, found text \"a\"")
        let table = #expect(throws: PropertyError.self) { try read("tags", as: [String: String].self) }
        #expect(table?.reason == "expected table, found text \"a, b,c\"")
    }

    @Test("Without a prefix the plain name in capitals is meant, and the process has an environment")
    func plain() throws {
        let plain = try EnvironmentSource(environment: ["PORT": "1"]).load()
        #expect(try plain.value(named: "port")?.decode(Int.self) == 1)
        #expect(EnvironmentSource.current["PATH"] == ProcessInfo.processInfo.environment["PATH"])
        #expect(plain.unknownNames(known: []).isEmpty)
    }
}

@Suite struct ArgumentsSourceTests {
    private func read<Value: Decodable>(_ name: String, _ arguments: [String], as type: Value.Type) throws -> Value? {
        try ArgumentsSource(arguments).load().value(named: name)?.decode(type)
    }

    @Test(
        "All spellings of a name are one",
        arguments: ["--api-base-url", "--api.base_url", "--api_base_url", "--api.base-url"])
    func spellings(option: String) throws {
        #expect(try read("api.base_url", ["program", option, "v"], as: String.self) == "v")
        #expect(try read("api.base_url", ["program", option + "=v=w"], as: String.self) == "v=w")
    }

    @Test("A bare flag is true, a value may begin with a dash, and two dashes end the arguments")
    func flags() throws {
        let arguments = ["program", "file", "--verbose", "--level", "-5", "--dry-run", "--", "--port", "1"]
        #expect(try read("verbose", arguments, as: Bool.self) == true)
        #expect(try read("level", arguments, as: Int.self) == -5)
        #expect(try read("dry.run", arguments, as: Bool.self) == true)
        #expect(try read("port", arguments, as: Int.self) == nil)
        #expect(try read("file", arguments, as: String.self) == nil)
        #expect(try read("a", ["--a="], as: String.self) == "")
        #expect(try read("a", ["--a=false", "x"], as: Bool.self) == false)
        #expect(try read("a", ["--a"], as: Bool.self) == true)
    }

    @Test("An argument given several times is an array and nothing else")
    func repeated() throws {
        let arguments = ["--tag", "a", "--tag=b,c"]
        #expect(try read("tag", arguments, as: [String].self) == ["a", "b,c"])
        #expect(try read("tag", ["--tag", "a,b"], as: [String].self) == ["a", "b"])
        let error = #expect(throws: PropertyError.self) { try read("tag", arguments, as: String.self) }
        #expect(
            error?.description
                == "argument --tag: tag: expected String, found 2 values, because the argument occurs 2 times")
    }

    @Test("An argument without a name is refused, and unknown ones are reported with the nearest known name")
    func mistakes() throws {
        let error = #expect(throws: PropertyError.self) { try ArgumentsSource(["--=1"]).load() }
        #expect(error?.description == "arguments: an argument that begins with --= has no name")
        let wrong = #expect(throws: PropertyError.self) { try read("port", ["--port", "x"], as: Int.self) }
        #expect(wrong?.description == "argument --port: port: expected Int, found text \"x\"")
        let unknown = try ArgumentsSource(["--api-tiemout", "1", "--zzz", "--log.level=x"]).load()
            .unknownNames(known: ["api.timeout", "log.level"])
        #expect(
            unknown.map(\.description) == [
                "argument --api-tiemout: unknown name; did you mean --api-timeout?", "argument --zzz: unknown name",
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
        #expect(try snapshot.value(named: "api.port")?.decode(Int.self) == 80)
        #expect(snapshot.value(named: "api.port")?.origin.description == "vault")
        #expect(snapshot.value(named: "api.host") == nil)
        let values = try PropertySnapshot(["a": ["b": "80"]], source: "values")
        let error = #expect(throws: PropertyError.self) { try values.value(named: "a.b")?.decode(Int.self) }
        #expect(error?.description == "values: a.b: expected Int, found string \"80\"")
    }

    @Test("Values nested deeper than 512 levels are refused")
    func deep() {
        var value: PropertyValue = 1
        for _ in 0..<513 { value = [value] }
        let error = #expect(throws: PropertyError.self) { try DictionarySource(["a": value], name: "x").load() }
        #expect(error?.description == "x: nested deeper than 512 levels")
    }

    @Test("Errors print together, one line each, and what is unknown is left out")
    func errors() {
        let errors = PropertyErrors([
            PropertyError(
                expected: "Int", found: "string \"abc\"", source: "/srv/app/config.toml", line: 12, column: 9,
                name: "api.timeout"),
            PropertyError("is wrong"), PropertyError("is wrong", name: "a"), PropertyError("is wrong", source: "s"),
        ])
        #expect(
            errors.description
                == "/srv/app/config.toml:12:9: api.timeout: expected Int, found string \"abc\"\n"
                + "is wrong\na: is wrong\ns: is wrong"
        )
    }
}
