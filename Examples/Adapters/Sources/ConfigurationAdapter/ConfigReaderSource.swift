public import Configuration
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
