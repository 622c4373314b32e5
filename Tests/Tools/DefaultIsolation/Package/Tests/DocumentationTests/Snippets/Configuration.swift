import Dispatch
import Foundation
import Fugu
import FuguConfiguration
import FuguTesting
import Testing

extension ContainerKeys {
    var port: PropertyKey<Int> { .init("server.port", defaultValue: 8080) }
    var password: PropertyKey<String?> { .init("database.password", isSecret: true) }
}

extension ContainerKeys {
    var databaseURL: PropertyKey<String> { .required("database.url", isSecret: true, help: "Where the database is.") }
    var workers: PropertyKey<Int> { .init("workers", defaultValue: 4, form: .range(1...64)) }
    var timeLimit: PropertyKey<Duration> { .init("server.timeout", defaultValue: .seconds(30)) }
    var maxBody: PropertyKey<ByteSize?> { .init("server.maxBody", help: "How long a body may be.") }
    var tags: PropertyKey<[String]> { .init("tags", defaultValue: [], form: .separated(by: ";")) }
    var certificate: PropertyKey<String?> { .init("tls.certificate") }
    var privateKey: PropertyKey<String?> { .init("tls.key", isSecret: true) }
}

nonisolated struct ByteSize: TextDecodable {
    let bytes: Int
    static let textForm = "a size, such as 512KB or 20MB"

    init?(text: String) {
        guard let number = UInt32(text.dropLast(2)), text.hasSuffix("KB") || text.hasSuffix("MB") else { return nil }
        bytes = Int(number) * (text.hasSuffix("MB") ? 1_000_000 : 1_000)
    }
}

func declareSettings(in container: Container) {
    container.declare(\.databaseURL, \.workers, \.timeLimit, \.maxBody, \.tags, \.certificate, \.privateKey)
    container.declareCheck(of: \.certificate, "needs tls.key") { $0.certificate == nil || $0.privateKey != nil }
}

func applySources(to container: Container, arguments: [String], variables: [String: String]) throws {
    try container.apply(TOMLSource(path: "app.toml", isOptional: true))
    try container.apply(DotEnvSource(path: ".env", prefix: "APP", isOptional: true))
    try container.apply(EnvironmentSource(prefix: "APP", environment: variables).ignoringEmptyTexts())
    // In Kubernetes, the pod's own token lies in the same folder.
    try container.apply(FolderSource(path: "/run/secrets", isOptional: true).ignoringNames("kubernetes.*"))
    try container.apply(ArgumentsSource(arguments))
}

func configure(
    _ container: Container, arguments: [String] = CommandLine.arguments,
    variables: [String: String] = EnvironmentSource.current
) throws {
    declareSettings(in: container)
    if arguments.contains("--help") {
        print(container.reference(prefix: "APP").helpText)
        exit(0)
    }
    try applySources(to: container, arguments: arguments, variables: variables)
    try container.validate()
}

struct TransportSecurity: Feature {
    let certificate: String?
    let key: String?
    static var reloadsWhenInputsChange: Bool { true }

    static func load(in container: any FeatureContainer) -> TransportSecurity {
        container.snapshot { TransportSecurity(certificate: $0.certificate, key: $0.privateKey) }
    }
}

struct ConnectionLimits {
    let size: Int

    init(settings: any PropertyReader) throws {
        size = try settings.property("size") ?? 10
    }
}

func followChanges(of container: Container) async {
    signal(SIGHUP, SIG_IGN)
    let hangUps = DispatchSource.makeSignalSource(signal: SIGHUP, queue: .global())
    hangUps.setEventHandler { @Sendable in
        do { try container.reload() } catch { print(error) }
    }
    hangUps.activate()
    await container.reload(every: .seconds(5))
    hangUps.cancel()
}

extension Snippets {
    @Test("Configuration, law 15: the latest source comes first, before it what code sets")
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

    @Test("Configuration, law 16: everything that is wrong is reported at once")
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

    @Test("Configuration, law 15: where a value comes from, and what it hides")
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
        #expect(throws: (any Error).self) { try configure(container, arguments: [], variables: [:]) }
    }
}

struct OtherSettingsTests {
    @Test(.container { $0.workers = 1 })
    func oneWorker() throws {
        try Container.current.apply(DictionarySource(["workers": 8], name: "test"))
        #expect(Container.current.workers == 1)
    }

    @Test(.container) func workersFromVariable() throws {
        let container = Container.current
        try configure(container, arguments: [], variables: ["APP_DATABASE_URL": "postgres://db", "APP_WORKERS": "16"])
        #expect(container.workers == 16)
    }
}
