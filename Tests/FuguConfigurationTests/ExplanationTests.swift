import Fugu
import FuguConfiguration
import FuguInspection
import Support
import Testing

extension ContainerKeys {
    fileprivate var timeout: PropertyKey<Int> { .init("api.timeout", defaultValue: 30) }
    fileprivate var host: PropertyKey<String?> { .init("api.host") }
    fileprivate var plain: PropertyKey<String> { .init(defaultValue: "a\"b") }
}

extension ContainerKeys {
    fileprivate var limitKey: PropertyKey<Double> { .init("api.limit", defaultValue: 1.5) }
}

@Suite struct ExplanationTests {
    static let cases: [Case<ExplanationTests>] = [
        Case("Text of the environment is shown as what it was read as", read),
        Case("A wrong value is shown as such, with the default that is read instead", wrong),
        Case("Keys without a name are shown as messages call them", unnamed),
        Case(
            "What was made from it stands last, with its container; a list of all declared keys leaves it out", readers),
        Case("The core explains the same keys where sources are of no interest", sentences),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<ExplanationTests>) async throws { try await stated.run(self) }

    private let container = Container()

    @Test("The winner stands first with its place, then what it hides in the order in which it would count")
    func layers() throws {
        try container.apply(TOMLSource(text: "[api]\ntimeout = 1\nhost = 'a'", name: "/srv/base.toml"))
        try container.apply(JSONSource(text: "{\n  \"api\": {\"timeout\": 2}\n}", name: "/srv/local.json"))
        try container.apply(EnvironmentSource(prefix: "APP", environment: ["APP_API_TIMEOUT": "3"]))
        let child = container.child()
        try child.apply(ArgumentsSource(["--api-timeout", "4"]))
        child.timeout = 5
        let explanation = child.explain(\.timeout)
        expect(
            "\(explanation)",
            equals: """
                api.timeout = 5 (set by code)
                  hides "4" (argument --api-timeout)
                  hides "3" (environment variable APP_API_TIMEOUT)
                  hides 2 (/srv/local.json:2:22)
                  hides 1 (/srv/base.toml:2:11)
                """)
        expect(explanation.winner.origin, equals: .code)
        expect(explanation.hidden.count, equals: 4)
        expect(explanation.mistake == nil)
        expect("\(child.explain(\.host))", equals: "api.host = \"a\" (/srv/base.toml:3:8)")
        let origin = PropertyOrigin(source: "/srv/base.toml", line: 3, column: 8)
        expect(child.explain(\.host).winner.origin, equals: .source(origin))
    }

    func read() throws {
        try container.apply(EnvironmentSource(environment: ["API_LIMIT": "2"]))
        expect("\(container.explain(\.limitKey))", equals: "api.limit = 2.0 (environment variable API_LIMIT)")
    }

    func wrong() throws {
        _ = container.reports()
        try container.apply(TOMLSource(text: "api.timeout = 1", name: "base"))
        try container.apply(TOMLSource(text: "api.timeout = 'x'", name: "local"))
        expect(
            "\(container.explain(\.timeout))",
            equals: """
                api.timeout = 30 (default)
                  wrong: local:1:15: api.timeout: expected Int, found string "x"
                  hides 1 (base:1:15)
                """)
    }

    func unnamed() {
        let number = PropertyKey<Int?>(defaultValue: 5, id: "number")
        expect("\(container.explain(number))".hasSuffix(" = 5 (default)"))
        container[number] = nil
        expect("\(container.explain(number))".hasSuffix(" = nil (set by code)"))
        expect("\(container.explain(\.limitKey))", equals: "api.limit = 1.5 (default)")
        expect("\(container.explain(\.plain))", equals: #"\.plain = "a\"b" (default)"#)
    }

    private struct Client: Feature {
        static func load(in container: any FeatureContainer) -> Client {
            _ = (container.timeout, container.limitKey)
            return Client()
        }
    }

    func readers() throws {
        try container.apply(DictionarySource(["api": ["timeout": 2]], name: "base"))
        let child = container.child { $0.limitKey = 2 }
        _ = (container[Client.self], child[Client.self])
        expect(container.explain(\.timeout).readers, equals: ["Client", "Client (container 1)"])
        expect(
            "\(child.explain(\.limitKey))",
            equals: """
                api.limit = 2.0 (set by code)
                  read by Client (container 1)
                """)
        expect(container.explain().allSatisfy { $0.readers.isEmpty })
        expect(container.graph.entries.first { $0.name == #"\.timeout"# }?.state, equals: .supplied)
    }

    func sentences() throws {
        try container.apply(DictionarySource(["api": ["timeout": 2]], name: "base"))
        _ = container.timeout
        let graph = container.graph(includingValues: true)
        expect(
            graph.explanation(of: "c0_timeout"),
            equals: [
                #"\.timeout is 2, supplied by the sources of the root."#, "Nothing was loaded from it.",
            ])
    }
}
