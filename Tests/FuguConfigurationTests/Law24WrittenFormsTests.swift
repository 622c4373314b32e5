import Fugu
import FuguConfiguration
import Support
import Testing

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

/// What people write in variables and `.env` files, as they write it.
struct Law24WrittenFormsTests {
    private func value(of line: String) throws -> String? {
        try DotEnvSource(text: line, name: ".env").load().property("color", as: String.self)
    }

    @Test(
        "A comment in a .env file begins at a # after a blank, and nowhere else (law 24)",
        arguments: [
            ("COLOR=#FF0000", "#FF0000"), ("COLOR=#FF0000 # red", "#FF0000"), ("COLOR=pass#word", "pass#word"),
            ("COLOR= # nothing", ""), ("COLOR=", ""), ("COLOR=a #b", "a"), ("COLOR=a\t# b", "a"), ("COLOR=##", "##"),
            ("COLOR='a' # b", "a"), ("#COLOR=b\nCOLOR=a", "a"),
        ])
    func comments(line: String, expected: String) throws {
        try expect(value(of: line), equals: expected)
    }

    @Test("What follows a quoted value in a .env file without a blank is an error, not a comment (law 25)")
    func afterQuotes() {
        let error = #expect(throws: PropertyError.self) { try value(of: "COLOR='a'#b") }
        #expect(
            error?.description
                == ".env:1:10: expected the end of the line, found \"#\"; a comment begins after a blank")
    }

    @Test(
        "Backticks in a .env file are quotes without escapes, over several lines, too (law 24)",
        arguments: [
            ("COLOR=`it's \"so\"`", "it's \"so\""), ("COLOR=`a\\n # b`", "a\\n # b"), ("COLOR=`a\nb`  # c", "a\nb"),
        ])
    func backticks(line: String, expected: String) throws {
        try expect(value(of: line), equals: expected)
    }

    @Test("A string in backticks that isn't closed is an error at its beginning (law 25)")
    func openBacktick() {
        let error = #expect(throws: PropertyError.self) { try value(of: "A=1\nCOLOR=`a\nb\n") }
        expect(error?.description, equals: ".env:2:7: the string that begins here isn't closed")
    }

    // MARK: Lists

    @Test("A list in a variable, a .env file, or an argument may be written as JSON (law 24)")
    func jsonLists() throws {
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

    @Test(
        "A JSON list in a text is exact: numbers, lists of tables, none, and a form's separator doesn't matter (law 24)"
    )
    func elements() throws {
        let container = Container()
        try container.apply(
            EnvironmentSource(environment: ["COUNTS": "[1, 2]", "SERVERS": #"[{"host": "a", "port": 1}]"#]))
        #expect(container.counts == [1, 2] && container.servers == [Server(host: "a", port: 1)])
        try container.apply(EnvironmentSource(environment: ["COUNTS": "[]"]))
        expect(container.counts, equals: [])
        try container.apply(EnvironmentSource(environment: ["COUNTS": "1;2"]))
        expect(container.counts, equals: [1, 2])
    }

    @Test(
        "Text between brackets that isn't JSON, and a wrong element, are errors that say how to write a list (law 25)")
    func wrongLists() throws {
        let container = Container()
        try container.apply(EnvironmentSource(environment: ["CORS_ORIGINS": "[a, b]", "COUNTS": #"[1, "2"]"#]))
        let errors = #expect(throws: PropertyErrors.self) { try container.validate(\.corsOrigins, \.counts) }
        #expect(
            errors?.description == """
                environment variable CORS_ORIGINS: cors.origins: expected an array, written a,b or as JSON, ["a","b"], found text "[a, b]"
                environment variable COUNTS: counts[1]: expected Int, found string "2"
                """)
    }

    @Test("An error inside a table of a JSON list quotes no value (law 26)")
    func secretsInLists() throws {
        let container = Container()
        try container.apply(EnvironmentSource(environment: ["SERVERS": #"[{"host": "a", "port": "hunter2"}]"#]))
        let errors = #expect(throws: PropertyErrors.self) { try container.validate(\.servers) }
        #expect(
            errors?.description == "environment variable SERVERS: servers[0].port: expected Int, found string")
    }

    // MARK: Names

    @Test(
        "Where the variable in uppercase is absent, the one that is spelled like the key has the value (law 24)")
    func exactNames() throws {
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

    @Test("A prefix is found as it was given, too, and its unknown names are reported (law 24)")
    func exactPrefix() throws {
        for prefix in ["app", "app_"] {
            let container = Container()
            try container.apply(EnvironmentSource(prefix: prefix, environment: ["app_host": "a", "app_hsot": "b"]))
            expect(container.host, equals: "a")
            let errors = #expect(throws: PropertyErrors.self) { try container.validate(\.host) }
            #expect(
                errors?.description == "environment variable app_hsot: unknown name; did you mean APP_HOST?")
        }
    }

    @Test("A mapped name is found as it's spelled (law 24)")
    func mappedNames() throws {
        let key = PropertyKey<String?>("law24.network.proxy")
        let container = Container()
        let source = EnvironmentSource(environment: ["no_proxy": "a"])
        try container.apply(source.mappingNames { $0 == "law24.network.proxy" ? "no_proxy" : nil })
        expect(container[key], equals: "a")
    }
}
