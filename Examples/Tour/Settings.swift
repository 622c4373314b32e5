import Fugu
import FuguConfiguration

// The values that the service reads from outside: each has a name, and a form that bounds it.

enum LogLevel: String, Decodable, Sendable, CaseIterable {
    case debug, info, warning, error
}

/// How often a client may ask.
struct RateLimit: Codable, Sendable {
    var requests = 100
    var burst = 20
}

extension ContainerKeys {
    var port: PropertyKey<UInt16> {
        .init("server.port", defaultValue: 8080, form: .range(1...), help: "The port to listen on.")
    }
    var timeout: PropertyKey<Duration> {
        .init("server.timeout", defaultValue: .seconds(30), help: "How long a request may take.")
    }
    var databaseURL: PropertyKey<String> { .required("database.url", isSecret: true, help: "Where the database is.") }
    var password: PropertyKey<String?> { .init("database.password", isSecret: true) }
    var retries: PropertyKey<Int> { .init("http.retries", defaultValue: 3, form: .range(0...10)) }
    var rateLimit: PropertyKey<RateLimit> { .init("limits", defaultValue: RateLimit(), form: .merged) }
    var logLevel: PropertyKey<LogLevel> { .init("log.level", defaultValue: .info) }
    var region: PropertyKey<String> {
        .init("region", defaultValue: "eu", form: .checked("two letters") { $0.count == 2 })
    }
}

func declareSettings(in container: Container) {
    container.declare(\.port, \.timeout, \.databaseURL, \.password, \.retries, \.rateLimit, \.logLevel, \.region)
}

/// Returns a container with four sources.
///
/// The source that is applied last wins.
private func container(
    _ file: TOMLSource, variables: [String: String] = [:], arguments: [String] = []
) throws -> Container {
    let container = Container()
    declareSettings(in: container)
    try container.apply(file)
    try container.apply(DotEnvSource(text: "CONFIG_DATABASE_PASSWORD=hunter2\n", name: ".env", prefix: "CONFIG"))
    try container.apply(EnvironmentSource(prefix: "CONFIG", environment: variables))
    try container.apply(ArgumentsSource(arguments))
    return container
}

func showSettings() throws {
    print("1. The settings, as --help prints them.\n")
    let declared = Container()
    declareSettings(in: declared)
    print(declared.reference(prefix: "CONFIG").helpText, terminator: "")

    heading("2. Five mistakes in a file and in the arguments, at once.")
    let wrong = TOMLSource(
        text: """
            region = "Europe"

            [server]
            timeout = 30

            [http]
            retries = 99
            """, name: "wrong.toml")
    do {
        try container(wrong, arguments: ["--log-levl", "debug"]).validate()
    } catch {
        print(error)
    }

    heading("3. Each value, where it comes from, and what it hides.")
    let right = TOMLSource(
        text: """
            region = "no"

            [server]
            host = "example.org"
            port = 80

            [database]
            url = "postgres://db.example.org"

            [limits]
            requests = 500
            """, name: "app.toml")
    let variables = ["CONFIG_SERVER_PORT": "8500", "CONFIG_LIMITS_BURST": "50"]
    let container = try container(right, variables: variables, arguments: ["--server-port", "9000"])
    for explanation in container.explain() { print(explanation) }
}
