import Fugu
import FuguConfiguration
import FuguScopes
import Support
import Testing

/// All settings of a program, which a reload changes as one value.
private struct Settings: Decodable, Equatable, Sendable {
    var level = "info"
    var host = "localhost"
}

extension ContainerKeys {
    fileprivate var settings: PropertyKey<Settings> { .init("law12.settings", defaultValue: Settings()) }
    fileprivate var address: PropertyKey<String> {
        .init("law12.address", defaultValue: "db.\(Container.current.settings.host)")
    }
    fileprivate var opened: PropertyKey<Log<String>> { .init(defaultValue: Log()) }
}

private final class Pool: AsyncFeature, Sendable {
    static var reloadsWhenInputsChange: Bool { true }
    static func load(in container: any FeatureContainer) async throws -> Pool {
        let (address, log) = (container.address, container.opened)
        log.add("opens \(address)")
        container.onClose { log.add("closes \(address)") }
        return Pool()
    }
}

/// What is derived from settings and stays equal (law 12).
struct EqualSettingsTests {}

extension EqualSettingsTests {
    private func expectPoolStays(
        in container: Container, _ change: (_ level: String, _ host: String) throws -> Void
    ) async throws {
        let pool = try await container[Pool.self]
        let heard = Log<String>()
        container.observe(\.address) { heard.add($0) }
        try change("debug", "localhost")
        try await expect(container[Pool.self], is: pool)
        expect(container.settings.level, equals: "debug")
        expect(container.opened.all == ["opens db.localhost"] && heard.all.isEmpty)
        try change("debug", "example.org")
        let other = try await container[Pool.self]
        expect(other !== pool)
        try await container.close()
        expect(heard.all, equals: ["db.example.org"])
        expect(
            container.opened.all.sorted(),
            equals: ["closes db.example.org", "closes db.localhost", "opens db.example.org", "opens db.localhost"])
    }

    @Test("A reload or a rule that changes the log level opens no other pool of the same address (laws 12, 14, and 16)")
    func source() async throws {
        // A reload that changes the log level opens no other pool of the same address.
        do {
            let source = MutableSource(
                ["law12.settings.level": "info", "law12.settings.host": "localhost"], name: "flags")
            let container = Container()
            try container.apply(source)
            try await expectPoolStays(in: container) { level, host in
                source.update { $0 = ["law12.settings.level": .string(level), "law12.settings.host": .string(host)] }
            }
        }
        // Nor does a rule that runs again.
        do {
            let (container, settings) = (Container(), Locked(Settings()))
            container.configureScopes { handle in handle.settings = settings.withLock { $0 } }
            try await expectPoolStays(in: container.scope("/a")) { level, host in
                settings.withLock { $0 = Settings(level: level, host: host) }
                container.invalidateScopes()
            }
        }
    }
}
