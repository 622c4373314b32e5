import Fugu
import FuguConfiguration
import FuguTesting
import Testing

extension Snippets {
    @Test("Configuration, law 23: the latest source comes first, before it what code sets")
    func layers() async throws {
        try await run {
            let container = Container()
            try container.apply(TOMLSource(text: "[server]\nport = 80", name: "base.toml"))
            print(container.port)  // 80
            try container.apply(ArgumentsSource(["--server-port", "9000"]))
            print(container.port)  // 9000
            container.port = 1
            container.reset(\.port)
            print(container.port)  // 9000
        }
    }

    @Test("Configuration, law 25: everything that is wrong is reported at once")
    func validated() async throws {
        try await run {
            let container = Container()
            declareSettings(in: container)
            try container.apply(
                TOMLSource(text: "workers = 100\n[server]\ntimeout = 30\nmaxbody = '1MB'", name: "app.toml"))
            do {
                try container.validate()
            } catch {
                let lines = "\(error)".split(separator: "\n")
                print(lines[1])  // app.toml:1:11: workers: expected 1...64, found integer 100
                print(lines[3])  // app.toml:4:1: server.maxbody: unknown name; did you mean server.maxBody?
            }
        }
    }

    @Test("Configuration, law 23: where a value comes from, and what it hides")
    func origins() async throws {
        try await run {
            let container = Container()
            try container.apply(TOMLSource(text: "workers = 8", name: "app.toml"))
            try container.apply(EnvironmentSource(prefix: "APP", environment: ["APP_WORKERS": "16"]))
            print(container.explain(\.workers).winner)  // 16 (environment variable APP_WORKERS)
            print(container.explain(\.workers).hidden[0])  // 8 (app.toml:1:11)
        }
    }

    @Test("Configuration: a feature's pair and a library's limits are read through the handle and a section")
    func used() throws {
        let container = Container()
        try container.apply(TOMLSource(text: "[tls]\ncertificate = 'c'\nkey = 'k'\n[pool]\nsize = 3", name: "app.toml"))
        #expect(container[TransportSecurity.self].key == "k")
        #expect(try ConnectionLimits(settings: container.section("pool")).size == 3)
        #expect(throws: (any Error).self) { try configure(container, arguments: []) }
    }

    @Test("Configuration, law 24: tables are merged where a key asks for it")
    func merged() async throws {
        try await run {
            let container = Container()
            try container.apply(TOMLSource(text: "[pool]\nsize = 10\nidle = 5", name: "base.toml"))
            try container.apply(EnvironmentSource(prefix: "APP", environment: ["APP_POOL_SIZE": "99"]))
            print(container.poolLimits.map { "\($0.size) and \($0.idle)" } ?? "none")  // 99 and 5
        }
    }
}

struct OtherSettingsTests {
    @Test(.container { $0.workers = 1 })
    func oneWorker() throws {
        try Container.current.apply(DictionarySource(["workers": 8], name: "test"))
        #expect(Container.current.workers == 1)
    }
}
