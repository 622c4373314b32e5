public import Foundation
import Fugu

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
