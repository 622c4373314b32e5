import Fugu

/// A source of values from command-line arguments: `--api-base-url v`, or `--api.base_url=v`.
///
/// Dots, dashes, underscores, and the uppercase letters of `apiBaseUrl` are equivalent. An argument takes the next word
/// as its value unless that begins with `--`; write `--verbose=true` if something else follows a flag. A flag without a
/// value is `true` for a key of a Boolean type, and an error for others. `--` ends the arguments.
///
/// An array takes all words up to the next argument, `--tags a b c`, one word with commas, `--tags a,b,c`, or all of an
/// argument that occurs several times. It ends before an option with one dash, such as `-v`; if other words follow that
/// option, the array is an error and must be written in one word. Text is parsed to the type of the key: `true` and `false`,
/// numbers, `30s` for a `Duration`.
///
/// Words that belong to no name are ignored, but `validate` reports those that seem to be meant as an argument: `-port 80`,
/// `port=80`, and `–port` with a dash that isn't `-`.
public struct ArgumentsSource: CountedSource {
    private let arguments: [String]

    /// Creates a source of arguments.
    ///
    /// - Parameter arguments: The arguments, those of this process by default. The name of the program may come first.
    public init(_ arguments: [String] = CommandLine.arguments) {
        self.arguments = arguments
    }

    /// The name of the source, `arguments`.
    public var name: String { "arguments" }

    var valueCount: Int { arguments.count }

    /// Reads the arguments.
    ///
    /// - Returns: The values.
    /// - Throws: ``PropertyError`` if an argument begins with `--=`.
    /// - Complexity: O(*n*) for *n* arguments.
    public func load() throws(PropertyError) -> PropertySnapshot {
        PropertySnapshot(source: name, content: try ArgumentList(arguments))
    }
}

/// The arguments by name.
private struct ArgumentList: SnapshotContent {
    private struct Argument {
        let spelling: String
        /// A text for each occurrence; `nil` if it has no value.
        var texts: [String?] = []
        /// The words after each value, up to the next argument.
        var following: [[String]] = []
        /// The argument before this one if it has no value: this one may have been meant as its value.
        let flagBefore: String?

        var source: String { "argument \(spelling)" }
    }

    private var arguments: [String: Argument] = [:]
    let warning: String?
    /// The words that aren't arguments, but seem to be meant as such.
    private var doubtful: [Word] = []

    /// A word that isn't an argument.
    private struct Word {
        let text: String
        /// The argument before it, as it's compared.
        let owner: String?
        /// Whether it's the value of that argument.
        let isValue: Bool

        var hasDash: Bool { text.first.map(ArgumentList.isDash) == true }
        /// What would be the name of the argument.
        var name: Substring { text.drop(while: ArgumentList.isDash).prefix { $0 != "=" } }
        var seemsMeant: Bool { name.count > 1 && name.first?.isLetter == true && (hasDash || text.contains("=")) }
    }

    init(_ list: [String]) throws(PropertyError) {
        warning = list == CommandLine.arguments ? ErrorText.argumentsOfProcess : nil
        var rest = list[...]
        var flagBefore: String?
        var owner: String?
        func note(_ text: String, isValue: Bool) {
            let word = Word(text: text, owner: owner, isValue: isValue)
            if word.seemsMeant { doubtful.append(word) }
        }
        while let argument = rest.popFirst(), argument != "--" {
            guard argument.hasPrefix("--") else {
                note(argument, isValue: false)
                continue
            }
            let parts = argument.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard !parts[0].isEmpty else {
                throw PropertyError(ErrorText.argumentWithoutName, source: "arguments")
            }
            let name = String(parts[0])
            var text = parts.count == 2 ? String(parts[1]) : nil
            var following: [String] = []
            owner = Spelling.argument(name)
            if text == nil, let next = rest.first, !next.hasPrefix("--") {
                text = rest.popFirst()
                note(next, isValue: true)
                following = Array(rest.prefix { !$0.hasPrefix("--") })
            }
            add(text, following, to: name, flagBefore)
            flagBefore = text == nil ? name : nil
        }
    }

    private mutating func add(_ text: String?, _ following: [String], to name: String, _ flagBefore: String?) {
        let key = Spelling.argument(name)
        let new = Argument(spelling: "--\(name)", flagBefore: flagBefore)
        // Appends in place, so that a list of a hundred thousand isn't copied for each of its elements.
        arguments[key, default: new].texts.append(text)
        arguments[key, default: new].following.append(following)
    }

    var valueCount: Int? { arguments.count }

    func value(named name: String) -> LocatedValue? {
        guard let argument = arguments[Spelling.argument(name)] else { return nil }
        let store: NodeStore
        if argument.texts.count > 1 {
            store = NodeStore(words: argument.texts, name: name, mark: .repeated)
        } else {
            store = argument.texts[0].map { NodeStore(text: $0, name: name) } ?? NodeStore(flag: name)
        }
        return PropertyTree(store: store, source: argument.source, following: argument.following).root
    }

    func unknownNames(_ known: KnownNames) -> [PropertyError] {
        var spelled = SpelledNames(known, separator: "-", Spelling.argument)
        let marked = known.names.filter { name in known.secrets.contains { $0.concerns(name) } }
        let secrets = Set(marked.map(Spelling.argument))
        func isSecret(_ name: String) -> Bool { SecretNames.cover(name) || secrets.contains(Spelling.argument(name)) }
        let unknown = arguments.filter { !spelled.cover($0.key) && !known.ignores($0.key) }.sorted { $0.key < $1.key }
        return unknown.map { name, argument in
            if let flag = argument.flagBefore, isSecret(flag) {
                let spelling = "--\(flag)"
                return PropertyError(
                    ErrorText.swallowedByFlag(after: spelling), source: "the argument after \(spelling)")
            }
            let suggestion = spelled.suggestion(for: name).map { "--\($0)" }
            return PropertyError(
                spelled.problem(of: name, suggestion: suggestion),
                source: "argument \(Self.shown(argument.spelling))")
        } + misspelled(known, &spelled, isSecret)
    }

    /// Returns an error for each word that seems to be meant as an argument, although it doesn't begin with two dashes.
    private func misspelled(
        _ known: KnownNames, _ spelled: inout SpelledNames, _ isSecret: (String) -> Bool
    ) -> [PropertyError] {
        let singles = Set(known.singles().map(Spelling.argument))
        return doubtful.compactMap { word in
            // A word with `=` can be a value, or an element of a list.
            guard word.hasDash || !word.isValue && word.owner.map(singles.contains) != false else { return nil }
            let name = Spelling.argument(String(word.name))
            guard !known.ignores(name) else { return nil }
            // What only resembles a name may be a value, or part of a secret.
            let isOwned = word.isValue || word.owner.map(isSecret) == true
            let meant = spelled.has(name) ? name : isOwned ? nil : spelled.suggestion(for: name)
            // Options with one dash can be those of others.
            guard meant != nil || !isOwned && word.hasDash && !word.text.hasPrefix("-") else { return nil }
            return PropertyError(
                ErrorText.withoutDashes(meant: meant.map { "--\($0)" }),
                source: "argument \(Self.shown(String(word.text.prefix { $0 != "=" })))")
        }
    }

    /// Whether a character is `-` or one of the dashes that programs for writing put in its place.
    private static func isDash(_ character: Character) -> Bool {
        character == "\u{2212}" || character.unicodeScalars.first?.properties.generalCategory == .dashPunctuation
    }

    /// A spelling that can't be a name may be the beginning of a value, which may be a secret.
    private static func shown(_ spelling: String) -> String {
        let name = spelling.prefix { $0.isLetter || $0.isNumber || isDash($0) || "._".contains($0) }
        return name.count == spelling.count ? spelling : "\(name)…"
    }

    func place(of name: String) -> String? { "--\(Spelling.argument(name))" }
}
