/// Which value a key has, where it comes from and what it hides. It prints as
///
///     api.timeout = 5 (/srv/app/config.toml:3:11)
///       hides 10 (environment variable APP_API_TIMEOUT)
public struct Explanation: Sendable, Hashable, CustomStringConvertible {
    /// Where a value comes from.
    public enum Origin: Sendable, Hashable, CustomStringConvertible {
        /// Code has set it.
        case code
        /// A rule has set it for a scope.
        case rule
        /// A source has it.
        case source(PropertyOrigin)
        /// Nothing gives a value.
        case defaultValue

        /// In words; for a file its path, line and column.
        public var description: String {
            switch self {
            case .code: "set by code"
            case .rule: "set by a rule"
            case .source(let origin): origin.description
            case .defaultValue: "default"
            }
        }
    }

    /// A value and where it comes from.
    public struct Entry: Sendable, Hashable, CustomStringConvertible {
        /// The value in words; nil if it is a secret.
        public let value: String?
        /// Where it comes from.
        public let origin: Origin

        /// The value, or that it is a secret, and its origin.
        public var description: String { "\(value ?? "(secret)") (\(origin))" }
    }

    /// The key's name, or what it is called in messages if it has none.
    public let name: String
    /// What a read gives.
    public let winner: Entry
    /// What it hides, in the order in which it would count.
    public let hidden: [Entry]
    /// Why the value of a source is not used and the default is, if that is so.
    public let mistake: PropertyError?

    /// The names of the features that were made from it. Explanations of all declared keys at once leave them out.
    public internal(set) var readers: [String] = []

    /// One line for the value, one for each that it hides, and one for what was made from it.
    public var description: String {
        let lines =
            ["\(name) = \(winner)"] + (mistake.map { ["  wrong: \($0)"] } ?? []) + hidden.map { "  hides \($0)" }
            + (readers.isEmpty ? [] : ["  read by \(readers.joined(separator: ", "))"])
        return lines.joined(separator: "\n")
    }
}
