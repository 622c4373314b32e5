import Fugu
import FuguConfiguration

enum LogLevel: String, Decodable, Sendable, CaseIterable {
    case debug, info, warning, error
}

extension ContainerKeys {
    var host: PropertyKey<String> {
        .init("server.host", defaultValue: "localhost", help: "The name or address to listen on.")
    }
    var port: PropertyKey<UInt16> {
        .init("server.port", defaultValue: UInt16(8080), help: "The port to listen on.")
    }
    var timeout: PropertyKey<Duration> {
        .init("server.timeout", defaultValue: Duration.seconds(30), help: "How long a request may take.")
    }
    var origins: PropertyKey<[String]> { .init("server.origins", defaultValue: [String]()) }
    var logLevel: PropertyKey<LogLevel> { .init("log.level", defaultValue: LogLevel.info) }
    var password: PropertyKey<String?> { .init("database.password", isSecret: true) }
}

/// A key can be a type, too.
struct PoolSize: NamedProperty {
    static let name = "database.pool-size"
    static let help: String? = "How many connections are kept open."
    static var defaultValue: Int { 4 }
}

/// The values that this program reads from outside.
enum Settings {
    /// Declares all keys before any source is applied.
    static func declare(in container: Container) {
        container.declare(\.host, \.port, \.timeout, \.origins, \.logLevel, properties: PoolSize.self)
        container.declare(\.password)
    }
}
