import Foundation
import Fugu
import FuguFoundation

extension ContainerKeys {
    /// The path of the journal, which is set after the arguments are parsed.
    var journalURL: PropertyKey<URL> { .init(defaultValue: URL(filePath: "journal.jsonl")) }

    var journalFile: FeatureKey<JournalFile> {
        .init(reloadsWhenInputsChange: true) { JournalFile(url: $0.journalURL, files: $0.fileAccess) }
    }
}

/// The file of the journal: one JSON object a line (JSON Lines).
///
/// It is only ever appended to, so whatever is in it stays.
struct JournalFile: Sendable {
    let url: URL
    let files: FileAccess

    private static let newline = UInt8(ascii: "\n")

    /// Adds entries to the end of a journal.
    struct Appender {
        fileprivate let journal: JournalFile
        /// The text that must precede the next entry.
        fileprivate var separator: Data

        /// Adds entries in one piece.
        mutating func add(_ entries: [Entry]) throws {
            let encoder = JSONEncoder()
            encoder.dateEncodingStrategy = .iso8601
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            let lines = try entries.map { try encoder.encode($0) + [JournalFile.newline] }
            try journal.files.append(lines.reduce(separator, +), to: journal.url)
            separator = Data()
        }
    }

    func appender() throws -> Appender {
        // A last line without an end, left by an editor or a full disk, must not swallow the next one.
        let isOpen = try content().last.map { $0 != Self.newline } ?? false
        return Appender(journal: self, separator: isOpen ? Data([Self.newline]) : Data())
    }

    /// Returns all entries in the order of the file, and the lines that aren't entries.
    ///
    /// Blank lines are neither.
    func read() throws -> (entries: [Entry], damaged: [DamagedLine]) {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom(Self.date)
        var entries: [Entry] = []
        var damaged: [DamagedLine] = []
        for (index, line) in Self.lines(of: try content()).enumerated() {
            do {
                entries.append(try decoder.decode(Entry.self, from: line))
            } catch  where !line.allSatisfy(\.isBlank) {
                damaged.append(DamagedLine(path: url.path, line: index + 1, reason: Self.reason(of: error)))
            } catch {}  // A blank line.
        }
        return (entries, damaged)
    }

    /// A journal without a file is empty.
    private func content() throws -> Data {
        do { return try files.load(url) } catch  where error.isMissingFile { return Data() }
    }

    /// Like Foundation's own strategy, but its errors say which value is wrong.
    private static func date(from decoder: any Decoder) throws -> Date {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        do {
            return try Date(text, strategy: .iso8601)
        } catch {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not an ISO 8601 date")
        }
    }

    /// A loop, for in debug builds the general algorithms take five times as long, and a journal may be large.
    private static func lines(of content: Data) -> [Data] {
        var lines: [Data] = []
        content.withUnsafeBytes { bytes in
            var start = 0
            for index in bytes.indices where bytes[index] == newline {
                lines.append(Data(bytes[start..<index]))
                start = index + 1
            }
            lines.append(Data(bytes[start...]))
        }
        return lines
    }

    private static func reason(of error: any Error) -> String {
        switch error {
        case DecodingError.keyNotFound(let key, _): "not an entry: \"\(key.stringValue)\" is missing"
        case DecodingError.valueNotFound(_, let context) where !context.codingPath.isEmpty,
            DecodingError.typeMismatch(_, let context) where !context.codingPath.isEmpty,
            DecodingError.dataCorrupted(let context) where !context.codingPath.isEmpty:
            "not an entry: \"\(context.codingPath[0].stringValue)\" has a wrong value"
        case DecodingError.typeMismatch: "not an entry: not a JSON object"
        default: "not an entry: not valid JSON"
        }
    }
}

extension UInt8 {
    fileprivate var isBlank: Bool { self == 0x20 || self == 0x09 || self == 0x0D }
}

extension Container {
    /// Where the journal lies unless said.
    func defaultURL() throws -> URL {
        try dataFolder().appending(path: "Journal/journal.jsonl", directoryHint: .notDirectory)
    }

    /// Where programs keep the user's data.
    private func dataFolder() throws -> URL {
        let environment = self.environment
        #if os(Windows)
        if let folder = environment["LOCALAPPDATA"], !folder.isEmpty { return URL(filePath: folder) }
        #else
        // A relative path there is to be ignored, says the XDG Base Directory Specification.
        if let folder = environment["XDG_DATA_HOME"], folder.hasPrefix("/") { return URL(filePath: folder) }
        if let home = environment["HOME"], !home.isEmpty {
            #if canImport(Darwin)
            return URL(filePath: home).appending(path: "Library/Application Support")
            #else
            return URL(filePath: home).appending(path: ".local/share")
            #endif
        }
        #endif
        throw NoDataFolder()
    }
}

/// The user has no folder for data.
struct NoDataFolder: Error, CustomStringConvertible {
    let description = "the environment names no home folder; say --file PATH"
}
