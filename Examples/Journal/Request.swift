import Foundation
import Fugu
import FuguFoundation

extension ContainerKeys {
    var arguments: PropertyKey<[String]> { .init(defaultValue: Array(CommandLine.arguments.dropFirst())) }
}

/// What the user asks for.
struct Request: Equatable {
    enum Command: Equatable {
        case add(String)
        case list
        case search(String)
        case stats
        case help
    }

    private(set) var command = Command.help
    private(set) var file: String?
    private(set) var isFrozen = false

    static let usage = """
        usage: Journal add TEXT | list | search WORD | stats [--file PATH] [--frozen]

          add TEXT      add an entry
          list          print all entries
          search WORD   print the entries that contain WORD, in capitals or not
          stats         print how much was written, and when

          --file PATH   the journal; otherwise Journal/journal.jsonl in your data folder
          --frozen      always the same date, ids, time zone and locale
          --            what follows is no option

        exits with 0; with 64 if it was called wrongly, with 65 if it met lines that are
        no entries, with 1 if anything else failed

        """

    init(_ arguments: [String]) throws(UsageError) {
        var words: [String] = []
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--":
                words += rest
                rest = []
            case "--frozen": isFrozen = true
            case "--help": return
            case "--file":
                guard let path = rest.popFirst() else { throw UsageError("--file needs a path") }
                file = path
            case _ where argument.hasPrefix("--file="): file = String(argument.dropFirst("--file=".count))
            case _ where argument.hasPrefix("--"): throw UsageError("unknown option \(argument)")
            default: words.append(argument)
            }
        }
        if file == "" { throw UsageError("--file needs a path") }
        command = try Self.command(words)
    }

    private static func command(_ words: [String]) throws(UsageError) -> Command {
        guard let name = words.first else { throw UsageError("no command given") }
        let text = words.dropFirst().joined(separator: " ")
        let isBlank = text.allSatisfy(\.isWhitespace)
        switch name {
        case "add", "search":
            if isBlank { throw UsageError("\(name) needs \(name == "add" ? "a text" : "a word")") }
            return name == "add" ? .add(text) : .search(text)
        case "list", "stats", "help":
            if words.count > 1 { throw UsageError("\(name) takes nothing more") }
            return name == "list" ? .list : name == "stats" ? .stats : .help
        default: throw UsageError("unknown command \(name)")
        }
    }
}

/// A call that makes no sense.
struct UsageError: Error, Equatable, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
