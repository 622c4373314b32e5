import Dispatch
import Foundation
import Fugu
import FuguConfiguration

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

func applySources(to container: Container, arguments: [String]) throws {
    try container.apply(TOMLSource(path: "app.toml", isOptional: true))
    try container.apply(DotEnvSource(path: ".env", prefix: "APP", isOptional: true))
    try container.apply(EnvironmentSource(prefix: "APP").ignoringEmptyTexts())
    try container.apply(FolderSource(path: "/run/secrets", isOptional: true))
    try container.apply(ArgumentsSource(arguments))
}

func applyEnvironment(to container: Container) throws {
    // SHOP_PORT=tcp://10.0.0.1:80, SHOP_PORT_80_TCP_ADDR, SHOP_SERVICE_HOST, …
    try container.apply(EnvironmentSource(prefix: "SHOP").ignoringNames("port", "port.*", "service.*"))
}

func configure(_ container: Container, arguments: [String]) throws {
    declareSettings(in: container)
    if arguments.contains("--help") {
        print(container.reference(prefix: "APP").helpText)
        exit(0)
    }
    try applySources(to: container, arguments: arguments)
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

nonisolated struct PoolLimits: Decodable {
    var size: Int
    var idle: Int
}

extension ContainerKeys {
    var poolLimits: PropertyKey<PoolLimits?> { .init("pool", form: .merged) }
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
