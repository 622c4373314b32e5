import Foundation

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
