import Foundation
import Testing

@Suite("Troubleshooting explains every message") struct TroubleshootingTests {
    /// A file with messages, and the page that explains them.
    struct Explained: Sendable, CustomStringConvertible {
        /// The parts that the page must have.
        enum Demand { case beginningOfEveryText, beginningOfEveryMessage }

        let file: String
        let page: String
        let demand: Demand

        var description: String { file }

        private static let troubleshooting = "Sources/Fugu/Fugu.docc/Troubleshooting.md"
        private static let configuration =
            "Sources/FuguConfiguration/FuguConfiguration.docc/ConfigurationErrors.md"

        static let all = [
            Explained(
                file: "Sources/Fugu/Errors/Messages.swift", page: troubleshooting, demand: .beginningOfEveryMessage),
            Explained(
                file: "Sources/FuguTesting/Messages.swift", page: troubleshooting, demand: .beginningOfEveryMessage),
            Explained(
                file: "Sources/FuguKeyedChildren/Messages.swift", page: troubleshooting,
                demand: .beginningOfEveryMessage),
            Explained(
                file: "Sources/FuguFoundation/Messages.swift", page: troubleshooting, demand: .beginningOfEveryText),
            Explained(
                file: "Sources/FuguConfiguration/Errors/ErrorText.swift", page: configuration,
                demand: .beginningOfEveryText),
        ]

        /// Files whose texts explain themselves: they answer a question, or say what is wrong with a text and where.
        static let selfExplanatory = [
            "Sources/Fugu/Errors/Messages+Container.swift", "Sources/FuguInspection/Messages.swift",
            "Sources/FuguFoundationSources/Messages.swift", "Sources/FuguConfiguration/Errors/SyntaxText.swift",
        ]

        /// The texts that the page has to explain.
        func messages() throws -> [String] {
            let shapes = MessageShapes(source: try SourceText(at: Page.root.appending(path: file).path).lines).shapes
            return shapes.map(Self.plain).filter { message in
                // Events, descriptions, and advice explain themselves; shorter pieces are conjunctions and punctuation.
                demand == .beginningOfEveryMessage ? message.hasPrefix("Fugu: ") : message.filter(\.isLetter).count > 7
            }
        }

        /// Whether a page explains a message.
        func explains(_ message: String, on page: String) -> Bool {
            page.contains("`\(message)`") || Self.hasBeginning(of: message, on: page)
        }

        /// Whether a piece of code on a page is the beginning of a message, with enough letters to be found by it.
        static func hasBeginning(of message: some StringProtocol, on page: String) -> Bool {
            page.replacing("``", with: "").matches(of: /`([^`]+)`/).contains {
                $0.1.filter(\.isLetter).count > 15 && message.hasPrefix($0.1)
            }
        }

        static func plain(_ text: String) -> String {
            text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        }
    }

    @Test("Every file with messages is among those that are checked")
    func files() throws {
        let known = Set(Explained.all.map(\.file) + Explained.selfExplanatory)
        let sources = Page.root.appending(path: "Sources")
        for file in FileManager.default.enumerator(atPath: sources.path)!.compactMap({ $0 as? String })
        where file.hasSuffix(".swift") {
            let lines = try SourceText(at: sources.appending(path: file).path).lines
            let hasMessages = lines.contains { line in
                ["enum", "extension"].contains { kind in
                    ["Messages", "ErrorText", "SyntaxProblem"].contains { line.hasPrefix("\(kind) \($0) {") }
                }
            }
            guard hasMessages else { continue }
            #expect(known.contains("Sources/\(file)"), "no page explains the messages of Sources/\(file)")
        }
    }

    private func text(of page: String) throws -> String {
        Explained.plain(try String(contentsOf: Page.root.appending(path: page), encoding: .utf8))
    }

    @Test("Every message is explained on its page", arguments: Explained.all)
    func messages(explained: Explained) throws {
        let page = try text(of: explained.page)
        let messages = try explained.messages()
        #expect(!messages.isEmpty)
        // The text for a case that can't occur.
        for message in messages where message != "every problem has a text" {
            #expect(explained.explains(message, on: page), "\(explained.page) does not have `\(message)`")
        }
    }

    @Test("Every message of the compiler in Tests/Tools/Mistakes is explained")
    func compiler() throws {
        let page = try text(of: "Sources/Fugu/Fugu.docc/Troubleshooting.md")
        let file = Page.root.appending(path: "Tests/Tools/Mistakes/Mistakes.swift")
        let firsts = try SourceText(at: file.path).lines.compactMap { line in
            line.firstMatch(of: /^\/\/ compiler: error: (.*?)( \[#\w+\])?$/)?.1
        }
        #expect(firsts.count > 40)
        for message in firsts {
            // Messages of Fugu's unavailable declarations name the cure themselves.
            if message.contains(" is unavailable: ") { continue }
            #expect(Explained.hasBeginning(of: message, on: page), "the page does not have `\(message)`")
        }
    }
}
