public import Foundation
public import Fugu

/// A store for small values under names, such as settings, that outlasts the process.
///
/// ```swift
/// try container.keyValueStore.set(Theme.dark, for: "theme")
/// let theme = try container.keyValueStore.value(Theme.self, for: "theme") ?? .light
/// ```
///
/// An operation blocks the calling thread until it's done, and several threads can call operations at the same time.
public struct KeyValueStore: Sendable {
    private let read: @Sendable (String) throws -> Data?
    private let write: @Sendable (String, Data?) throws -> Void
    private let readKeys: @Sendable () throws -> [String]

    /// Creates a store from closures.
    ///
    /// Their errors become the ``KeyValueStoreError/cause`` of a ``KeyValueStoreError``.
    ///
    /// - Parameters:
    ///   - read: A closure that returns the data under a key, or `nil`.
    ///   - write: A closure that stores data under a key, or removes the key if the data is `nil`. A missing key isn't
    ///     an error.
    ///   - keys: A closure that returns all keys, in any order.
    public init(
        read: @escaping @Sendable (_ key: String) throws -> Data?,
        write: @escaping @Sendable (_ key: String, _ data: Data?) throws -> Void,
        keys: @escaping @Sendable () throws -> [String]
    ) {
        self.read = read
        self.write = write
        readKeys = keys
    }

    /// Returns the data under a key.
    ///
    /// - Parameter key: The key.
    /// - Returns: The data as it was stored, or `nil` if there is none.
    /// - Throws: ``KeyValueStoreError`` if the store can't be read.
    public func data(for key: String) throws(KeyValueStoreError) -> Data? {
        do { return try read(key) } catch { throw KeyValueStoreError(.get, key, cause: error) }
    }

    /// Stores data under a key.
    ///
    /// - Parameters:
    ///   - data: The data.
    ///   - key: The key.
    /// - Throws: ``KeyValueStoreError`` if the store can't be written.
    public func setData(_ data: Data, for key: String) throws(KeyValueStoreError) {
        do { try write(key, data) } catch { throw KeyValueStoreError(.set, key, cause: error) }
    }

    /// Returns the value that ``set(_:for:)`` stored under a key.
    ///
    /// - Parameters:
    ///   - type: The type of the value.
    ///   - key: The key.
    /// - Returns: The value, or `nil` if there is none.
    /// - Throws: ``KeyValueStoreError`` if the store can't be read, or if the value has another type.
    public func value<Value: Decodable>(
        _ type: Value.Type = Value.self, for key: String
    ) throws(KeyValueStoreError) -> Value? {
        guard let data = try data(for: key) else { return nil }
        do {
            return try JSONDecoder().decode(type, from: data)
        } catch DecodingError.dataCorrupted(let context) where context.debugDescription.contains("not valid JSON") {
            // Foundation says so of a number that its type can't represent, too.
            let isJSON = (try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)) != nil
            let reason = isJSON ? Messages.unfitNumber("\(type)") : context.debugDescription
            let cause = DecodingError.Context(codingPath: context.codingPath, debugDescription: reason)
            throw KeyValueStoreError(.get, key, cause: DecodingError.dataCorrupted(cause))
        } catch {
            throw KeyValueStoreError(.get, key, cause: error)
        }
    }

    /// Stores a value under a key, as JSON.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - key: The key.
    /// - Throws: ``KeyValueStoreError`` if the value can't be encoded or the store can't be written.
    public func set(_ value: some Encodable, for key: String) throws(KeyValueStoreError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let data: Data
        do { data = try encoder.encode(value) } catch { throw KeyValueStoreError(.set, key, cause: error) }
        try setData(data, for: key)
    }

    /// Removes what is stored under a key.
    ///
    /// A missing key isn't an error.
    ///
    /// - Parameter key: The key.
    /// - Throws: ``KeyValueStoreError`` if the store can't be written.
    public func remove(_ key: String) throws(KeyValueStoreError) {
        do { try write(key, nil) } catch { throw KeyValueStoreError(.remove, key, cause: error) }
    }

    /// Returns all keys, sorted.
    ///
    /// - Returns: The keys under which something is stored.
    /// - Throws: ``KeyValueStoreError`` if the store can't be read.
    public func keys() throws(KeyValueStoreError) -> [String] {
        do { return try readKeys().sorted() } catch { throw KeyValueStoreError(.list, nil, cause: error) }
    }
}

extension ContainerKeys {
    /// A store for small values under names: the user's defaults.
    ///
    /// The placeholder is a new, empty store in memory.
    public var keyValueStore: FeatureKey<KeyValueStore> { .init(placeholder: { .inMemory }) { _ in .userDefaults } }
}

/// An error that names the operation of a ``KeyValueStore`` that failed, its key, and the reason.
public struct KeyValueStoreError: Error, Sendable, CustomStringConvertible, LocalizedError {
    enum Operation: String, Sendable {
        case get = "read"
        case set = "store"
        case remove
        case list = "list the keys"
    }

    let operation: Operation

    /// The key, or `nil` if the operation asked for all keys.
    public let key: String?

    /// The reason: a ``FileAccessError``, a `DecodingError`, an `EncodingError`, or what a closure of your own threw.
    public let cause: any Error

    init(_ operation: Operation, _ key: String?, cause: any Error) {
        self.operation = operation
        self.key = key
        self.cause = cause
    }

    /// A Boolean value that indicates whether the store's file can't be parsed.
    ///
    /// A file in this state is never overwritten. Repair or remove it.
    public var isCorruptFile: Bool { cause is CorruptFile }

    /// The operation, the key, and the reason on one line.
    public var description: String {
        Messages.keyValueStore(operation.rawValue, key, reason(of: cause))
    }

    /// The same text as ``description``.
    public var errorDescription: String? { description }
}

/// The cause if a store's file exists but contains something else.
struct CorruptFile: Error, CustomStringConvertible {
    let path: String
    let cause: any Error

    var description: String { Messages.corruptFile(path, reason(of: cause)) }
}

/// Returns the description of a coding error without the types around it.
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

extension KeyValueStore {
    /// A new, empty store in memory, which lives as long as this value and its copies.
    public static var inMemory: KeyValueStore {
        let values = Locked<[String: Data]>([:])
        return KeyValueStore(
            read: { key in values.withLock { $0[key] } },
            write: { key, data in values.withLock { $0[key] = data } },
            keys: { values.withLock { Array($0.keys) } })
    }

    /// Returns a store in a JSON file, which is created with its folders at the first write.
    ///
    /// Each write replaces the file atomically. Each operation reads the file again; if two processes write it at the
    /// same time, one of the changes can be lost. A file that can't be parsed makes every operation fail and is never
    /// overwritten.
    ///
    /// - Parameters:
    ///   - url: The file.
    ///   - fileAccess: The files to use, such as `container.fileAccess`.
    /// - Returns: The store. An operation takes time in proportion to the size of the file.
    public static func file(_ url: URL, in fileAccess: FileAccess = .system) -> KeyValueStore {
        let file = Locked(StoreFile(url: url, files: fileAccess))
        return KeyValueStore(
            read: { key in try file.withLock { try $0.load()[key] } },
            write: { key, data in
                try file.withLock { file in
                    var values = try file.load()
                    guard values[key] != data else { return }
                    values[key] = data
                    try file.save(values)
                }
            },
            keys: { try file.withLock { Array(try $0.load().keys) } })
    }

    /// A store in the standard defaults of the user and the program.
    public static let userDefaults = KeyValueStore(defaults: { .standard })

    /// Returns a store in a suite of the user's defaults, which several programs can share.
    ///
    /// - Parameter suite: The name of the suite.
    /// - Returns: The store, or `nil` if the system knows no such suite. The program's own name and the global domain
    ///   are none.
    public static func userDefaults(suite: String) -> KeyValueStore? {
        guard UserDefaults(suiteName: suite) != nil else { return nil }
        return KeyValueStore(defaults: {
            guard let defaults = UserDefaults(suiteName: suite) else { throw NoSuite(name: suite) }
            return defaults
        })
    }

    private init(defaults: @escaping @Sendable () throws -> UserDefaults) {
        self.init(
            read: { key in
                guard let value = try defaults().object(forKey: key) else { return nil }
                guard let data = value as? Data else { throw NotData(type: "\(type(of: value))") }
                return data
            },
            write: { key, data in
                let defaults = try defaults()
                if let data { defaults.set(data, forKey: key) } else { defaults.removeObject(forKey: key) }
                #if !canImport(Darwin)
                defaults.synchronize()  // On this platform, nothing else writes them later.
                #endif
            },
            keys: { try defaults().dictionaryRepresentation().filter { $0.value is Data }.map(\.key) })
    }
}

/// The file of a store: a JSON object of Base64 strings.
private struct StoreFile: Sendable {
    let url: URL
    let files: FileAccess

    func load() throws -> [String: Data] {
        let data: Data
        do {
            data = try files.load(url)
        } catch  where error.isMissingFile {
            return [:]
        }
        do {
            return try JSONDecoder().decode([String: Data].self, from: data)
        } catch {
            throw CorruptFile(path: url.path, cause: error)
        }
    }

    func save(_ values: [String: Data]) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try files.save(try encoder.encode(values), to: url)
    }
}

/// The cause if the user defaults contain a value that no store wrote.
struct NotData: Error, CustomStringConvertible {
    let type: String

    var description: String { Messages.notData(type) }
}

/// The cause if a suite of user defaults doesn't exist any more.
struct NoSuite: Error, CustomStringConvertible {
    let name: String

    var description: String { Messages.noSuite(name) }
}
