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

/// Reads the messages out of a source file: its string literals, those that `+` joins as one, with `…` for what is interpolated.
struct MessageShapes {
    private var text: Substring
    private(set) var shapes: [String] = []

    init(source: [String]) {
        let code = source.filter { !$0.drop { $0 == " " }.hasPrefix("//") }.joined(separator: "\n")
        text = Substring(code)
        while let quote = text.firstIndex(of: "\"") {
            text = text[quote...]
            shapes.append(chain().replacing(/…+/, with: "…"))
        }
    }

    /// The literal at the beginning of the text with those that are added to it.
    private mutating func chain() -> String {
        var shape = literal()
        while let next = text.prefixMatch(of: /\s*\+\s*(?=")/) {
            text = text[next.range.upperBound...]
            shape += literal()
        }
        return shape
    }

    private mutating func literal() -> String {
        var shape = ""
        text.removeFirst()
        while let character = text.popFirst(), character != "\"" {
            guard character == "\\", let escaped = text.popFirst() else {
                shape.append(character)
                continue
            }
            switch escaped {
            case "(":
                skipInterpolation()
                shape += "…"
            case "n": shape += "\n"
            default: shape.append(escaped)
            }
        }
        return shape
    }

    private mutating func skipInterpolation() {
        var depth = 1
        while depth > 0, let character = text.first {
            if character == "\"" {
                _ = literal()
                continue
            }
            text.removeFirst()
            if character == "(" { depth += 1 } else if character == ")" { depth -= 1 }
        }
    }
}
