import Foundation

/// One line of the journal.
struct Entry: Codable, Hashable, Sendable {
    let id: UUID
    /// To the second.
    let date: Date
    let text: String
}

/// A line that isn't an entry.
struct DamagedLine: Error, Hashable, Sendable, CustomStringConvertible {
    let path: String
    let line: Int
    let reason: String

    var description: String { "\(path):\(line): \(reason)" }
}
