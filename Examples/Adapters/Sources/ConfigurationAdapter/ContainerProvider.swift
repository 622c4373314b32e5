public import Configuration
public import Fugu
import FuguConfiguration

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
        openNames = Set(container.reference().entries.filter { !$0.isSecret }.map(\.name))
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
        let changes = container.values(of: PropertyKey<PropertyValue?>(key.components.joined(separator: ".")))
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
