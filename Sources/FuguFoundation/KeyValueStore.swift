public import Foundation
public import Fugu

/// Small values under names, kept between runs: settings, say.
///
/// ```swift
/// try container.keyValueStore.set(Theme.dark, for: "theme")
/// let theme = try container.keyValueStore.value(Theme.self, for: "theme") ?? .light
/// ```
///
/// All operations block the calling thread until they are done and may be called by several threads at once.
public struct KeyValueStore: ExternalFeature, Sendable {
    private let read: @Sendable (String) throws -> Data?
    private let write: @Sendable (String, Data?) throws -> Void
    private let readKeys: @Sendable () throws -> [String]

    /// A store of your own. What the closures throw reaches the caller as the cause of a ``KeyValueStoreError``.
    ///
    /// - Parameters:
    ///   - read: Gives what is stored under a key, or `nil`.
    ///   - write: Stores the data under the key, or removes the key where it is `nil` (no error if it is not there).
    ///   - keys: Gives all keys, in any order.
    public init(
        read: @escaping @Sendable (_ key: String) throws -> Data?,
        write: @escaping @Sendable (_ key: String, _ data: Data?) throws -> Void,
        keys: @escaping @Sendable () throws -> [String]
    ) {
        self.read = read
        self.write = write
        readKeys = keys
    }

    /// What is stored under `key`, byte for byte, or `nil` where there is nothing.
    public func data(for key: String) throws(KeyValueStoreError) -> Data? {
        do { return try read(key) } catch { throw KeyValueStoreError(.get, key, cause: error) }
    }

    /// Stores `data` under `key`, byte for byte.
    public func setData(_ data: Data, for key: String) throws(KeyValueStoreError) {
        do { try write(key, data) } catch { throw KeyValueStoreError(.set, key, cause: error) }
    }

    /// The value that ``set(_:for:)`` stored under `key`, or `nil` where there is nothing. Throws if it is of another
    /// type.
    public func value<Value: Decodable>(
        _ type: Value.Type = Value.self, for key: String
    ) throws(KeyValueStoreError) -> Value? {
        guard let data = try data(for: key) else { return nil }
        do {
            return try JSONDecoder().decode(type, from: data)
        } catch {
            throw KeyValueStoreError(.get, key, cause: error)
        }
    }

    /// Stores `value` under `key`, as JSON.
    public func set(_ value: some Encodable, for key: String) throws(KeyValueStoreError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let data: Data
        do { data = try encoder.encode(value) } catch { throw KeyValueStoreError(.set, key, cause: error) }
        try setData(data, for: key)
    }

    /// Removes what is stored under `key`, if anything is.
    public func remove(_ key: String) throws(KeyValueStoreError) {
        do { try write(key, nil) } catch { throw KeyValueStoreError(.remove, key, cause: error) }
    }

    /// All keys under which something is stored, sorted.
    public func keys() throws(KeyValueStoreError) -> [String] {
        do { return try readKeys().sorted() } catch { throw KeyValueStoreError(.list, nil, cause: error) }
    }

    /// The defaults of the user and the program.
    public static func load(in container: any FeatureContainer) -> KeyValueStore { .userDefaults }

    /// A new, empty store in memory.
    public static var placeholder: KeyValueStore { .inMemory }
}

extension FeatureContainer {
    /// Small values under names, kept between runs.
    public var keyValueStore: KeyValueStore {
        get { self[KeyValueStore.self] }
        set { self[KeyValueStore.self] = newValue }
    }
}

/// What went wrong with a ``KeyValueStore``: what was tried, with which key, and why it failed.
public struct KeyValueStoreError: Error, Sendable, CustomStringConvertible, LocalizedError {
    enum Operation: String, Sendable {
        case get = "read"
        case set = "store"
        case remove
        case list = "list the keys"
    }

    let operation: Operation

    /// The key, or `nil` where all keys were asked for.
    public let key: String?

    /// Why it failed: a ``FileAccessError``, a `DecodingError`, an `EncodingError` or what a store of your own threw.
    public let cause: any Error

    init(_ operation: Operation, _ key: String?, cause: any Error) {
        self.operation = operation
        self.key = key
        self.cause = cause
    }

    /// Whether the store's file cannot be understood. It is never overwritten in this state: mend it or remove it.
    public var isCorruptFile: Bool { cause is CorruptFile }

    /// What was tried, the key and the cause in one line.
    public var description: String {
        "cannot \(operation.rawValue)\(key.map { " \"\($0)\"" } ?? ""): \(reason(of: cause))"
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }
}

/// The cause where a store's file is there and holds something else.
struct CorruptFile: Error, CustomStringConvertible {
    let path: String
    let cause: any Error

    var description: String { "\(path) is damaged and was left as it is: \(reason(of: cause))" }
}

/// The heart of a coding error, without the types around it.
private func reason(of error: any Error) -> String {
    switch error {
    case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
        DecodingError.keyNotFound(_, let context), DecodingError.dataCorrupted(let context):
        context.debugDescription
    case EncodingError.invalidValue(_, let context):
        context.debugDescription
    default:
        String(describing: error)
    }
}
