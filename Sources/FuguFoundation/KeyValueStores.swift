public import Foundation
import Fugu

extension KeyValueStore {
    /// A new, empty store in memory, which lives as long as the store and its copies.
    public static var inMemory: KeyValueStore {
        let values = Guarded<[String: Data]>([:])
        return KeyValueStore(
            read: { key in values.withLock { $0[key] } },
            write: { key, data in values.withLock { $0[key] = data } },
            keys: { values.withLock { Array($0.keys) } })
    }

    /// A store in one JSON file, made with its folders at the first write.
    ///
    /// Every write replaces the file atomically, so that a crash in the middle leaves the old file or the new one,
    /// whole. A file that cannot be understood is reported by every operation and never overwritten. Every operation
    /// reads the file anew; of two processes that write the same file at the same time, one can lose its change.
    ///
    /// - Parameters:
    ///   - url: The file.
    ///   - fileAccess: Where the file lies: `container.fileAccess`, say.
    public static func file(_ url: URL, in fileAccess: FileAccess = .system) -> KeyValueStore {
        let file = Guarded(StoreFile(url: url, files: fileAccess))
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

    /// The defaults of the user and the program.
    public static let userDefaults = KeyValueStore(defaults: { .standard })

    /// The defaults of the user in a suite, which several programs can share.
    ///
    /// - Returns: `nil` where the system knows no such suite: the program's own name and the global domain are none.
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
                defaults.synchronize()  // There nothing writes them later.
                #endif
            },
            keys: { try defaults().dictionaryRepresentation().filter { $0.value is Data }.map(\.key) })
    }
}

/// The file behind a store: an object of Base64 strings.
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

/// The cause where the defaults hold something that no store wrote.
struct NotData: Error, CustomStringConvertible {
    let type: String

    var description: String { "the defaults hold \(type) there, not data" }
}

/// The cause where the system has forgotten a suite that it knew before.
struct NoSuite: Error, CustomStringConvertible {
    let name: String

    var description: String { "there is no suite \(name)" }
}
