import Foundation
import Fugu
import FuguConfiguration
import LoggingAdapter

/// The settings of the program, from `config.toml`, variables such as `SHORTENER_SERVER_PORT`, and arguments
/// such as `--server-port 80`.
extension ContainerKeys {
    package var host: PropertyKey<String> {
        .init("server.host", defaultValue: "127.0.0.1", help: "the address to listen at; 0.0.0.0 for all")
    }
    package var port: PropertyKey<UInt16> { .init("server.port", defaultValue: 8080, help: "0 for any free one") }
    package var baseURL: PropertyKey<BaseURL?> {
        .init("server.base_url", help: "what short links begin with; http and the address to listen at unless given")
    }
    package var isBehindProxy: PropertyKey<Bool> {
        .init("server.is_behind_proxy", defaultValue: false, help: "believe the last address in X-Forwarded-For")
    }
    package var patience: PropertyKey<Duration> {
        .init("server.patience", defaultValue: .seconds(20), help: "the time for open requests at the end")
    }
    package var lastPatience: PropertyKey<Duration> {
        .init("server.last_patience", defaultValue: .seconds(20), help: "what those still open then get on top")
    }
    package var databasePath: PropertyKey<String> {
        .init("database.path", defaultValue: "links.sqlite", help: "the SQLite file")
    }
    package var databaseURL: PropertyKey<String?> {
        .init(
            "database.url", isSecret: true,
            help: "a PostgreSQL server, such as postgres://user@host/name; then no file is used")
    }
    package var databaseConnections: PropertyKey<UInt8> {
        .init("database.connections", defaultValue: 8, help: "the connections to that server")
    }
    package var archiveFolder: PropertyKey<String> {
        .init("archive.folder", defaultValue: "archives", help: "the SQLite files of former years, such as 2023.sqlite")
    }
    package var adminToken: PropertyKey<String?> {
        .init("admin.token", isSecret: true, help: "who has it sees and deletes all links; nobody unless given")
    }
    package var allowsInspection: PropertyKey<Bool> {
        .init(
            "admin.allows_inspection", defaultValue: false,
            help: "show the admin the inside at /inspect; needs a restart")
    }
    package var createsPerMinute: PropertyKey<UInt> {
        .init("limits.creates_per_minute", defaultValue: 30, help: "new links from one address")
    }
    package var triesPerMinute: PropertyKey<UInt> {
        .init("limits.tries_per_minute", defaultValue: 30, help: "requests with a wrong token from one address")
    }
    package var assetSeconds: PropertyKey<UInt> {
        .init("cache.asset_seconds", defaultValue: 3600, help: "how long a browser keeps script and style")
    }
    package var lookInterval: PropertyKey<Duration> {
        .init("config.look_interval", defaultValue: .seconds(2), help: "the time between two looks at the file")
    }
}

extension Container {
    /// Declares all keys.
    package func declareSettings() {
        declare(
            \.host, \.port, \.baseURL, \.isBehindProxy, \.patience, \.lastPatience, \.databasePath, \.databaseURL,
            \.databaseConnections, \.archiveFolder, \.adminToken, \.allowsInspection, \.createsPerMinute,
            \.triesPerMinute, \.assetSeconds, \.lookInterval, \.logLevel)
    }

    /// Declares all keys, applies the sources, of which the last one wins, and finds all mistakes at once.
    ///
    /// - Parameters:
    ///   - file: The path of a TOML file; `nil` for `config.toml`, if there is one.
    ///   - arguments: The arguments of the command line.
    ///   - environment: The variables.
    /// - Throws: `PropertyErrors`, with the place of each mistake.
    package func configure(file: String?, arguments: [String], environment: [String: String]) throws {
        declareSettings()
        try apply(TOMLSource(path: file ?? "config.toml", isOptional: file == nil))
        try apply(EnvironmentSource(prefix: "SHORTENER", environment: environment))
        try apply(ArgumentsSource(arguments))
        try validate()
    }
}

/// The address at which clients reach the program.
package struct BaseURL: TextDecodable, Sendable, Equatable, CustomStringConvertible {
    package let description: String
    package let host: String

    package static var textForm: String { "an address, such as https://go.example.com" }

    package init?(text: String) {
        guard let url = URLComponents(string: text), let scheme = url.scheme, ["http", "https"].contains(scheme),
            let host = url.host, !host.isEmpty, url.user == nil, url.query == nil, url.fragment == nil
        else { return nil }
        description = text.hasSuffix("/") ? String(text.dropLast()) : text
        self.host = host.lowercased()
    }

    package var isSecure: Bool { description.hasPrefix("https:") }
}

extension ContainerKeys {
    /// The prefix of short links, which reloads when its inputs change.
    package var publicURL: FeatureKey<BaseURL> {
        .init(reloadsWhenInputsChange: true) { container in
            container.baseURL ?? BaseURL(text: "http://\(container.host):\(container.port)")
                ?? BaseURL(text: "http://localhost:\(container.port)")!
        }
    }
}
