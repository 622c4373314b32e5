import Fugu
import FuguConfiguration
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

    @Test("Configuration, law 25: a wrong value is reported")
    func reported() async throws {
        try await run {
            let container = Container()
            container.handleReports { print("Report: \($0)") }
            try container.apply(JSONSource(text: #"{"server": {"port": true}}"#, name: "app.json"))
            let port = container.port  // Report: app.json:1:21: server.port: expected Int, found bool true
            print(port)  // 8080
        }
    }

    @Test("Configuration, law 25: everything is validated at once")
    func validated() async throws {
        try await run {
            let container = Container()
            try container.apply(TOMLSource(text: "server.prot = 80", name: "app.toml"))
            do {
                try container.validate(\.port, \.password)
            } catch {
                print(error)  // app.toml:1:8: server.prot: unknown name; did you mean server.port?
            }
        }
    }

    @Test("Configuration, law 25: what is required, and what a value must be")
    func required() async throws {
        try await run {
            let container = Container()
            container.declare(\.databaseURL, \.workers, \.certificate, \.privateKey)
            container.declareCheck(of: \.certificate, "needs tls.key") { $0.certificate == nil || $0.privateKey != nil }
            try container.apply(TOMLSource(text: "workers = 100", name: "app.toml"))
            do {
                try container.validate()
            } catch {
                let lines = "\(error)".split(separator: "\n")
                print(lines[0].prefix(33))  // database.url: a value is required
                print(lines[1])  // app.toml:1:11: workers: expected 1...64, found integer 100
            }
        }
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

    @Test("Configuration, law 26: a secret is never told")
    func explained() async throws {
        try await run {
            let container = Container()
            try container.apply(TOMLSource(text: "database.password = 'hunter2'", name: "app.toml"))
            print(container.explain(\.password))  // database.password = (secret) (app.toml:1:21)
        }
    }

    @Test("Coming from swift-configuration: what is declared can be checked")
    func declaredAndChecked() async throws {
        try await run {
            let container = Container()
            container.declare(\.idleSeconds)
            try container.apply(TOMLSource(text: "[http]\nidleSeconds = 'soon'\nidelSeconds = 5", name: "app.toml"))
            do {
                try container.validate()
            } catch {
                let lines = "\(error)".split(separator: "\n")
                print(lines[0])  // app.toml:2:15: http.idleSeconds: expected Int, found string "soon"
                print(lines[1])  // app.toml:3:1: http.idelSeconds: unknown name; did you mean http.idleSeconds?
            }
        }
    }
}
