import Foundation
import Testing

/// The page that shows the rows.
@Suite struct PageTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../..")

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    @Test("All code that the table of the page shows stands in a row, where it is compiled and run")
    func cells() throws {
        let page = try Self.text("Sources/FuguConfiguration/FuguConfiguration.docc/ComingFromSwiftConfiguration.md")
        let rows = try Self.text("Examples/ComingFromSwiftConfiguration/Tests/RowsTests/Rows.swift")
        let lines = page.split(separator: "\n").filter { $0.hasPrefix("| `") }
        #expect(lines.count > 20)
        for line in lines {
            for code in line.matches(of: /`(?<code>[^`]+)`/) {
                let pieces = code.output.code.split(separator: "…").map { $0.trimmingCharacters(in: .whitespaces) }
                #expect(pieces.allSatisfy { rows.contains($0) }, "no row has: \(code.output.code)")
            }
        }
    }
}
