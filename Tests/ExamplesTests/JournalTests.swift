import Foundation
import Fugu
import FuguFoundation
import FuguTesting
import Testing

@testable import Journal

/// The journal with everything outside replaced: files in memory, a fixed date, a console that is kept.
@Suite(.container { $0.useStandardDoubles(startingAt: 1_750_000_000) }) struct JournalTests {
    private let container: Container
    private let output = Guarded("")
    private let errors = Guarded("")
    private let path = "/home/ada/.local/share/Journal/journal.jsonl"

    init() { self.init(in: .current) }

    private init(in container: Container) {
        self.container = container
        container.environment = ["HOME": "/home/ada", "XDG_DATA_HOME": "/home/ada/.local/share"]
        container.console = Console(
            write: { [output] text in output.withLock { $0 += text } },
            report: { [errors] text in errors.withLock { $0 += text } })
    }

    private func run(_ arguments: String...) -> Int32 { run(arguments) }

    private func run(_ arguments: [String]) -> Int32 {
        output.withLock { $0 = "" }
        errors.withLock { $0 = "" }
        // Not `container.arguments`: up to Swift 6.3 a key path to a static `let` in an extension in another module
        // has no descriptor and crashes (swiftlang/swift#89609).
        container[\.arguments] = arguments
        return Program(container: container).run()
    }

    private var printed: String { output.withLock { $0 } }
    private var reported: String { errors.withLock { $0 } }

    @Test("What was added is listed, with the date and id of the container")
    func addAndList() throws {
        #expect(run("add", "hello", "world") == 0)
        #expect(printed == "Added 00000000-0000-0000-0000-000000000000\n")
        #expect(run("add", "--", "--frozen") == 0)
        #expect(printed == "Added 00000000-0000-0000-0000-000000000001\n")
        #expect(run("list") == 0)
        #expect(printed == "2025-06-15 15:06:40  hello world\n2025-06-15 15:06:40  --frozen\n")
        #expect(reported == "")
        let content = String(decoding: try container.fileAccess.load(URL(filePath: path)), as: UTF8.self)
        #expect(
            content.hasPrefix(
                #"{"date":"2025-06-15T15:06:40Z","id":"00000000-0000-0000-0000-000000000000","text":"hello world"}"#))
    }

    @Test("Dates are shown in the time zone of the container")
    func timeZone() throws {
        container.timeZone = try #require(TimeZone(identifier: "Asia/Tokyo"))
        #expect(run("add", "late") == 0)
        #expect(run("list") == 0)
        #expect(printed == "2025-06-16 00:06:40  late\n")
        #expect(run("stats") == 0)
        #expect(printed.contains("First        June 16, 2025\n"))
    }

    @Test("An empty journal lists nothing, and is not made by reading it")
    func empty() {
        for (command, expected) in [("list", ""), ("stats", "No entries.\n")] {
            #expect(run(command) == 0)
            #expect(printed == expected)
        }
        #expect(run("search", "word") == 0)
        #expect(printed == "" && reported == "")
        #expect(!container.fileAccess.exists(URL(filePath: path)))
    }

    @Test("Searching finds a word in capitals or not, and nothing else")
    func search() {
        for text in ["Straße", "A STREET", "street life"] { #expect(run("add", text) == 0) }
        #expect(run("search", "Street") == 0)
        #expect(printed == "2025-06-15 15:06:40  A STREET\n2025-06-15 15:06:40  street life\n")
        #expect(run("search", ".*") == 0)
        #expect(printed == "")
    }

    @Test("The statistics count words and days, and of equally busy days name the first")
    func statistics() {
        container.locale = Locale(identifier: "en_US")
        for (day, text) in [(2, "one two"), (1, "three"), (1, "four\nfive  six"), (2, "seven")] {
            container.date = .constant(Date(timeIntervalSince1970: Double(day) * 86_400))
            #expect(run("add", text) == 0)
        }
        #expect(run("stats") == 0)
        #expect(
            printed == """
                Entries      4
                Words        7
                Days         2
                First        January 2, 1970
                Last         January 3, 1970
                Busiest day  January 2, 1970 (2)

                """)
    }

    @Test("Lines of any damage are told from entries, with their numbers; blank lines are passed over")
    func damage() throws {
        let entry =
            #"{"date":"2025-01-01T00:00:00Z","id":"00000000-0000-0000-0000-000000000000","text":"t","more":[1]}"#
        var content = Data("\(entry)\r\n\n \t\r\n[1]\n\(entry)\n\"text\"\n".utf8)
        content += [0xFF, 0xFE, 0x0A]
        content += Data("\(entry.replacing("\"t\"", with: "5"))\n\(entry)\(entry)\n\(entry)".utf8)
        container.fileAccess = .inMemory([path: content])
        #expect(run("list") == 65)
        #expect(printed == String(repeating: "2025-01-01 00:00:00  t\n", count: 3))
        #expect(
            reported == """
                Journal: \(path):4: not an entry: not a JSON object
                Journal: \(path):6: not an entry: not a JSON object
                Journal: \(path):7: not an entry: not valid JSON
                Journal: \(path):8: not an entry: "text" has a wrong value
                Journal: \(path):9: not an entry: not valid JSON

                """)
        #expect(run("add", "new") == 0)
        let now = try container.fileAccess.load(URL(filePath: path))
        #expect(now.starts(with: content + [0x0A]))
        #expect(run("list") == 65)
        #expect(printed.hasSuffix("  t\n2025-06-15 15:06:40  new\n"))
    }

    @Test("A file that cannot be read or written is reported, and exits with 1")
    func failures() {
        container.fileAccess = .inMemory.failing(.append)
        #expect(run("add", "text") == 1)
        #expect(reported == "Journal: cannot append to \(path): Permission denied\n")
        #expect(printed == "")

        let other = JournalTests(in: container.child())
        other.container.fileAccess = .inMemory.failing(.load)
        for command in [["list"], ["stats"], ["search", "x"], ["add", "x"]] {
            #expect(other.run(command) == 1)
            #expect(other.printed == "")
            #expect(other.reported == "Journal: cannot load \(path): Permission denied\n")
        }
    }

    @Test("An output that is gone is reported, and exits with 1")
    func brokenOutput() {
        struct Gone: Error {}
        container.console = Console(write: { _ in throw Gone() }, report: container.console.report)
        #expect(run("list") == 1)
        #expect(reported == "Journal: Gone()\n")
    }

    @Test("The journal reaches nothing but what a test swaps, and fails by name where one is forgotten (law 29)")
    func strict() throws {
        for feature in ["Console", "FileAccess", "Timestamp", "UUIDGenerator"] {
            let journal = JournalTests(in: .strict { $0.useStandardDoubles() })
            switch feature {
            case "Console": journal.container.reset(Console.self)
            case "FileAccess": journal.container.reset(FileAccess.self)
            case "Timestamp": journal.container.reset(Timestamp.self)
            default: journal.container.reset(UUIDGenerator.self)
            }
            withKnownIssue {
                // What nobody implemented and can throw, throws.
                #expect(journal.run("add", "text") == (feature == "Console" ? 1 : 0))
            } matching: { issue in
                let text = issue.comments.first?.rawValue ?? ""
                return text.hasPrefix("Fugu: \(feature) reaches outside")
                    && text.hasSuffix("Container.strict { $0[\(feature).self] = … }")
                    || text.hasPrefix("Fugu: Console.") && text.contains("was called")
            }
        }
    }

    @Test("Help goes to standard output and exits with 0", arguments: ["help", "--help"])
    func help(argument: String) {
        #expect(run(argument) == 0)
        #expect(printed == Request.usage)
        #expect(reported == "")
    }

    @Test("Options may stand anywhere before --")
    func options() throws {
        let request = try Request(["--frozen", "add", "--file=/a b", "x", "--", "--file", "y"])
        #expect(request.command == .add("x --file y"))
        #expect(request.file == "/a b")
        #expect(request.isFrozen)
        for arguments in [
            ["add", " "], ["search"], ["list", "x"], ["stats", "x"], ["add", "x", "--file="], ["--frozen"],
        ] {
            #expect(throws: UsageError.self) { try Request(arguments) }
        }
    }
}
