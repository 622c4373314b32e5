import ArgumentParser
import Foundation
import Fugu
import FuguFoundation

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
