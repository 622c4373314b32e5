import Fugu
import FuguConfiguration

/// The output without arguments: the help, five mistakes, and the origins of all values.
enum Tour {
    static func run() throws {
        print("$ LayeredSettings --help\n")
        print(Program.help)
        print("$ LayeredSettings wrong.toml --validate --log-levl debug\n")
        do {
            try container(wrong, variables: [:], arguments: ["--log-levl", "debug"]).validate()
        } catch {
            print("\(error)\n")
        }
        print("$ LayeredSettings app.toml --server-port 9000\n")
        let variables = ["CONFIG_SERVER_PORT": "8500", "CONFIG_LIMITS_BURST": "50"]
        let container = try container(right, variables: variables, arguments: ["--server-port", "9000"])
        try container.validate()
        for explanation in container.explain() { print(explanation) }
    }

    private static let wrong = TOMLSource(
        text: """
            region = "Europe"

            [server]
            timeout = 30

            [http]
            retries = 99
            """, name: "wrong.toml")

    private static let right = TOMLSource(
        text: """
            holiday = 2026-05-01

            [server]
            host = "example.org"
            port = 80
            max-body = "20MB"

            [database]
            url = "postgres://db.example.org"

            [limits]
            requests = 500

            [[upstreams]]
            name = "search"
            url = "https://search.example.org"
            """, name: "app.toml")

    private static func container(
        _ file: TOMLSource, variables: [String: String], arguments: [String]
    ) throws -> Container {
        let container = Container()
        Settings.declare(in: container)
        try container.apply(file)
        try container.apply(DotEnvSource(text: "CONFIG_DATABASE_PASSWORD=hunter2\n", name: ".env", prefix: "CONFIG"))
        try container.apply(EnvironmentSource(prefix: "CONFIG", environment: variables))
        try container.apply(ArgumentsSource(arguments))
        return container
    }
}
