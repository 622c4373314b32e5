import Foundation
import Testing

/// The pages for people who come from another library have a table each, whose rows are compiled: a comment such as
/// ``// | `testValue` |`` names a row, and the code below it, up to the next such comment, is Fugu's side.
@Suite("The tables of other libraries' idioms compile") struct RowsTests {
    static let pages =
        ["SwiftDependencies", "Factory", "Swinject", "SwiftUIEnvironment", "Current"].map {
            Page(description: "Sources/Fugu/Fugu.docc/ComingFrom\($0).md")
        } + [Page(description: "Sources/FuguConfiguration/FuguConfiguration.docc/ComingFromSwiftConfiguration.md")]

    /// The code of each row that is named in this folder, or beside the tests of property lists, with the imports of its file.
    private static func blocks() throws -> [String: String] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        let files = FileManager.default.enumerator(atPath: folder.path)!.compactMap { $0 as? String }.sorted()
        var blocks: [String: String] = [:]
        let rows = Page.root.appending(path: "Tests/FuguFoundationTests/SwiftConfigurationRows.swift")
        for url in files.map({ folder.appending(path: $0) }) + [rows] where url.pathExtension == "swift" {
            let lines = try SourceText(at: url.path).lines
            let imports = lines.filter { $0.contains("import ") }
            var names: [String] = []
            var hasCode = false
            for line in lines {
                if let name = line.firstMatch(of: /^ *\/\/ \| (.+) \|$/)?.1 {
                    names = hasCode ? [String(name)] : names + [String(name)]
                    hasCode = false
                    for name in names where blocks[name] == nil { blocks[name] = plain(imports) }
                } else {
                    for name in names { blocks[name]! += " " + plain([line]) }
                    hasCode = hasCode || !line.allSatisfy(\.isWhitespace)
                }
            }
        }
        return blocks
    }

    private static func plain(_ lines: [String]) -> String { SourceText.normalized(lines).joined(separator: " ") }

    /// The pieces of code that a cell of a table shows.
    private static func pieces(of cell: Substring) -> [String] {
        let symbols = cell.matches(of: /``(?<path>[^`]+)``/).map { match in
            String(match.path.split(separator: "/").last!.prefix { $0 != "(" })
        }
        let code = cell.replacing(/``[^`]+``/, with: "").matches(of: /`(?<code>[^`]+)`/).flatMap { match in
            match.code.replacing(/^(?<name>\w+\(\w+):\)$/) { "\($0.name)" }.split(separator: "…")
                .map { $0.trimmingCharacters(in: .whitespaces) }
        }
        return symbols + code.filter { !$0.isEmpty }
    }

    @Test("Every row that has a counterpart names code that compiles and shows it", arguments: pages)
    func rows(page: Page) throws {
        let blocks = try Self.blocks()
        let lines = try String(contentsOf: page.url, encoding: .utf8).split(separator: "\n")
        let rows = lines.filter { $0.hasPrefix("| ") }.dropFirst(2).map { line in
            let cells = line.dropFirst(2).dropLast(2).split(separator: " | ", maxSplits: 1)
            return (theirs: String(cells[0]), ours: cells[1])
        }
        #expect(rows.count > 14)
        for row in rows where !row.ours.hasPrefix("none") && !row.ours.hasPrefix("not needed") {
            guard let code = blocks[row.theirs] else {
                Issue.record("no code is named: // | \(row.theirs) |")
                continue
            }
            for piece in Self.pieces(of: row.ours) {
                #expect(code.contains(piece), "the code of \(row.theirs) does not have \(piece)")
            }
        }
    }

    @Test("Every name of a row is that of a row of some page")
    func names() throws {
        let text = try Self.pages.map { try String(contentsOf: $0.url, encoding: .utf8) }.joined(separator: "\n")
        let blocks = try Self.blocks()
        #expect(blocks.count > 60)
        for name in blocks.keys { #expect(text.contains("\n| \(name) | "), "no page has the row \(name)") }
    }
}
