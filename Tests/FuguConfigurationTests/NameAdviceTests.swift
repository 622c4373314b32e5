import Foundation
import Fugu
import FuguConfiguration
import Support
import Testing

private struct Server: Decodable, Sendable {
    var host: String
}

extension ContainerKeys {
    fileprivate var serverPort: PropertyKey<Int> { .init("server.port", defaultValue: 80) }
    fileprivate var adminPort: PropertyKey<Int> { .init("admin.port", defaultValue: 81) }
    fileprivate var servers: PropertyKey<[Server]> { .init("servers", defaultValue: []) }
    fileprivate var tags: PropertyKey<[String]> { .init("tags", defaultValue: []) }
    fileprivate var token: PropertyKey<String?> { .init("token") }
}

/// What an error about an unknown name says to do (law 16).
struct NameAdviceTests {
    private let container = Container()

    private func problems(
        _ source: some PropertySource, _ keys: any ConfigurationKey...
    ) throws -> [String] {
        try container.apply(source)
        return thrown { try container.validate(keys) }.split(separator: "\n").map(String.init)
    }

    private func variables(_ variables: [String: String], prefix: String = "") -> EnvironmentSource {
        EnvironmentSource(prefix: prefix, environment: variables)
    }

    // MARK: Ends of names

    @Test(
        "For a name that's only the end of a key's, the whole is suggested, in every source (law 16)",
        arguments: [
            (ArgumentsSource(["--port", "1"]), "argument --port: unknown name; did you mean --server-port?"),
            (
                EnvironmentSource(prefix: "APP", environment: ["APP_PORT": "1"]),
                "environment variable APP_PORT: unknown name; did you mean APP_SERVER_PORT?"
            ),
            (TOMLSource(text: "port = 1", name: "x"), "x:1:1: port: unknown name; did you mean server.port?"),
            (
                DotEnvSource(text: "APP_PORT=1", name: "x", prefix: "APP"),
                "x:1:1: APP_PORT: unknown name; did you mean APP_SERVER_PORT?"
            ),
        ] as [(any PropertySource, String)])
    func ends(source: any PropertySource, expected: String) throws {
        try expect(problems(source, ContainerKeys().serverPort), equals: [expected])
    }

    @Test(
        "Of several names that end like an unknown one, each is suggested; a line of a file may be for others (law 16)")
    func severalEnds() throws {
        // Of several names that end so, each is suggested.
        do {
            try expect(
                problems(ArgumentsSource(["--port", "1"]), ContainerKeys().serverPort, ContainerKeys().adminPort),
                equals: ["argument --port: unknown name; did you mean --admin-port or --server-port?"])
            try container.removeSources(named: "arguments")
            try expect(
                problems(
                    TOMLSource(text: "port = 1", name: "x"), ContainerKeys().serverPort, ContainerKeys().adminPort),
                equals: ["x:1:1: port: unknown name; did you mean admin.port or server.port?"])
        }
        // A line of a file without a prefix that ends like a key's name may be for others.
        do {
            try expect(
                Self().problems(DotEnvSource(text: "PORT=1", name: "x"), ContainerKeys().serverPort),
                equals: ["nothing"])
        }
    }

    // MARK: Elements of lists

    @Test(
        "For one element of a list, the error says how the list is given as a whole (law 16)",
        arguments: [
            ("SERVERS_0_HOST", "servers", "SERVERS"), ("SERVERS_12", "servers", "SERVERS"), ("TAGS_0", "tags", "TAGS"),
        ])
    func elements(variable: String, list: String, whole: String) throws {
        func text(_ whole: String) -> String {
            "\(list) is a list, which is given as a whole, in JSON: \(whole)='[…, …]'"
        }
        let (servers, tags) = (ContainerKeys().servers, ContainerKeys().tags)
        try expect(
            problems(variables([variable: "a"]), servers, tags),
            equals: ["environment variable \(variable): \(text(whole))"])
        let prefixed = Container()
        try prefixed.apply(variables(["APP_" + variable: "a"], prefix: "APP"))
        expect(
            thrown { try prefixed.validate([servers, tags]) },
            equals: "environment variable APP_\(variable): \(text("APP_" + whole))")
        let argument = "--" + variable.lowercased().replacing("_", with: "-")
        let arguments = Container()
        try arguments.apply(ArgumentsSource([argument, "a"]))
        expect(
            thrown { try arguments.validate([servers, tags]) },
            equals: "argument \(argument): \(text("--" + whole.lowercased()))")
        let line = Container()
        try line.apply(DotEnvSource(text: variable + "=a", name: "x"))
        expect(thrown { try line.validate([servers, tags]) }, equals: "x:1:1: \(variable): \(text(whole))")
    }

    @Test(
        "A list is given as a whole as the error says, and a name that goes on without a number is no element (law 16)")
    func whole() throws {
        // A list is given as a whole as the error says.
        do {
            try container.apply(variables(["SERVERS": #"[{"host": "a"}, {"host": "b"}]"#, "TAGS": #"["a", "b"]"#]))
            expect(container.servers.map(\.host) == ["a", "b"] && container.tags == ["a", "b"])
        }
        // A name that goes on after that of a list, but not with a number, isn't an element.
        do {
            let lines = try Self().problems(variables(["APP_TAGS__X": "a"], prefix: "APP"), ContainerKeys().tags)
            expect(lines.count == 1 && lines[0].contains("unknown name"), "\(lines)")
        }
    }

    // MARK: Links of services

    private let links = [
        "APP_REDIS_SERVICE_HOST": "10.0.0.1", "APP_REDIS_SERVICE_PORT": "6379",
        "APP_REDIS_PORT": "tcp://10.0.0.1:6379", "APP_REDIS_PORT_6379_TCP": "tcp://10.0.0.1:6379",
        "APP_REDIS_PORT_6379_TCP_PROTO": "tcp", "APP_REDIS_PORT_6379_TCP_PORT": "6379",
        "APP_REDIS_PORT_6379_TCP_ADDR": "10.0.0.1",
    ]

    @Test(
        "For the variables that Kubernetes sets for a service, one error says how to ignore them, and for no others (law 16)"
    )
    func serviceLinks() throws {
        // For the variables that Kubernetes sets for a service, one error says how to ignore them all.
        do {
            let source = variables(links, prefix: "APP")
            let lines = try problems(source, ContainerKeys().token)
            expect(
                lines,
                equals: [
                    """
                    environment variable APP_REDIS_PORT: unknown name; Kubernetes sets it, and others, for a service: set \
                    enableServiceLinks: false for the pod, or let the program ignore them with ignoringNames("redis.port", "redis.port.*", \
                    "redis.service.*")
                    """
                ])
            let other = Container()
            try other.apply(source.ignoringNames("redis.port", "redis.port.*", "redis.service.*"))
            try other.validate(\.token)
        }
        // Variables that only look like those of a service are unknown names like others.
        do {
            let lines = try Self().problems(
                variables(["APP_REDIS_PORT": "6379", "APP_REDIS_SERVICE_HOST": "a"], prefix: "APP"),
                ContainerKeys().token)
            expect(lines.count == 2 && lines.allSatisfy { !$0.contains("Kubernetes") }, "\(lines)")
        }
    }

    // MARK: Folders

    @Test("Everything in a folder of values is read, or reported with what to do (law 16)")
    func folders() throws {
        let path = NSTemporaryDirectory() + "fugu-advice-\(UUID())"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try FileManager.default.createDirectory(atPath: path + "/database", withIntermediateDirectories: true)
        for name in ["app.toml", "app.JSON", "token", "ca.crt", "database/password", ".hidden"] {
            try Data("a".utf8).write(to: URL(fileURLWithPath: path + "/" + name))
        }
        let unknown = "no key has this name; if the file is for another program, ignore it: ignoringNames"
        try expect(
            problems(FolderSource(path: path), ContainerKeys().token),
            equals: [
                "\(path)/app.JSON: a folder has one value in each file; to read this one, apply JSONSource(path:)",
                "\(path)/app.toml: a folder has one value in each file; to read this one, apply TOMLSource(path:)",
                "\(path)/ca.crt: \(unknown)(\"ca.crt\")",
                "\(path)/database: folders in a folder aren't read; apply FolderSource(path:) for it, or ignore it: "
                    + "ignoringNames(\"database\")",
            ])
        expect(container.token, equals: "a")
        let other = Container()
        try other.apply(FolderSource(path: path).ignoringNames("app.*", "ca.crt", "database"))
        try other.validate(\.token)
    }
}

extension ContainerKeys {
    fileprivate var isFast: PropertyKey<Bool> { .init("server.isFast", defaultValue: false) }
    fileprivate var isSafe: PropertyKey<Bool> { .init("isSafe", defaultValue: false) }
}

/// Advice on arguments that switch something off.
extension NameAdviceTests {
    @Test(
        "For a switch, what's suggested switches off, too, if it's on or off (law 16)",
        arguments: [
            ("--no-is-save", "--no-is-safe"), ("--no-is-fast", "--no-server-is-fast"),
            ("--no-server-is-fats", "--no-server-is-fast"), ("--is-fast", "--server-is-fast"),
        ])
    func switches(word: String, meant: String) throws {
        let keys = ContainerKeys()
        try expect(
            problems(ArgumentsSource([word]), keys.isFast, keys.isSafe, keys.serverPort),
            equals: ["argument \(word): unknown name; did you mean \(meant)?"])
    }

    @Test("For what isn't on or off, no switch is suggested (law 16)", arguments: ["--no-port", "--no-server-prot"])
    func others(word: String) throws {
        let lines = try problems(ArgumentsSource([word]), ContainerKeys().serverPort)
        expect(lines.count == 1 && lines[0].hasPrefix("argument \(word): unknown name"), "\(lines)")
        expect(!lines[0].contains("mean --no-"), "\(lines)")
    }
}
