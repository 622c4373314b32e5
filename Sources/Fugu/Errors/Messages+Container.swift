/// Helpers for text that explanations need, too.
package enum GraphWords {
    /// Returns `a`, `a and b`, or `a, b, and c`; a long list is cut, followed by the number of the other names.
    package static func list(_ names: [String]) -> String {
        let shown = names.count > 13 ? names.prefix(12) + ["\(names.count - 12) more"] : names[...]
        guard let last = shown.last, shown.count > 1 else { return names.first ?? "" }
        if shown.count == 2 { return "\(shown[0]) and \(last)" }
        return shown.dropLast().joined(separator: ", ") + ", and " + last
    }

    /// Returns a text in one line, so that it's one entry of a log, whatever names it contains.
    package static func line(_ text: String) -> String {
        String(text.map { $0.isNewline ? " " : $0 })
    }
}

// Names of containers in graphs.
extension Messages {
    /// Returns the name of a container in a graph.
    static func boxName(_ number: Int) -> String { number == 0 ? "root" : "container \(number)" }
}

/// A summary of a container for descriptions.
typealias ContainerSummary = (
    name: String, childCount: Int, isClosed: Bool, setCount: Int, loadedCount: Int
)

/// How a container was made.
package enum ContainerOrigin: Sendable {
    case root, child, with, withChild
    /// One of several that others get by a key or path, with what to do to close it, if that isn't `close()`.
    case keyed(fix: String?)

    var isKeyed: Bool { if case .keyed = self { true } else { false } }
}

/// How a container was made, and where.
typealias Making = (way: ContainerOrigin, place: SourcePlace)

// Texts for debuggers.
extension Messages {
    static let endedName = "a released container"
    static func handleName(_ feature: String) -> String { "handle of \(feature) in " }

    static func container(_ summary: ContainerSummary) -> String {
        var counts = ["\(summary.setCount) set", "\(summary.loadedCount) loaded"]
        if summary.childCount > 0 {
            counts.append("\(summary.childCount) \(summary.childCount == 1 ? "child" : "children")")
        }
        if summary.isClosed { counts.append("closed") }
        return GraphWords.line("Container(\(summary.name): \(counts.joined(separator: ", ")))")
    }
}
