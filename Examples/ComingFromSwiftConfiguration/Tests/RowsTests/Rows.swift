import Configuration
import Foundation
import Fugu
import FuguConfiguration
import FuguFoundationSources
import Synchronization
import Testing

enum Level: String, Decodable, Sendable { case debug, info }

struct Host: TextDecodable, ExpressibleByConfigString, Equatable {
    let name: String
    init?(text: String) { name = text }
    init?(configString: String) { name = configString }
    var description: String { name }
}

struct Pool: Decodable, Sendable {
    var size: Int
    var host: String
}

extension ContainerKeys {
    var timeout: PropertyKey<Int> { .init("http.timeout", defaultValue: 60) }
    var host: PropertyKey<String?> { .init("http.host") }
    var tags: PropertyKey<[String]> { .init("http.tags", defaultValue: []) }
    var level: PropertyKey<Level> { .init("log.level", defaultValue: .info) }
    var server: PropertyKey<Host?> { .init("http.server") }
    var password: PropertyKey<String?> { .init("database.password", isSecret: true) }
    var secret: PropertyKey<Base64?> { .init("http.key") }
    var pool: PropertyKey<Pool?> { .init("pool") }
}

/// Both sides of one row: what each of them reads.
@Suite struct Rows {
    private let values: [AbsoluteConfigKey: ConfigValue] = [
        "http.timeout": 15, "http.host": "example.org",
        "http.tags": ConfigValue(.stringArray(["a", "b"]), isSecret: false),
        "log.level": "debug",
    ]
    private let config: ConfigReader
    private let container = Container()

    init() throws {
        config = ConfigReader(
            provider: InMemoryProvider(
                values: values.merging(["http.server": "a.example", "http.key": "aGk="]) { $1 }))
        try container.apply(
            DictionarySource(
                [
                    "http": [
                        "timeout": 15, "host": "example.org", "tags": ["a", "b"], "server": "a.example", "key": "aGk=",
                    ], "log.level": "debug",
                ], name: "values"))
    }

    /// A file of the test's own.
    private func file(_ name: String, _ text: String) throws -> String {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let url = folder.appending(path: name)
        try Data(text.utf8).write(to: url)
        return url.path
    }

    // MARK: Reading

    @Test func aDefault() {
        let theirs = config.int(forKey: "http.timeout", default: 60)
        let ours = container.timeout
        #expect(theirs == 15 && ours == 15)
    }

    @Test func anOptional() {
        let theirs = config.string(forKey: "http.host")
        let ours = container.host
        #expect(theirs == "example.org" && ours == "example.org")
    }

    @Test func required() throws {
        let theirs = try config.requiredString(forKey: "http.host")
        let ours = try container.require(\.host)
        #expect(theirs == "example.org" && ours == "example.org")
        #expect(throws: (any Error).self) { try config.requiredString(forKey: "none") }
        #expect(throws: PropertyError.self) { try container.require(\.password) }
    }

    @Test func lists() {
        let theirs = config.stringArray(forKey: "http.tags", default: [])
        let ours = container.tags
        #expect(theirs == ["a", "b"] && ours == ["a", "b"])
    }

    @Test func rawValues() {
        let theirs = config.string(forKey: "log.level", as: Level.self, default: .info)
        let ours = container.level
        #expect(theirs == .debug && ours == .debug)
    }

    @Test func typesFromText() {
        let theirs = config.string(forKey: "http.server", as: Host.self)
        let ours = container.server
        #expect(theirs?.name == "a.example" && ours?.name == "a.example")
    }

    @Test func bytes() throws {
        let config = ConfigReader(
            provider: EnvironmentVariablesProvider(environmentVariables: ["HTTP_KEY": "aGk="], bytesDecoder: .base64))
        let theirs = config.bytes(forKey: "http.key")
        let ours = container.secret?.bytes
        #expect(theirs == Array("hi".utf8) && ours == Array("hi".utf8))
    }

    @Test func prefixes() throws {
        let theirs = config.scoped(to: "http").int(forKey: "timeout")
        let ours = try container.section("http").property("timeout", as: Int.self)
        #expect(theirs == 15 && ours == 15)
    }

    @Test func secrets() throws {
        let theirs = config.string(forKey: "database.password", isSecret: true)
        let ours = container.password
        #expect(theirs == nil && ours == nil)
    }

    @Test func snapshots() {
        let snapshot = config.snapshot()
        let theirs = (snapshot.int(forKey: "http.timeout"), snapshot.string(forKey: "http.host"))
        let ours = container.snapshot { ($0.timeout, $0.host) }
        #expect(theirs == (15, "example.org") && ours == (15, "example.org"))
    }

    @Test func wholeTables() throws {
        let theirs = (config.scoped(to: "pool").int(forKey: "size"), config.scoped(to: "pool").string(forKey: "host"))
        try container.apply(TOMLSource(text: "[pool]\nsize = 4\nhost = 'h'", name: "app.toml"))
        let ours = container.pool
        #expect(theirs == (nil, nil) && ours?.size == 4 && ours?.host == "h")
    }

    // MARK: Sources

    @Test func environment() throws {
        let provider = EnvironmentVariablesProvider(environmentVariables: ["HTTP_TIMEOUT": "5"])
        let theirs = ConfigReader(provider: provider).int(forKey: "http.timeout")
        try container.apply(EnvironmentSource(environment: ["HTTP_TIMEOUT": "5"]))
        #expect(theirs == 5 && container.timeout == 5)
    }

    @Test func environmentOfTheProcess() throws {
        let theirs = ConfigReader(provider: EnvironmentVariablesProvider()).string(forKey: "path")
        try container.apply(EnvironmentSource())
        #expect(try theirs == container.property("path", as: String.self))
    }

    @Test func prefixedVariables() throws {
        let provider = EnvironmentVariablesProvider(environmentVariables: ["APP_HTTP_TIMEOUT": "5"])
        let theirs = ConfigReader(provider: provider.prefixKeys(with: "app")).int(forKey: "http.timeout")
        try container.apply(EnvironmentSource(prefix: "APP", environment: ["APP_HTTP_TIMEOUT": "5"]))
        #expect(theirs == 5 && container.timeout == 5)
    }

    @Test func environmentFiles() async throws {
        let path = try file(".env", "HTTP_TIMEOUT=5\n")
        let provider = try await EnvironmentVariablesProvider(environmentFilePath: .init(path))
        let theirs = ConfigReader(provider: provider).int(forKey: "http.timeout")
        try container.apply(DotEnvSource(path: path))
        #expect(theirs == 5 && container.timeout == 5)
    }

    @Test func arguments() throws {
        let arguments = ["program", "--http-timeout", "5"]
        let theirs = ConfigReader(provider: CommandLineArgumentsProvider(arguments: arguments)).int(
            forKey: "http.timeout")
        try container.apply(ArgumentsSource(arguments))
        #expect(theirs == 5 && container.timeout == 5)
    }

    @Test func json() async throws {
        let path = try file("app.json", #"{"http": {"timeout": 5}}"#)
        let theirs = ConfigReader(provider: try await FileProvider<JSONSnapshot>(filePath: .init(path)))
        try container.apply(JSONSource(path: path))
        #expect(theirs.int(forKey: "http.timeout") == 5 && container.timeout == 5)
    }

    @Test func propertyLists() async throws {
        let text =
            #"<plist version="1.0"><dict><key>http</key><dict><key>timeout</key><integer>5</integer></dict></dict></plist>"#
        let path = try file("app.plist", text)
        let theirs = ConfigReader(provider: try await FileProvider<PropertyListSnapshot>(filePath: .init(path)))
        try container.apply(PropertyListSource(path: path))
        #expect(theirs.int(forKey: "http.timeout") == 5 && container.timeout == 5)
    }

    @Test func missingFiles() async throws {
        let path = "/nowhere/app.json"
        let theirs = ConfigReader(
            provider: try await FileProvider<JSONSnapshot>(filePath: .init(path), allowMissing: true))
        try container.apply(JSONSource(path: path, isOptional: true))
        #expect(theirs.int(forKey: "http.timeout") == nil && container.timeout == 15)
    }

    @Test func foldersOfSecrets() async throws {
        let path = URL(filePath: try file("database-password", "swordfish")).deletingLastPathComponent().path
        let theirs = ConfigReader(provider: try await DirectoryFilesProvider(directoryPath: .init(path)))
        try container.apply(FolderSource(path: path))
        #expect(theirs.string(forKey: "database.password") == "swordfish" && container.password == "swordfish")
    }

    @Test func valuesInMemory() throws {
        let theirs = ConfigReader(provider: InMemoryProvider(values: ["http.timeout": 5])).int(forKey: "http.timeout")
        try container.apply(DictionarySource(["http.timeout": 5], name: "values"))
        #expect(theirs == 5 && container.timeout == 5)
    }

    @Test func mutableValues() throws {
        let provider = MutableInMemoryProvider(initialValues: ["http.timeout": 5])
        provider.setValue(6, forKey: "http.timeout")
        let flags = MutableSource(["http.timeout": 5], name: "flags")
        try container.apply(flags)
        flags["http.timeout"] = 6
        #expect(ConfigReader(provider: provider).int(forKey: "http.timeout") == 6 && container.timeout == 6)
    }

    @Test func order() throws {
        let (first, second) = (
            InMemoryProvider(values: ["http.timeout": 1]), InMemoryProvider(values: ["http.timeout": 2])
        )
        let theirs = ConfigReader(providers: [first, second]).int(forKey: "http.timeout")
        try container.apply(DictionarySource(["http.timeout": 2], name: "second"))
        try container.apply(DictionarySource(["http.timeout": 1], name: "first"))
        #expect(theirs == 1 && container.timeout == 1)
    }

    @Test func names() throws {
        let provider = InMemoryProvider(values: ["old.timeout": 5]).mapKeys {
            AbsoluteConfigKey(["old"] + $0.components.dropFirst())
        }
        let theirs = ConfigReader(provider: provider).int(forKey: "http.timeout")
        let source = DictionarySource(["old.timeout": 5], name: "old")
        try container.apply(source.mappingNames { $0.replacing("http.", with: "old.") })
        #expect(theirs == 5 && container.timeout == 5)
    }

    @Test func secretsByPattern() throws {
        let provider = EnvironmentVariablesProvider(
            environmentVariables: ["API_TOKEN": "swordfish"],
            secretsSpecifier: .dynamic { key, _ in key.lowercased().contains("token") })
        let source = EnvironmentSource(environment: ["API_TOKEN": "swordfish"])
        try container.apply(source.markingSecrets("*token*"))
        let token = PropertyKey<String?>("api.token")
        #expect(!"\(provider)".contains("swordfish") && !"\(container.explain(token))".contains("swordfish"))
    }

    // MARK: Changes

    @Test func watching() async throws {
        let provider = MutableInMemoryProvider(initialValues: ["http.timeout": 5])
        let config = ConfigReader(provider: provider)
        let theirs = try await config.watchInt(forKey: "http.timeout", default: 60) { updates in
            for await timeout in updates { return timeout }
            return 0
        }
        let flags = MutableSource(["http.timeout": 5], name: "flags")
        try container.apply(flags)
        var ours = 0
        for await timeout in container.values(of: \.timeout) {
            ours = timeout
            break
        }
        #expect(theirs == 5 && ours == 5)
    }

    @Test func fetching() async throws {
        let theirs = try await config.fetchInt(forKey: "http.timeout")
        try await container.apply(Remote())
        let ours = container.timeout
        #expect(theirs == 15 && ours == 7)
    }

    @Test func reporting() throws {
        let reporter = Reporter()
        let config = ConfigReader(provider: InMemoryProvider(values: values), accessReporter: reporter)
        _ = config.int(forKey: "http.timeout")
        let reads = Mutable<[String]>([])
        container.handleSourceReads { name, _ in reads.change { $0.append(name) } }
        _ = container.timeout
        #expect(reporter.keys.value == ["http.timeout"] && reads.value == ["http.timeout"])
    }
}

struct Remote: AsyncPropertySource {
    var name: String { "remote" }
    func fetch() async throws -> PropertySnapshot { try PropertySnapshot(["http.timeout": 7], source: name) }
}

final class Reporter: AccessReporter {
    let keys = Mutable<[String]>([])
    func report(_ event: AccessEvent) {
        let key = event.metadata.key.description
        keys.change { $0.append(key) }
    }
}

final class Mutable<Value: Sendable>: Sendable {
    private let guarded: Mutex<Value>
    init(_ value: Value) { guarded = Mutex(value) }
    var value: Value { guarded.withLock { $0 } }
    func change(_ body: (inout Value) -> Void) { guarded.withLock { value in body(&value) } }
}
