import Foundation
import Fugu
import FuguConfiguration
import FuguFoundationSources
import Support
import Synchronization
import Testing

// Fugu's side of the page "Coming from swift-configuration": a comment names a row of its table, and the code below shows it. The test
// of the page, in DocumentationTests, compares both.

private enum Level: String, Decodable, Sendable { case debug, info }

// | `ExpressibleByConfigString` |
private struct Host: TextDecodable, Decodable {
    let name: String
    init?(text: String) { name = text }
}

extension ContainerKeys {
    // | `config.int(forKey: "http.timeout", default: 60)` |
    fileprivate var timeout: PropertyKey<Int> { .init("http.timeout", defaultValue: 60) }
    // | `config.string(forKey: "http.host")` |
    fileprivate var host: PropertyKey<String?> { .init("http.host") }
    // | `config.stringArray(forKey: "http.tags", default: [])` |
    fileprivate var tags: PropertyKey<[String]> { .init("http.tags", defaultValue: []) }
    // | `config.string(forKey: "log.level", as: Level.self, default: .info)` |
    fileprivate var level: PropertyKey<Level> { .init("log.level", defaultValue: .info) }
    // | `ExpressibleByConfigString` |
    fileprivate var server: PropertyKey<Host?> { .init("http.server") }
    // | `config.bytes(forKey: "http.key")`, `.base64` |
    fileprivate var secret: PropertyKey<Data?> { .init("http.key") }
    // | `config.string(forKey: "database.password", isSecret: true)` |
    fileprivate var password: PropertyKey<String?> { .init("database.password", isSecret: true) }
}

private struct Remote: AsyncPropertySource {
    var name: String { "remote" }
    func fetch() async throws -> PropertySnapshot { try PropertySnapshot(["http.timeout": 7], source: name) }
}

/// The idioms of swift-configuration have these counterparts.
struct SwiftConfigurationRows {
    private let container = Container.program()
    private let folder: TemporaryFolder
    init() throws { folder = try TemporaryFolder() }
}

extension SwiftConfigurationRows {
    private func file(_ name: String, _ text: String) throws -> String {
        let url = folder.file(name)
        try Data(text.utf8).write(to: url)
        return url.path
    }

    @Test("Reading (law 15)") func reading() throws {
        try container.apply(
            DictionarySource(
                [
                    "http": [
                        "timeout": 15, "host": "example.org", "tags": ["a", "b"], "server": "a.example", "key": "aGk=",
                    ], "log.level": "debug",
                ], name: "values"))
        // | `config.int(forKey: "http.timeout", default: 60)` |
        expect(container.timeout, equals: 15)
        // | `config.string(forKey: "http.host")` |
        expect(container.host, equals: "example.org")
        // | `try config.requiredString(forKey: "http.host")` |
        expect(try container.require(\.host), equals: "example.org")
        #expect(throws: PropertyError.self) { try container.require(\.password) }
        // | `config.stringArray(forKey: "http.tags", default: [])` |
        expect(container.tags, equals: ["a", "b"])
        // | `config.string(forKey: "log.level", as: Level.self, default: .info)` |
        expect(container.level, equals: .debug)
        // | `ExpressibleByConfigString` |
        expect(container.server?.name, equals: "a.example")
        // | `config.bytes(forKey: "http.key")`, `.base64` |
        expect(container.secret, equals: Data("hi".utf8))
        // | `config.scoped(to: "http")` |
        expect(try container.section("http").property("timeout", as: Int.self), equals: 15)
        // | `config.string(forKey: "database.password", isSecret: true)` |
        expect(container.password, equals: nil)
        // | `config.snapshot()` |
        let both = container.snapshot { ($0.timeout, $0.host) }
        expect(both == (15, "example.org"))
    }

    @Test("Sources (law 15)") func sources() throws {
        // | `EnvironmentVariablesProvider()` |
        try container.apply(EnvironmentSource())
        expect(try container.property("path", as: String.self), equals: ProcessInfo.processInfo.environment["PATH"])
        // | `provider.prefixKeys(with: "app")` |
        try container.apply(EnvironmentSource(prefix: "APP", environment: ["APP_HTTP_TIMEOUT": "5"]))
        expect(container.timeout, equals: 5)
        // | `provider.prefixKeys(with: "app")` |
        // | `.mapKeys {` |
        let source = DictionarySource(["old.timeout": 6], name: "old")
        try container.apply(source.mappingNames { $0.replacing("http.", with: "old.") })
        expect(container.timeout, equals: 6)
        // | `EnvironmentVariablesProvider(environmentFilePath: …)` |
        var path = try file(".env", "HTTP_TIMEOUT=7\n")
        try container.apply(DotEnvSource(path: path))
        expect(container.timeout, equals: 7)
        // | `CommandLineArgumentsProvider(arguments: arguments)` |
        let arguments = ["program", "--http-timeout", "8"]
        try container.apply(ArgumentsSource(arguments))
        expect(container.timeout, equals: 8)
        // | `FileProvider<JSONSnapshot>(filePath: …)` |
        path = try file("app.json", #"{"http": {"timeout": 9}}"#)
        try container.apply(JSONSource(path: path))
        expect(container.timeout, equals: 9)
        // | `FileProvider<PropertyListSnapshot>(filePath: …)` |
        path = try file(
            "app.plist",
            #"<plist version="1.0"><dict><key>http</key><dict><key>timeout</key><integer>10</integer></dict></dict></plist>"#
        )
        try container.apply(PropertyListSource(path: path))
        expect(container.timeout, equals: 10)
        // | `allowMissing: true` |
        try container.apply(JSONSource(path: "/nowhere/app.json", isOptional: true))
        expect(container.timeout, equals: 10)
        // | `DirectoryFilesProvider(directoryPath: …)` |
        path = folder.file("secrets").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        _ = try file("secrets/database-password", "swordfish")
        try container.apply(FolderSource(path: path))
        expect(container.password, equals: "swordfish")
    }

    @Test("Values in memory (laws 15, 17)") func memory() throws {
        // | `ConfigReader(providers: [first, second])`: the first that has it |
        // | `InMemoryProvider(values: ["http.timeout": 5])` |
        try container.apply(DictionarySource(["http.timeout": 4], name: "another"))
        try container.apply(DictionarySource(["http.timeout": 5], name: "values"))
        expect(container.timeout, equals: 5)
        // | `MutableInMemoryProvider(initialValues: ["http.timeout": 5])` |
        let flags = MutableSource(["http.timeout": 5], name: "flags")
        try container.apply(flags)
        flags["http.timeout"] = 6
        expect(container.timeout, equals: 6)
        // | `secretsSpecifier: .dynamic {` |
        let source = EnvironmentSource(environment: ["API_TOKEN": "swordfish"])
        try container.apply(source.markingSecrets("*token*"))
        let token = PropertyKey<String?>("api.token")
        expect(container[token], equals: "swordfish")
        expect(!"\(container.explain { _ in token })".contains("swordfish"))
    }

    @Test("Changes and reports (laws 9, 16)") func changes() async throws {
        // | `config.watchInt(forKey: "http.timeout", default: 60) { updates in` |
        let flags = MutableSource(["http.timeout": 5], name: "flags")
        try container.apply(flags)
        var values: [Int] = []
        for await timeout in container.values(of: \.timeout) {
            values.append(timeout)
            if timeout == 6 { break }
            flags["http.timeout"] = 6
        }
        expect(values, equals: [5, 6])
        // | `AccessReporter` |
        let container = Container()
        try container.apply(flags)
        let reads = Mutex<[String]>([])
        container.handleSourceReads { name, _ in reads.withLock { $0.append(name) } }
        _ = container.timeout
        expect(reads.withLock { $0 }, equals: ["http.timeout"])
        // | `try await config.fetchInt(forKey: "http.timeout")` |
        try await container.apply(Remote())  // an AsyncPropertySource
        expect(container.timeout, equals: 7)
    }
}
