import Fugu
import FuguConfiguration
import Support
import Testing

extension ContainerKeys {
    fileprivate var port: PropertyKey<Int> { .init("port", defaultValue: 80) }
    fileprivate var isVerbose: PropertyKey<Bool> { .init("verbose", defaultValue: false) }
    fileprivate var tags: PropertyKey<[String]> { .init("tags", defaultValue: []) }
    fileprivate var token: PropertyKey<String?> { .init("others.token", isSecret: true) }
    fileprivate var serviceHost: PropertyKey<String> { .required("service.host") }
}

private func problems(_ body: () throws -> Void) -> String {
    do {
        try body()
        return ""
    } catch {
        return "\(error)"
    }
}

/// Names that a source leaves to others.
struct Law25NamesOfOthersTests {
    /// What Kubernetes gives to a service beside one called `komodo`.
    private let links = [
        "KOMODO_SERVICE_HOST": "10.0.0.1", "KOMODO_SERVICE_PORT": "80", "KOMODO_PORT": "tcp://10.0.0.1:80",
        "KOMODO_PORT_80_TCP": "tcp://10.0.0.1:80", "KOMODO_PORT_80_TCP_PROTO": "tcp",
        "KOMODO_PORT_80_TCP_PORT": "80", "KOMODO_PORT_80_TCP_ADDR": "10.0.0.1",
    ]

    @Test("A source gives no values under names that it ignores, and validate reports none of them (law 25)")
    func serviceLinks() throws {
        let container = Container()
        try container.apply(DictionarySource(["port": 8080], name: "base"))
        try container.apply(
            EnvironmentSource(prefix: "KOMODO", environment: links).ignoringNames("port", "port.*", "SERVICE_*"))
        try container.validate(\.port)
        #expect(container.port == 8080 && container.explain(\.port).hidden.isEmpty)
        let all = Container()
        try all.apply(EnvironmentSource(prefix: "KOMODO", environment: links))
        expect(problems { try all.validate(\.port) }.split(separator: "\n").count, equals: 7)
    }

    @Test("Every kind of source ignores names (law 25)")
    func allSources() throws {
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
            #expect(problems { try container.validate(\.port) } == "", "\(source)")
            #expect(container.port == 80, "\(source)")
        }
    }

    @Test("An ignored name isn't advised for a missing value (law 25)")
    func advice() throws {
        let container = Container()
        try container.apply(EnvironmentSource(prefix: "KOMODO", environment: [:]).ignoringNames("service.*"))
        let text = problems { try container.validate(\.serviceHost) }
        #expect(!text.contains("KOMODO_SERVICE_HOST") && text.hasPrefix("service.host: a value is required"), "\(text)")
    }

    @Test("A name that no pattern matches is still unknown, and patterns match whole names (law 25)")
    func others() throws {
        let container = Container()
        try container.apply(TOMLSource(text: "ports = 1\nvendors.key = 1", name: "a").ignoringNames("port", "vendor"))
        expect(problems { try container.validate(\.isVerbose) }.split(separator: "\n").count, equals: 2)
    }

    // MARK: Words that were meant as arguments

    @Test(
        "A word that was meant as an argument is reported (law 25)",
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
        let text = problems { try container.validate(\.port, \.isVerbose, \.tags, \.token) }
        expect(text, equals: expected)
    }

    @Test("A value that is a name behind one dash is reported beside its own error (law 25)")
    func swallowed() throws {
        let container = Container()
        try container.apply(ArgumentsSource(["--verbose", "-port", "1"]))
        let text = problems { try container.validate(\.port, \.isVerbose) }
        #expect(
            text == """
                argument --verbose: verbose: expected Bool (true or false), found text "-port"
                argument -port: an argument begins with --; did you mean --port?
                """)
    }

    @Test(
        "Words of others and values are left alone (law 25)",
        arguments: [
            ["serve", "file.txt", "-v", "-5", "-Xcc", "x=y"], ["--tags", "a", "port=1", "b"], ["--tags", "port=1"],
            ["--others.token", "–porto"], ["--others.token", "a", "-prot"], ["--others.token=-port"],
            ["--", "-port", "1"],
        ])
    func othersWords(words: [String]) throws {
        let container = Container()
        try container.apply(ArgumentsSource(words))
        expect(problems { try container.validate(\.port, \.isVerbose, \.tags, \.token) }, equals: "")
    }

    @Test("An ignored word is no mistake (law 25)")
    func ignoredWords() throws {
        let container = Container()
        try container.apply(ArgumentsSource(["-port", "1", "–quick"]).ignoringNames("port", "quick"))
        expect(problems { try container.validate(\.port) }, equals: "")
    }
}
