/// The messages of this module, as functions that tests read.
enum Messages {
    static func fileAccess(_ operation: String, _ path: String, _ reason: String) -> String {
        "can't \(operation) \(path): \(reason)"
    }

    static let notAFile = "not a file URL"

    static func fileIsFolder(_ path: String) -> String {
        "Fugu: inMemory(_:) received \(path) and a path above or below it, but a file can't be a folder as well."
            + "\nFix: remove one of them."
    }

    static func keyValueStore(_ operation: String, _ key: String?, _ reason: String) -> String {
        "can't \(operation)\(key.map { " \"\($0)\"" } ?? ""): \(reason)"
    }

    static func corruptFile(_ path: String, _ reason: String) -> String {
        "\(path) is damaged and was left unchanged: \(reason)"
    }

    static func unfitNumber(_ type: String) -> String { "a number is outside the range of its type in \(type)" }

    static func notData(_ type: String) -> String { "the user defaults contain \(type) for this key instead of data" }

    static func noSuite(_ name: String) -> String { "the user defaults suite \(name) doesn't exist" }
}
