import Foundation

/// A text, line by line.
struct SourceText {
    let lines: [String]

    init(at path: String) throws {
        lines = try String(contentsOfFile: path, encoding: .utf8).split(
            separator: "\n", omittingEmptySubsequences: false
        )
        .map(String.init)
    }

    /// The numbers, from 1, of the lines at which a snippet that runs begins.
    var beginningsOfSnippets: [Int] {
        lines.indices.filter { lines[$0].hasSuffix("await run {") }.map { $0 + 1 }
    }

    /// The lines within the closure whose brace opens line `number`, found by its indentation.
    func lines(ofClosureBeginningAt number: Int) -> ArraySlice<String> {
        let indentation = lines[number - 1].prefix { $0 == " " }
        let body = lines[number...]
        let end = body.firstIndex { $0.hasPrefix(indentation + "}") } ?? body.endIndex
        return body[..<end]
    }

    /// The output that a line promises: the comment behind its code, if there is one.
    static func output(of line: String) -> String? {
        guard let comment = line.range(of: " // "), !line[..<comment.lowerBound].allSatisfy({ $0 == " " }) else {
            return nil
        }
        return String(line[comment.upperBound...])
    }

    /// The lines to compare: those that aren't empty, with single spaces.
    static func normalized(_ lines: some Sequence<String>) -> [String] {
        lines.map { $0.split(whereSeparator: \.isWhitespace).joined(separator: " ") }.filter { !$0.isEmpty }
    }
}

extension Array where Element: Equatable {
    func contains(inARow other: [Element]) -> Bool {
        guard !other.isEmpty, other.count <= count else { return false }
        return (0...(count - other.count)).contains { Array(self[$0..<$0 + other.count]) == other }
    }
}
