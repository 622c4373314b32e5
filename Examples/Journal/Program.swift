import Foundation
import Fugu
import FuguFoundation

/// The program. It reaches the outside only through `container`.
struct Program {
    let container: Container

    /// Does what the arguments say and gives the exit code.
    func run() -> Int32 {
        do {
            let request = try Request(container.arguments)
            if request.isFrozen { freeze() }
            if request.command == .help {
                try container.console.write(Request.usage)
                return 0
            }
            container.journalURL = try request.file.map { URL(filePath: $0) } ?? defaultURL()
            return try perform(request.command)
        } catch let error as UsageError {
            container.console.report("Journal: \(error)\n\n\(Request.usage)")
            return 64
        } catch {
            container.console.report("Journal: \(error)\n")
            return 1
        }
    }

    private func freeze() {
        container.timestamp = .constant(1_735_689_600)  // 2025-01-01 00:00:00 UTC; the date follows it.
        container.uuid = .incrementing
        container.timeZone = .gmt
        container.locale = Locale(identifier: "en_US_POSIX")
    }

    private func perform(_ command: Request.Command) throws -> Int32 {
        switch command {
        case .help: return 0
        case .add(let text):
            let entry = Entry(id: container.uuid(), date: container.date.now, text: text)
            try container.journalFile.add(entry)
            try container.console.write("Added \(entry.id)\n")
            return 0
        case .list:
            return try show { Report(container: container).list($0) }
        case .search(let word):
            return try show { entries in
                let report = Report(container: container)
                return report.list(entries.filter { report.contains(word, in: $0) })
            }
        case .stats:
            return try show { Report(container: container).statistics($0) }
        }
    }

    /// Prints what `text` makes of the entries, and reports the lines that are none.
    private func show(_ text: ([Entry]) -> String) throws -> Int32 {
        let (entries, damaged) = try container.journalFile.read()
        try container.console.write(text(entries))
        for line in damaged { container.console.report("Journal: \(line)\n") }
        return damaged.isEmpty ? 0 : 65
    }

    private func defaultURL() throws -> URL {
        try dataFolder().appending(path: "Journal/journal.jsonl", directoryHint: .notDirectory)
    }

    /// Where programs keep the user's data.
    private func dataFolder() throws -> URL {
        let environment = container.environment
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
