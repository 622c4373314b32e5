import Fugu
import FuguConfiguration

enum LogLevel: String, Decodable, Sendable, CaseIterable {
    case debug, info, warning, error
}

enum TLSVersion: String, Decodable, Sendable, CaseIterable {
    case version12 = "1.2"
    case version13 = "1.3"
}

/// A number of bytes, written as in `20MB`.
struct ByteSize: TextDecodable, Encodable, Sendable, CustomStringConvertible {
    let bytes: Int
    static let textForm = "a size, such as 512KB or 20MB"

    init(megabytes: Int) { bytes = megabytes * 1_000_000 }

    init?(text: String) {
        guard let number = UInt32(text.dropLast(2)), text.hasSuffix("KB") || text.hasSuffix("MB") else { return nil }
        bytes = Int(number) * (text.hasSuffix("MB") ? 1_000_000 : 1_000)
    }

    var description: String { bytes.isMultiple(of: 1_000_000) ? "\(bytes / 1_000_000)MB" : "\(bytes / 1_000)KB" }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// How often a client may ask.
struct RateLimit: Codable, Sendable {
    var requests = 100
    var burst = 20
}

/// A server that requests are passed on to.
struct Upstream: Codable, Sendable {
    var name: String
    var url: String
    var weight: Int?
}

// MARK: The server

extension ContainerKeys {
    var host: PropertyKey<String> {
        .init("server.host", defaultValue: "localhost", help: "The name or address to listen on.")
    }
    var port: PropertyKey<UInt16> {
        .init("server.port", defaultValue: 8080, form: .range(1...), help: "The port to listen on.")
    }
    var adminPort: PropertyKey<UInt16?> { .init("server.admin-port", help: "The port for metrics, if they're wanted.") }
    var timeout: PropertyKey<Duration> {
        .init("server.timeout", defaultValue: .seconds(30), help: "How long a request may take.")
    }
    var maxBody: PropertyKey<ByteSize> { .init("server.max-body", defaultValue: ByteSize(megabytes: 1)) }
    var origins: PropertyKey<[String]> { .init("server.origins", defaultValue: []) }
    var trustsProxy: PropertyKey<Bool> { .init("server.trusts-proxy", defaultValue: false, form: .anyBoolean) }
    var certificate: PropertyKey<String?> { .init("tls.certificate", help: "The path of the certificate.") }
    var privateKey: PropertyKey<String?> { .init("tls.key", isSecret: true) }
    var tlsVersion: PropertyKey<TLSVersion> { .init("tls.version", defaultValue: .version13) }
}

// MARK: Resources

extension ContainerKeys {
    var poolSize: PropertyKey<Int> {
        .init("database.pool-size", defaultValue: 4, help: "How many connections are kept open.")
    }
    var databaseURL: PropertyKey<String> { .required("database.url", isSecret: true, help: "Where the database is.") }
    var password: PropertyKey<String?> { .init("database.password", isSecret: true) }
    var idleTime: PropertyKey<Duration> { .init("database.idle-time", defaultValue: .seconds(60)) }
    var upstreams: PropertyKey<[Upstream]> { .init("upstreams", defaultValue: []) }
    var retries: PropertyKey<Int> { .init("http.retries", defaultValue: 3, form: .range(0...10)) }
    var backoff: PropertyKey<[Duration]> { .init("http.backoff", defaultValue: [.milliseconds(100), .seconds(1)]) }
    var rateLimit: PropertyKey<RateLimit> { .init("limits", defaultValue: RateLimit(), form: .merged) }
    var token: PropertyKey<String?> { .init("api.token", isSecret: true, help: "Sent to the upstreams.") }
}

// MARK: Logging and behavior

extension ContainerKeys {
    var logLevel: PropertyKey<LogLevel> { .init("log.level", defaultValue: .info) }
    var logsJSON: PropertyKey<Bool> { .init("log.json", defaultValue: false, form: .anyBoolean) }
    var sampleRate: PropertyKey<Double> { .init("log.sample-rate", defaultValue: 1, form: .range(0...1)) }
    var tags: PropertyKey<[String]> { .init("log.tags", defaultValue: [], form: .separated(by: ";")) }
    var region: PropertyKey<String> {
        .init("region", defaultValue: "eu", form: .checked("two letters") { $0.count == 2 })
    }
    var holiday: PropertyKey<LocalDate?> { .init("holiday", help: "The day on which nobody is called.") }
    var newSearch: PropertyKey<Bool> { .init("flags.new-search", defaultValue: false, form: .anyBoolean) }
}

/// The values that this program reads from outside.
enum Settings {
    /// Declares all keys before any source is applied.
    static func declare(in container: Container) {
        container.declare(\.host, \.port, \.adminPort, \.timeout, \.maxBody, \.origins, \.trustsProxy)
        container.declare(\.certificate, \.privateKey, \.tlsVersion)
        container.declare(\.databaseURL, \.password, \.idleTime, \.poolSize)
        container.declare(\.upstreams, \.retries, \.backoff, \.rateLimit, \.token)
        container.declare(\.logLevel, \.logsJSON, \.sampleRate, \.tags, \.region, \.holiday, \.newSearch)
        container.declareCheck(of: \.certificate, "needs tls.key") { $0.certificate == nil || $0.privateKey != nil }
    }
}
