public import Configuration
public import Fugu
public import FuguConfiguration

/// A source that gives a container the values of a `ConfigReader`.
///
///     try container.apply(ConfigReaderSource(reader, name: "environment"))
///
/// Changes that the reader reports take effect at once, for as long as the container lives.
public struct ConfigReaderSource: PropertySource {
    private let reader: ConfigReader
    /// The name of the source in errors.
    public let name: String

    /// Creates a source.
    public init(_ reader: ConfigReader, name: String = "ConfigReader") {
        self.reader = reader
        self.name = name
    }

    /// Reads the present values.
    public func load() throws(PropertyError) -> PropertySnapshot {
        let values = reader.snapshot()
        return PropertySnapshot(source: name) { Self.text(ConfigKey($0), in: values) }
    }

    /// Follows the reader's snapshots.
    public func observeChanges(_ body: @escaping @Sendable () -> Void) -> (@Sendable () -> Void)? {
        let task = Task {
            try await reader.watchSnapshot { updates in
                for try await _ in updates { body() }
            }
        }
        return { task.cancel() }
    }

    /// A reader needs the type of each value; a container parses strings as the type of the key.
    private static func text(_ key: ConfigKey, in values: ConfigSnapshotReader) -> String? {
        if let value = values.string(forKey: key, isSecret: true) { return value }
        if let value = values.int(forKey: key, isSecret: true) { return "\(value)" }
        if let value = values.double(forKey: key, isSecret: true) { return "\(value)" }
        if let value = values.bool(forKey: key, isSecret: true) { return "\(value)" }
        if let list = values.stringArray(forKey: key, isSecret: true) { return list.joined(separator: ",") }
        if let list = values.intArray(forKey: key, isSecret: true) { return text(list) }
        if let list = values.doubleArray(forKey: key, isSecret: true) { return text(list) }
        if let list = values.boolArray(forKey: key, isSecret: true) { return text(list) }
        return nil
    }

    private static func text(_ list: [some CustomStringConvertible]) -> String {
        list.map(\.description).joined(separator: ",")
    }
}

/// A reader, for libraries that take `any PropertyReader`.
///
///     let pool = try Pool(settings: ConfigReader(provider: EnvironmentVariablesProvider()).scoped(to: "pool"))
///
/// It gives texts, numbers, Boolean values, and lists of them, but no tables.
extension ConfigReader: @retroactive PropertyReader {
    /// Returns the value that the providers have under a name now.
    public func property<Value: Decodable & Sendable>(_ name: String, as type: Value.Type) throws -> Value? {
        try ConfigReaderSource(self).load().property(name, as: type)
    }
}

/// The values of a container, for libraries that read their configuration by swift-configuration.
///
///     let reader = ConfigReader(provider: ContainerProvider(container))
///
/// It provides the values of code, rules, and sources, but not the defaults of keys. A value is a secret
/// unless a declared key says that it's none.
public struct ContainerProvider: ConfigProvider {
    private let container: Container
    private let openNames: Set<String>

    /// Creates a provider.
    ///
    /// Declare the keys of the program first.
    public init(_ container: Container) {
        self.container = container
        openNames = Set(container.explain().filter { $0.winner.value != nil }.map(\.name))
    }

    /// `Container`.
    public var providerName: String { "Container" }

    /// Returns the value that the container has now.
    public func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
        let name = key.components.joined(separator: ".")
        let content = try content(name, type)
        return LookupResult(
            encodedKey: name, value: content.map { ConfigValue($0, isSecret: !openNames.contains(name)) })
    }

    /// Returns the value that the container has now.
    public func fetchValue(forKey key: AbsoluteConfigKey, type: ConfigType) async throws -> LookupResult {
        try value(forKey: key, type: type)
    }

    /// Sends the present value and each later one.
    public func watchValue<Return: ~Copyable>(
        forKey key: AbsoluteConfigKey, type: ConfigType,
        updatesHandler: (ConfigUpdatesAsyncSequence<Result<LookupResult, any Error>, Never>) async throws -> Return
    ) async throws -> Return {
        let name = key.components.joined(separator: ".")
        let changes = container.values(of: { _ in PropertyKey<PropertyValue?>(name) })
        return try await updatesHandler(
            ConfigUpdatesAsyncSequence(changes.map { _ in Result { try value(forKey: key, type: type) } }))
    }

    /// Returns the values of this moment.
    public func snapshot() -> any ConfigSnapshot { Snapshot(provider: Self(Container(copying: container))) }

    /// Sends the values of this moment.
    ///
    /// A container doesn't report changes of names that nobody has read.
    public func watchSnapshot<Return: ~Copyable>(
        updatesHandler: (ConfigUpdatesAsyncSequence<any ConfigSnapshot, Never>) async throws -> Return
    ) async throws -> Return {
        try await watchSnapshotFromSnapshot(updatesHandler: updatesHandler)
    }

    private struct Snapshot: ConfigSnapshot {
        let provider: ContainerProvider

        var providerName: String { provider.providerName }

        func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
            try provider.value(forKey: key, type: type)
        }
    }

    private func content(_ name: String, _ type: ConfigType) throws -> ConfigContent? {
        switch type {
        case .string: try container.property(name).map { .string($0) }
        case .int: try container.property(name).map { .int($0) }
        case .double: try container.property(name).map { .double($0) }
        case .bool: try container.property(name).map { .bool($0) }
        case .bytes: try container.property(name, as: Bytes.self).map { .bytes($0.bytes) }
        case .stringArray: try container.property(name).map { .stringArray($0) }
        case .intArray: try container.property(name).map { .intArray($0) }
        case .doubleArray: try container.property(name).map { .doubleArray($0) }
        case .boolArray: try container.property(name).map { .boolArray($0) }
        case .byteChunkArray: try container.property(name, as: [Bytes].self).map { .byteChunkArray($0.map(\.bytes)) }
        }
    }
}

/// Bytes, or the bytes of a string.
private struct Bytes: Decodable, Sendable {
    let bytes: [UInt8]

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer().decode(PropertyValue.self)
        switch value {
        case .data(let bytes): self.bytes = bytes
        case .string(let text): bytes = Array(text.utf8)
        default:
            throw DecodingError.typeMismatch(
                [UInt8].self, .init(codingPath: decoder.codingPath, debugDescription: "expected bytes or a text"))
        }
    }
}
