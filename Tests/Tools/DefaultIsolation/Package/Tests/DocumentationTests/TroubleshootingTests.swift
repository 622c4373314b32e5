import Foundation
import Testing

@Suite("Troubleshooting explains every message that has no fix") struct TroubleshootingTests {
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
                file: "Sources/FuguScopes/Messages.swift", page: troubleshooting, demand: .beginningOfEveryMessage),
            Explained(
                file: "Sources/FuguFoundation/Messages.swift", page: troubleshooting, demand: .beginningOfEveryText),
            Explained(
                file: "Sources/FuguConfiguration/Errors/ErrorText.swift", page: configuration,
                demand: .beginningOfEveryText),
        ]

        /// Files whose texts explain themselves: they answer a question, or say what is wrong with a text and where.
        static let selfExplanatory = [
            "Sources/Fugu/Errors/Messages+Container.swift", "Sources/FuguInspection/Messages.swift",
            "Sources/FuguFoundationSources/Messages.swift", "Sources/FuguConfiguration/Errors/SyntaxProblem.swift",
        ]

        /// The texts that the page has to explain.
        func messages() throws -> [String] {
            let shapes = MessageShapes(source: try SourceText(at: Page.root.appending(path: file).path).lines).shapes
            #expect(!shapes.isEmpty)
            return shapes.map(Self.plain).filter { message in
                // A message that says what to do explains itself; an error in a line says it after a semicolon.
                if message.contains("Fix: ") || message.contains("; ") { return false }
                // Events, descriptions, and advice do, too; shorter pieces are conjunctions and punctuation.
                return demand == .beginningOfEveryMessage
                    ? message.hasPrefix("Fugu: ") : message.filter(\.isLetter).count > 7
            }
        }

        /// Whether a page explains a message.
        func explains(_ message: String, on page: String) -> Bool {
            page.contains("`\(message)`") || Self.hasBeginning(of: message[...], on: page)
        }

        /// Whether a piece of code on a page is the beginning of a message, with enough letters to be found by it.
        static func hasBeginning(of message: Substring, on page: String) -> Bool {
            page.replacing("``", with: "").matches(of: /`([^`]+)`/).contains {
                $0.1.filter(\.isLetter).count > 15 && begins(message, with: $0.1)
            }
        }

        /// Whether a text begins with a piece in which `…` stands for anything.
        private static func begins(_ text: Substring, with piece: Substring) -> Bool {
            var parts = piece.split(separator: "…", omittingEmptySubsequences: false)[...]
            guard let first = parts.popFirst(), text.hasPrefix(first) else { return false }
            var rest = text.dropFirst(first.count)
            for part in parts where !part.isEmpty {
                guard let found = rest.firstRange(of: part) else { return false }
                rest = rest[found.upperBound...]
            }
            return true
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

    @Test("Every message that has no fix is explained on its page", arguments: Explained.all)
    func messages(explained: Explained) throws {
        let page = try text(of: explained.page)
        let messages = try explained.messages()
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
