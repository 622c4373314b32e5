import ArgumentParser
import Foundation
import Fugu
import FuguFoundation

extension Journal {
    struct Add: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Add an entry.")

        @OptionGroup var options: CommonOptions
        @Argument(help: "The text; what follows -- is no option.") var text: [String]

        func validate() throws {
            if text.allSatisfy({ $0.allSatisfy(\.isWhitespace) }) { throw ValidationError("add needs a text.") }
        }

        func run() throws {
            let container = try options.container()
            let entry = Entry(
                id: container.uuid(), date: container.date.now, text: text.joined(separator: " "))
            var appender = try container.journalFile.appender()
            try appender.add([entry])
            try container.console.write("Added \(entry.id)\n")
        }
    }

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Print all entries.")

        @OptionGroup var options: CommonOptions

        func run() throws {
            try options.container().show { $0.list($1) }
        }
    }

    struct Search: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the entries that contain a word, in capitals or not.")

        @OptionGroup var options: CommonOptions
        @Argument(help: "The word.") var word: [String]

        func validate() throws {
            if word.allSatisfy({ $0.allSatisfy(\.isWhitespace) }) { throw ValidationError("search needs a word.") }
        }

        func run() throws {
            let word = word.joined(separator: " ")
            try options.container().show { report, entries in
                report.list(entries.filter { report.contains(word, in: $0) })
            }
        }
    }

    struct Stats: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Print how much was written, and when.")

        @OptionGroup var options: CommonOptions

        func run() throws {
            try options.container().show { $0.statistics($1) }
        }
    }
}

extension Container {
    /// Prints what `text` makes of the entries, and reports the lines that are none.
    fileprivate func show(_ text: (Report, [Entry]) -> String) throws {
        let (entries, damaged) = try self.journalFile.read()
        try self.console.write(text(Report(container: self), entries))
        for line in damaged { self.console.report("Journal: \(line)\n") }
        if !damaged.isEmpty { throw ExitCode(65) }
    }
}
