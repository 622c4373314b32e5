/// The texts of every error and report of this module that is not one of syntax; for those see `SyntaxText.swift`.
///
/// What a source or a user wrote comes in only through a parameter, and leaves through ``Quoted``.
enum ErrorText {
    // MARK: Values

    static let nestedTooDeep = "nested deeper than \(NodeStore.depthLimit) levels"
    static let noStackLeft = "nested too deep for what is left of this thread's stack"

    static func mismatch(expected: String, found: String) -> String { "expected \(expected), found \(found)" }

    static func missing(expected: String, similar: String?) -> String {
        "missing; expected \(expected)"
            + (similar.map { "; there is \(Quoted.name($0)): is that what it should be?" } ?? "")
    }

    static func masked(expected: String?) -> String {
        expected.map { "expected \($0), found something else" } ?? "the value is not accepted"
    }

    static func oneCase(of type: String) -> String { "one case of \(type)" }

    static func given(times: Int) -> String { "\(times) values, since the argument is given \(times) times" }

    static func needsValue(_ spelling: String, expected: String) -> String {
        "needs a value; expected \(expected), as in \(spelling)=…"
    }

    // MARK: Names

    static func unknownName(suggestion: String?) -> String {
        "unknown name" + (suggestion.map { "; did you mean \($0)?" } ?? "")
    }

    static func expectedTable(members: [String], found: String) -> String {
        let shown = members.prefix(4).joined(separator: ", ") + (members.count > 4 ? ", …" : "")
        return mismatch(expected: "a table (\(shown))", found: found)
    }

    static let unknownMember = "the table holds a name that its type does not know"

    static func givenTwice(firstLine: Int?) -> String {
        "the name is given twice, dotted and nested" + (firstLine.map { "; the first is on line \($0)" } ?? "")
    }

    static func insideTable(_ table: String) -> String {
        "nothing reads it: \(table) is read as a whole, and the environment holds no tables; set it in a file, or read this "
            + "name by a key of its own"
    }

    static func swallowedByFlag(after spelling: String) -> String {
        "unknown name; if it is the value of \(spelling), write \(spelling)=…"
    }

    static let argumentWithoutName = "an argument begins with --= and so has no name"

    // MARK: Sources

    static let notATableAtTop = "a configuration file must hold an object at its top"

    static func unreadable(_ problem: String) -> String { "cannot be read: \(problem)" }

    static let noSuchFile = "there is no such file"
    static let noDirectory = "a part of the path is no directory"
    static let noPermission = "permission denied"
    static let isDirectory = "it is a directory"
    static let notRegular = "it is a pipe or a device and no file"
    static let zeroInPath = "the path has a zero character in it"
    static let tooLargeFile = "it is larger than \(NodeStore.sizeLimit >> 20) MB"

    static let notText = "cannot be read: it is no UTF-8 text"

    static func sameName(as other: String) -> String { "has the name that \(other) has, in another spelling" }

    static func cycle(_ way: [String]) -> String {
        "an instance leads back to itself (\(way.joined(separator: " → "))); break the circle or leave it out"
    }

    static func notConfiguration(_ type: String) -> String {
        "\(type) has no form as a configuration value; use numbers, strings, arrays, dictionaries and structs of them"
    }

    static func integerOutOfRange(_ type: String) -> String { "the \(type) lies outside of Int64" }

    // MARK: Containers

    /// - `sources`: What was asked.
    /// - `places`: Where the value could be written, such as `APP_URL`.
    static func required(sources: [String], places: [String]) -> String {
        guard !sources.isEmpty else {
            return "a value is required, but neither code nor any source gives one; none is applied"
        }
        return "a value is required, but neither code nor \(sources.joined(separator: " nor ")) gives one"
            + (places.isEmpty ? "" : "; set " + places.joined(separator: " or "))
    }

    static func source(_ snapshot: PropertySnapshot) -> String {
        Quoted.line(snapshot.source) + (snapshot.isMissing ? " (optional, and not there)" : "")
    }

    static func notReloaded(_ errors: String) -> String {
        "Fugu: the sources have changed and could not be reloaded; the last good values stay:\n" + errors
    }
}
