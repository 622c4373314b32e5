/// The texts of every error that is not one of syntax.
enum ErrorText {
    static let nestedTooDeep = "nested deeper than \(NodeStore.depthLimit) levels"
    static let notATableAtTop = "a configuration file must hold an object at its top"

    static func mismatch(expected: String, found: String) -> String { "expected \(expected), found \(found)" }

    static func masked(expected: String?) -> String {
        expected.map { "expected \($0), found something else" } ?? "the value is not accepted"
    }

    static func refused(by type: String) -> String { "the value is not accepted by \(type)" }

    static func unknownName(suggestion: String?) -> String {
        "unknown name" + (suggestion.map { "; did you mean \($0)?" } ?? "")
    }

    static func givenTwice(firstLine: Int?) -> String {
        "the name is given twice, dotted and nested" + (firstLine.map { "; the first is on line \($0)" } ?? "")
    }

    static func argumentWithoutName() -> String { "an argument begins with --= and so has no name" }

    static func cycle(_ way: [String]) -> String {
        "an instance leads back to itself (\(way.joined(separator: " → "))); break the circle or leave it out"
    }

    static func notConfiguration(_ type: String) -> String {
        "\(type) has no form as a configuration value; use numbers, strings, arrays, dictionaries and structs of them"
    }

    static func integerOutOfRange(_ type: String) -> String { "the \(type) lies outside of Int64" }

    static func unreadable(_ problem: String) -> String { "cannot be read: \(problem)" }

    static func required(sources: [String]) -> String {
        "a value is required, but neither code nor "
            + (sources.isEmpty
                ? "any source gives one; none is applied" : sources.joined(separator: ", ") + " gives one")
    }

    static func source(_ snapshot: PropertySnapshot) -> String {
        snapshot.source + (snapshot.isMissing ? " (optional, and not there)" : "")
    }

    static func notReloaded(_ errors: String) -> String {
        "Fugu: the sources have changed and could not be reloaded; the last good values stay:\n" + errors
    }
}
