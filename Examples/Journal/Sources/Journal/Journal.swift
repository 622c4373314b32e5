import ArgumentParser
import Foundation
import Fugu
import FuguFoundation

/// The command line.
///
/// Commands work in `Container.current`.
struct Journal: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "Journal",
        abstract: "Keeps a journal in a file.",
        discussion: """
            Exits with 0; with 64 if it was called wrongly, with 65 if it met lines that are no entries, with 130 if it was \
            stopped by Ctrl-C, with 1 if anything else failed. --generate-completion-script prints what a shell needs to \
            complete commands and options.
            """,
        subcommands: [Add.self, List.self, Search.self, Stats.self, Import.self])
}

/// The options of all commands.
struct CommonOptions: ParsableArguments {
    enum Colour: String, ExpressibleByArgument, CaseIterable {
        case auto, always, never
    }

    @Option(help: "The journal; otherwise Journal/journal.jsonl in your data folder.", completion: .file())
    var file: String?

    @Flag(help: "Always the same date, ids, time zone and locale.")
    var frozen = false

    @Option(help: "Whether to use colours; auto means on a terminal only.")
    var colour = Colour.auto

    /// The container of the command, configured by the options.
    func container() throws -> Container {
        let container = Container.current
        if frozen { container.freeze() }
        container.journalURL = try file.map { URL(filePath: $0) } ?? container.defaultURL()
        if colour != .auto { container.usesColours = colour == .always }
        return container
    }
}

extension Container {
    fileprivate func freeze() {
        self.date.now = Date(timeIntervalSince1970: 1_735_689_600)  // 2025-01-01 00:00:00 UTC
        self.uuid = .incrementing
        self.timeZone = .gmt
        self.locale = Locale(identifier: "en_US_POSIX")
    }
}

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
