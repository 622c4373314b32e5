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

extension Journal {
    struct Import: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add each line of a text file as an entry.",
            discussion: "Ctrl-C stops it. What was added by then stays, and no entry is added in part.")

        @OptionGroup var options: CommonOptions
        @Argument(help: "The text file.", completion: .file()) var source: String

        /// Few enough to stop soon, many enough to be fast.
        private static let batch = 100

        func run() async throws {
            let container = try options.container()
            let content = try container.fileAccess.load(URL(filePath: source))
            let lines = String(decoding: content, as: UTF8.self).split(whereSeparator: \.isNewline)
            let bar = container[ProgressBar.self]
            var appender = try container.journalFile.appender()
            var added = 0
            while added < lines.count {
                try Task.checkCancellation()
                let next = lines[added..<min(added + Self.batch, lines.count)]
                try appender.add(next.map { Entry(id: container.uuid(), date: container.date.now, text: String($0)) })
                added += next.count
                bar.show(added, of: lines.count)
                await Task.yield()
            }
            try container.console.write("Added \(lines.count) entries\n")
        }
    }
}
