import Fugu
import FuguConfiguration

enum LogLevel: String, Decodable, Sendable, CaseIterable {
    case debug, info, warning, error
}

extension Properties {
    static let host = PropertyKey("server.host", defaultValue: "localhost")
    static let port = PropertyKey("server.port", defaultValue: UInt16(8080))
    static let timeout = PropertyKey("server.timeout", defaultValue: Duration.seconds(30))
    static let origins = PropertyKey("server.origins", defaultValue: [String]())
    static let logLevel = PropertyKey("log.level", defaultValue: LogLevel.info)
    static let password = PropertyKey<String?>("database.password", isSecret: true)
}

/// A type is as good a key.
struct PoolSize: NamedProperty {
    static let name = "database.pool-size"
    static var defaultValue: Int { 4 }
}

/// All that this program can be told from outside.
enum Settings {
    /// Makes all keys known before any source is read.
    static func declare(in container: Container) {
        container.declare(
            Properties.host, Properties.port, Properties.timeout, Properties.origins, Properties.logLevel,
            Properties.password, properties: PoolSize.self)
    }
}
