import Fugu

/// A source of values from command-line arguments: `--api-base-url v`, or `--api.base_url=v`.
///
/// Dots, dashes, underscores, and the uppercase letters of `apiBaseUrl` are equivalent. An argument takes the next word
/// as its value unless that begins with `--`. Of an argument that occurs several times, the last one counts. `--` ends the
/// arguments. Text is parsed to the type of the key: `true` and `false`, numbers, `30s` for a `Duration`.
///
/// For a Boolean key, `--verbose` is `true` and `--no-verbose` is `false`, whatever word follows, unless that's `true` or
/// `false`, or an error, such as `no` or `TRUE`.
///
/// An array takes one word after `=`, with commas, `--tags a,b,c`, or of JSON, and otherwise all up to the next option,
/// `--tags a b c`. It collects those of all its occurrences. A table is a JSON object: `--limits '{"a": 1}'`.
///
/// Words that belong to no name are ignored, but `validate` reports those that seem to be meant as an argument: `-port 80`,
/// `port=80`, and `–port` with a dash that isn't `-`. An argument whose bytes aren't UTF-8 is an error when its key is read.
public struct ArgumentsSource: CountedSource {
    private let arguments: [String]
    /// The arguments and values that aren't what was given, because the bytes weren't text.
    var repaired = RepairedText.arguments

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
        PropertySnapshot(source: name, content: try ArgumentList(arguments, repaired))
    }
}

/// The arguments by name.
private struct ArgumentList: SnapshotContent {
    private struct Argument {
        let spelling: String
        var occurrences: [WrittenArgument.Occurrence] = []
        /// The number of the last occurrence without `=` among all arguments.
        var lastSwitch: Int?
        /// The number of the last occurrence among all arguments.
        var last = 0
        /// The argument before this one if it has no value: this one may have been meant as its value.
        let flagBefore: String?
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

    private let repaired: Set<String>

    init(_ list: [String], _ repaired: Set<String>) throws(PropertyError) {
        self.repaired = repaired
        warning = list == CommandLine.arguments ? ErrorText.argumentsOfProcess : nil
        var rest = list[...]
        var flagBefore: String?
        var owner: String?
        var number = 0
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
            let isAttached = parts.count == 2
            var text = isAttached ? String(parts[1]) : nil
            var following: [String] = []
            owner = Spelling.argument(name)
            if text == nil, let next = rest.first, !next.hasPrefix("--") {
                text = rest.popFirst()
                note(next, isValue: true)
                following = Array(rest.prefix { !$0.hasPrefix("--") })
            }
            number += 1
            add(.init(text: text, isAttached: isAttached, following: following), number, to: name, flagBefore)
            flagBefore = text == nil ? name : nil
        }
    }

    private mutating func add(
        _ occurrence: WrittenArgument.Occurrence, _ number: Int, to name: String, _ flagBefore: String?
    ) {
        let key = Spelling.argument(name)
        let new = Argument(spelling: "--\(name)", flagBefore: flagBefore)
        // Appends in place, so that a list of a hundred thousand isn't copied for each of its elements.
        arguments[key, default: new].occurrences.append(occurrence)
        arguments[key]!.last = number
        if !occurrence.isAttached { arguments[key]!.lastSwitch = number }
    }

    var valueCount: Int? { arguments.count }

    func value(named name: String) -> LocatedValue? {
        let spelling = Spelling.argument(name)
        let (own, off) = (arguments[spelling], arguments[Self.no + spelling])
        let isSwitchedOff = off?.lastSwitch.map { $0 > own?.last ?? 0 } ?? false
        guard let shown = isSwitchedOff ? off : own else { return nil }
        let source = "argument \(shown.spelling)"
        let written = WrittenArgument(
            spelling: shown.spelling, occurrences: own?.occurrences ?? [], isSwitchedOff: isSwitchedOff,
            repaired: repaired)
        let text = own?.occurrences.last?.text
        let isRepaired = !isSwitchedOff && text.map(repaired.contains) == true
        return PropertyTree(
            store: text.map { NodeStore(text: $0, name: name) } ?? NodeStore(flag: name, isOn: own != nil),
            source: source, argument: written,
            problem: isRepaired ? PropertyError(ErrorText.bytesNotText, source: source, name: name) : nil
        ).root
    }

    /// What stands before the name of a Boolean value that is switched off.
    private static let no = "no-"

    func noteUnknownNames(_ known: KnownNames, to mistakes: inout Mistakes) {
        // A source always has the same arguments.
        if !(known.before is ArgumentList) { mistakes.add(unknownNames(known)) }
    }

    private func unknownNames(_ known: KnownNames) -> [PropertyError] {
        var spelled = SpelledNames(known, separator: "-", Spelling.argument)
        let marked = known.names.filter { name in known.secrets.contains { $0.concerns(name) } }
        let secrets = Set(marked.map(Spelling.argument))
        func isSecret(_ name: String) -> Bool { SecretNames.cover(name) || secrets.contains(Spelling.argument(name)) }
        lazy var switches = Set(known.switches().map(Spelling.argument))
        let unknown = arguments.filter { !spelled.cover($0.key) && !known.ignores($0.key) }.sorted { $0.key < $1.key }
        return unknown.compactMap { name, argument in
            let positive = name.hasPrefix(Self.no) ? String(name.dropFirst(Self.no.count)) : ""
            if spelled.has(positive) {
                let isSwitch = switches.contains(positive)
                if isSwitch, argument.lastSwitch == argument.last { return nil }
                let meant = spelled.present(positive)
                let advice = isSwitch ? ErrorText.switchWithValue(meant) : ErrorText.notSwitch(meant)
                return PropertyError(advice, source: "argument \(Self.shown(argument.spelling))")
            }
            if let flag = argument.flagBefore, isSecret(flag) {
                let spelling = "--\(flag)"
                return PropertyError(
                    ErrorText.swallowedByFlag(after: spelling), source: "the argument after \(spelling)")
            }
            let head = name.prefix { $0 != ":" && $0 != "[" }
            if head.count < name.count, spelled.has(String(head)) {
                let meant = spelled.present(String(head))
                let isElement = name[head.endIndex] == "["
                return PropertyError(
                    isElement
                        ? ErrorText.element(of: meant, whole: "--\(meant)")
                        : ErrorText.unknownName(suggestion: "--\(meant)=…"),
                    source: "argument \(Self.shown(argument.spelling))")
            }
            var suggestion =
                spelled.suggestion(for: name).map { "--\($0)" }
                ?? ErrorText.alternatives(spelled.names(beginningWith: name).map { "--\($0)" })
            if !positive.isEmpty {
                let meant = spelled.suggestion(for: positive).map { [$0] } ?? spelled.names(endingWith: positive)
                let off = meant.filter(switches.contains).map { "--\(Self.no)\($0)" }
                suggestion = ErrorText.alternatives(off) ?? suggestion
            }
            return PropertyError(
                spelled.problem(of: name, suggestion: suggestion, mark: "--"),
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
