/// The value of a key, its origin, and what it hides.
///
/// Its description reads like this:
///
/// ```text
/// api.timeout = 5 (/srv/app/config.toml:3:11)
///   hides 10 (environment variable APP_API_TIMEOUT)
/// ```
public struct Explanation: Sendable, Hashable, CustomStringConvertible {
    /// The origin of a value.
    public enum Origin: Sendable, Hashable, CustomStringConvertible {
        /// Code set the value.
        case code
        /// A rule set the value for a scope.
        case rule
        /// A source has the value.
        case source(PropertyOrigin)
        /// Nothing gives a value, so the default applies.
        case defaultValue
        /// Nothing gives a value, although one is required.
        case missing

        /// A description of the origin; for a file, its path, line, and column.
        public var description: String {
            switch self {
            case .code: "set by code"
            case .rule: "set by a rule"
            case .source(let origin): origin.description
            case .defaultValue: "default"
            case .missing: "required"
            }
        }
    }

    /// A value with its origin.
    public struct Entry: Sendable, Hashable, CustomStringConvertible {
        /// The value as text, or `nil` if it's a secret.
        public let value: String?
        /// The origin of the value.
        public let origin: Origin

        /// The value, or a note that it's a secret, and its origin.
        public var description: String { "\(value ?? "(secret)") (\(origin))" }
    }

    /// The key's name, or if it has none, its name in messages.
    public let name: String
    /// The value that a read gives.
    public let winner: Entry
    /// The values that it hides, in the order of precedence; for merged tables, there are none.
    public let hidden: [Entry]
    /// The reason why the value of a source isn't used, if that is so.
    public let mistake: PropertyError?

    /// A member of a table that is merged from several sources.
    package struct Member: Sendable, Hashable, CustomStringConvertible {
        /// The dotted name within the table.
        package let name: String
        /// The place of its value.
        package let origin: PropertyOrigin

        /// The name and the place.
        package var description: String { "\(Quoted.line(name)) (\(origin))" }
    }

    /// The members if the value is a table that is merged from several sources; otherwise empty.
    package internal(set) var members: [Member] = []

    /// The names of the features that were loaded from it.
    ///
    /// Explanations of all declared keys at once leave them out.
    public internal(set) var readers: [String] = []

    /// A line for the value, one for each member of a merged table, one for each value that it hides, and one for its
    /// readers.
    public var description: String {
        let lines =
            ["\(name) = \(winner)"] + members.map { "  with \($0)" } + (mistake.map { ["  wrong: \($0)"] } ?? [])
            + hidden.map { "  hides \($0)" }
            + (readers.isEmpty ? [] : ["  read by \(readers.joined(separator: ", "))"])
        return lines.joined(separator: "\n")
    }
}
