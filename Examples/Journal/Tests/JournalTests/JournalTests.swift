import Foundation
import Fugu
import FuguFoundation
import FuguTesting
import Synchronization
import Testing

@testable import Journal

/// The journal with everything outside replaced: files in memory, a fixed date, a console that is kept.
@Suite(.container { $0.useStandardDoubles(startingAt: Date(timeIntervalSince1970: 1_750_000_000)) }) struct JournalTests
{
    private let container: Container
    private let output = Text()
    private let errors = Text()
    private let path = "/home/ada/.local/share/Journal/journal.jsonl"

    init() { self.init(in: .current) }

    private init(in container: Container) {
        self.container = container
        container.environment = ["HOME": "/home/ada", "XDG_DATA_HOME": "/home/ada/.local/share"]
        container.console = Console(
            write: { [output] in output.add($0) },
            report: { [errors] in errors.add($0) })
    }

    private func run(_ arguments: String...) async -> Int32 { await run(arguments) }

    private func run(_ arguments: [String]) async -> Int32 {
        output.clear()
        errors.clear()
        // A program closes its container; each call here is a separate program.
        return await Program(container: Container(copying: container)).run(arguments)
    }

    private var printed: String { output.value }
    private var reported: String { errors.value }

    @Test("An added entry is listed, with the date and id of the container")
    func addAndList() async throws {
        #expect(await run("add", "hello", "world") == 0)
        #expect(printed == "Added 00000000-0000-0000-0000-000000000000\n")
        #expect(await run("add", "--", "--frozen") == 0)
        #expect(printed == "Added 00000000-0000-0000-0000-000000000001\n")
        #expect(await run("list") == 0)
        #expect(printed == "2025-06-15 15:06:40  hello world\n2025-06-15 15:06:40  --frozen\n")
        #expect(reported == "")
        let content = String(decoding: try container.fileAccess.load(URL(filePath: path)), as: UTF8.self)
        #expect(
            content.hasPrefix(
                #"{"date":"2025-06-15T15:06:40Z","id":"00000000-0000-0000-0000-000000000000","text":"hello world"}"#))
    }

    @Test("Dates are shown in the time zone of the container")
    func timeZone() async throws {
        container.timeZone = try #require(TimeZone(identifier: "Asia/Tokyo"))
        #expect(await run("add", "late") == 0)
        #expect(await run("list") == 0)
        #expect(printed == "2025-06-16 00:06:40  late\n")
        #expect(await run("stats") == 0)
        #expect(printed.contains("First        June 16, 2025\n"))
    }

    @Test("An empty journal lists nothing, and is not made by reading it")
    func empty() async {
        for (command, expected) in [("list", ""), ("stats", "No entries.\n")] {
            #expect(await run(command) == 0)
            #expect(printed == expected)
        }
        #expect(await run("search", "word") == 0)
        #expect(printed == "" && reported == "")
        #expect(!container.fileAccess.exists(URL(filePath: path)))
    }

    @Test("Searching finds a word in capitals or not, and nothing else")
    func search() async {
        for text in ["Straße", "A STREET", "street life"] { #expect(await run("add", text) == 0) }
        #expect(await run("search", "Street") == 0)
        #expect(printed == "2025-06-15 15:06:40  A STREET\n2025-06-15 15:06:40  street life\n")
        #expect(await run("search", ".*") == 0)
        #expect(printed == "")
    }

    @Test("The statistics count words and days, and of equally busy days name the first")
    func statistics() async {
        container.locale = Locale(identifier: "en_US")
        for (day, text) in [(2, "one two"), (1, "three"), (1, "four\nfive  six"), (2, "seven")] {
            container.date = .constant(Date(timeIntervalSince1970: Double(day) * 86_400))
            #expect(await run("add", text) == 0)
        }
        #expect(await run("stats") == 0)
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

    @Test("Damaged lines are reported with their numbers, and blank lines are skipped")
    func damage() async throws {
        let entry =
            #"{"date":"2025-01-01T00:00:00Z","id":"00000000-0000-0000-0000-000000000000","text":"t","more":[1]}"#
        var content = Data("\(entry)\r\n\n \t\r\n[1]\n\(entry)\n\"text\"\n".utf8)
        content += [0xFF, 0xFE, 0x0A]
        content += Data("\(entry.replacing("\"t\"", with: "5"))\n\(entry)\(entry)\n\(entry)".utf8)
        container.fileAccess = .inMemory([path: content])
        #expect(await run("list") == 65)
        #expect(printed == String(repeating: "2025-01-01 00:00:00  t\n", count: 3))
        #expect(
            reported == """
                Journal: \(path):4: not an entry: not a JSON object
                Journal: \(path):6: not an entry: not a JSON object
                Journal: \(path):7: not an entry: not valid JSON
                Journal: \(path):8: not an entry: "text" has a wrong value
                Journal: \(path):9: not an entry: not valid JSON

                """)
        #expect(await run("add", "new") == 0)
        let now = try container.fileAccess.load(URL(filePath: path))
        #expect(now.starts(with: content + [0x0A]))
        #expect(await run("list") == 65)
        #expect(printed.hasSuffix("  t\n2025-06-15 15:06:40  new\n"))
    }

    @Test("A file that cannot be read or written is reported, and exits with 1")
    func failures() async {
        container.fileAccess = .inMemory.failing(.append)
        #expect(await run("add", "text") == 1)
        #expect(reported == "Journal: can't append to \(path): Permission denied\n")
        #expect(printed == "")

        let other = JournalTests(in: container.child())
        other.container.fileAccess = .inMemory.failing(.load)
        for command in [["list"], ["stats"], ["search", "x"], ["add", "x"]] {
            #expect(await other.run(command) == 1)
            #expect(other.printed == "")
            #expect(other.reported == "Journal: can't load \(path): Permission denied\n")
        }
    }

    @Test("An output that is gone is reported, and exits with 1")
    func brokenOutput() async {
        struct Gone: Error {}
        container.console = Console(write: { _ in throw Gone() }, report: container.console.report)
        #expect(await run("list") == 1)
        #expect(reported == "Journal: Gone()\n")
    }

    @Test("The journal reaches only what a test sets, and names the one that a test forgot (law 19)")
    func strict() async throws {
        for feature in ["Console", "\\.fileAccess", "\\.date", "\\.uuid"] {
            let journal = JournalTests(in: .strict { $0.useStandardDoubles() })
            switch feature {
            case "Console": journal.container.reset(Console.self)
            case "\\.fileAccess": journal.container.reset(\.fileAccess)
            case "\\.date": journal.container.reset(\.date)
            default: journal.container.reset(\.uuid)
            }
            await withKnownIssue {
                // An unimplemented closure that can throw does.
                #expect(await journal.run("add", "text") == (feature == "Console" ? 1 : 0))
            } matching: { issue in
                let access = feature == "Console" ? "[Console.self]" : String(feature.dropFirst())
                let text = issue.comments.first?.rawValue ?? ""
                return text.hasPrefix("Fugu: \(feature) reaches outside")
                    && text.contains("Container.strict { $0\(access) = ")
                    || text.hasPrefix("Fugu: Console.") && text.contains("was called")
            }
        }
    }

    @Test("Help goes to standard output and exits with 0", arguments: ["help", "--help"])
    func help(argument: String) async {
        #expect(await run(argument) == 0)
        #expect(printed.contains("USAGE: Journal <subcommand>"))
        #expect(reported == "")
    }

    @Test("An import adds each line, shows how far it is on a terminal, and shows the cursor again")
    func importing() async throws {
        container.console.reportsToTerminal = true
        let lines = (1...250).map { "line \($0)\n" }.joined()
        try container.fileAccess.save(Data(lines.utf8), to: URL(filePath: "/source.txt"))
        #expect(await run("import", "/source.txt") == 0)
        #expect(printed == "Added 250 entries\n")
        #expect(reported.hasPrefix("\u{1B}[?25l\r"))
        #expect(reported.contains(" 40 % of 250") && reported.contains(" 100 % of 250"))
        #expect(reported.hasSuffix("\r\u{1B}[K\u{1B}[?25h"))
        #expect(await run("list") == 0)
        #expect(printed.split(separator: "\n").count == 250)
        #expect(printed.hasSuffix("  line 250\n"))
    }

    @Test("A cancelled import keeps what it has added, closes everything and exits with 130")
    func cancelled() async throws {
        container.console.reportsToTerminal = true
        let lines = String(repeating: "line\n", count: 1000)
        try container.fileAccess.save(Data(lines.utf8), to: URL(filePath: "/source.txt"))
        let report = container.console.report
        container.console.report = { text in
            report(text)
            if text.contains(" 50 %") { withUnsafeCurrentTask { $0?.cancel() } }
        }
        #expect(await Task { await run("import", "/source.txt") }.value == 130)
        #expect(try container.fileAccess.load(URL(filePath: path)).filter { $0 == UInt8(ascii: "\n") }.count == 500)
        #expect(reported.hasSuffix("\u{1B}[?25h"))
        #expect(reported.contains("Journal: stopped\n"))
    }
}

/// The output.
private final class Text: Sendable {
    private let text = Mutex("")

    var value: String { text.withLock { $0 } }
    func add(_ more: String) { text.withLock { $0 += more } }
    func clear() { text.withLock { $0 = "" } }
}
