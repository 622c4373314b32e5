import Fugu

/// The spelling of names without dots: `server.idleTimeout` is `server-idle-timeout` as an argument and
/// `SERVER_IDLE_TIMEOUT` as a variable.
enum Spelling {
    static func argument(_ name: String) -> String { words(of: name, separator: "-") { $0.lowercased() } }

    /// Returns a prefix of variables as a name is spelled, without the `_` at its end: `APP` for `app_`.
    static func prefix(_ text: String) -> String {
        var prefix = words(of: text.filter { !$0.isWhitespace }, separator: "_") { $0.uppercased() }
        while prefix.hasSuffix("_") { prefix.removeLast() }
        return prefix
    }

    static func variable(_ name: String, prefix: String) -> String {
        let variable = words(of: name, separator: "_") { $0.uppercased() }
        return prefix.isEmpty ? variable : "\(prefix)_\(variable)"
    }

    /// Returns the words of a name.
    ///
    /// A word begins after a dot, dash, or underscore, at an uppercase letter after a lowercase one or a digit, and
    /// at the last of several uppercase letters if a lowercase one follows: `api.baseURLPath` has four.
    private static func words(of name: String, separator: Character, _ cased: (Character) -> String) -> String {
        var result = ""
        var previous: Character = "."
        var rest = name[...]
        while let character = rest.popFirst() {
            if character == "." || character == "-" || character == "_" {
                result.append(separator)
            } else {
                let isNewWord =
                    character.isUppercase
                    && (previous.isLowercase || previous.isNumber
                        || previous.isUppercase && rest.first?.isLowercase == true)
                if isNewWord { result.append(separator) }
                result += cased(character)
            }
            previous = character
        }
        return result
    }
}

extension String {
    /// The parts of a name between its dots.
    ///
    /// It's split at bytes, as documents are, which is also many times faster than at characters.
    var segments: [Substring] {
        utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map(Substring.init)
    }
}

/// The known names as variables, arguments, or the files of a folder spell them, for what to say about other names.
struct SpelledNames {
    private let known: KnownNames
    private let separator: String
    private let spell: (String) -> String
    private let spellings: Set<String>
    private let sorted: [String]
    private let scope: String
    /// The names of tables by their spelling, found when the first advice is needed.
    private lazy var tables = Dictionary(known.tables().map { (spell($0.name), $0) }) { first, _ in first }
    private var nearest = NearestName()

    /// `separator`: What stands between two words of a name.
    init(_ known: KnownNames, separator: String, _ spell: @escaping (String) -> String) {
        (self.known, self.separator, self.spell) = (known, separator, spell)
        spellings = Set(known.names.map(spell))
        sorted = spellings.sorted()
        scope = known.scope.map { spell($0) + separator } ?? ""
    }

    /// Returns whether a key has the name.
    func has(_ name: String) -> Bool { spellings.contains(name) }

    /// Returns whether a key has the name, or the name is for others than this container.
    func cover(_ name: String) -> Bool { has(name) || !name.hasPrefix(scope) }

    /// Returns the known name that was perhaps meant.
    ///
    /// For a name that would be inside a table, that's another one inside it.
    mutating func suggestion(for name: String) -> String? {
        let table = table(around: name)
        return nearest.suggestion(for: name, in: sorted).flatMap { suggestion in
            table.map { suggestion.hasPrefix($0.spelling + separator) } ?? true ? suggestion : nil
        }
    }

    /// Returns the table that would have the name as a member if it could be spelled so.
    mutating func table(around name: String) -> (spelling: String, table: KnownNames.Table)? {
        var spelling = name[...]
        while let end = spelling.lastIndex(of: Character(separator)) {
            spelling = spelling[..<end]
            if let table = tables[String(spelling)] { return (String(spelling), table) }
        }
        return nil
    }

    /// Returns what's wrong with a name that isn't covered.
    ///
    /// `suggestion`: The known name that was perhaps meant, as it's written.
    mutating func problem(of name: String, suggestion: String?) -> String {
        guard suggestion == nil, let table = table(around: name)?.table else {
            return ErrorText.unknownName(suggestion: suggestion)
        }
        return ErrorText.insideTable(table.name, canMerge: table.canMerge)
    }
}

/// The names of all keys, arranged for finding unknown names and suggestions for them.
struct KnownNames: Sendable {
    /// A segment of a dotted name, with the segments below it.
    final class Branch: Sendable {
        let isName: Bool
        let branches: [String: Branch]
        /// The segments below, in order.
        let segments: [String]

        init(_ names: [ArraySlice<String>]) {
            isName = names.contains(where: \.isEmpty)
            let below = Dictionary(grouping: names.filter { !$0.isEmpty }) { $0.first! }
            branches = below.mapValues { Branch($0.map { $0.dropFirst() }) }
            segments = branches.keys.sorted()
        }
    }

    /// A table that a key reads as a whole.
    struct Table {
        let name: String
        /// Whether its type has members that the key could merge.
        let canMerge: Bool

        func renamed(_ rename: (String) -> String?) -> Table? {
            rename(name).map { Table(name: $0, canMerge: canMerge) }
        }
    }

    let names: [String]
    /// The members that the types of known names decode.
    var members: [String] = []
    /// Returns the tables that keys read as a whole, which only files can hold.
    ///
    /// It decodes types, so it's only called for advice.
    var tables: @Sendable () -> [Table] = { [] }
    /// The table to which a source is scoped: what lies outside of it isn't meant for this container.
    var scope: String?
    /// Returns the names of keys that take one value, not a list.
    ///
    /// It decodes types, so it's only called for advice.
    var singles: @Sendable () -> [String] = { [] }
    /// Patterns for the names whose values a source marks as secrets.
    var secrets: [NamePattern] = []
    /// Patterns for the names that a source leaves to others.
    var ignored: [NamePattern] = []
    let root: Branch
    private let byLastSegment: [String: [String]]

    init(_ names: [String]) {
        self.names = Set(names).sorted()
        root = Branch(
            self.names.map { $0.segments.map(String.init)[...] })
        byLastSegment = Dictionary(grouping: self.names) { Self.folded(Self.lastSegment($0)) }
    }

    /// Returns whether a name of a source is for others.
    func ignores(_ name: String) -> Bool { ignored.contains { $0.concerns(name) } }

    /// Returns the only name that ends like this one, apart from uppercase letters and dashes.
    func nameEnding(like name: String) -> String? {
        let names = byLastSegment[Self.folded(Self.lastSegment(name))]
        return names?.count == 1 ? names?.first : nil
    }

    private static func lastSegment(_ name: String) -> String {
        name.split(separator: ".").last.map(String.init) ?? name
    }

    private static func folded(_ name: String) -> String {
        String(name.lowercased().unicodeScalars.filter { $0 != "-" && $0 != "_" })
    }
}

/// Finds the names in a document that no key reads.
struct UnknownNames {
    private let known: KnownNames
    private var nearest = NearestName()

    init(_ known: KnownNames) { self.known = known }

    /// Returns the errors in the order of the document.
    mutating func errors(in tree: PropertyTree) -> [PropertyError] {
        var errors: [PropertyError] = []
        var open: [(table: LocatedValue, branch: KnownNames.Branch, prefix: String)] = [(tree.root, known.root, "")]
        while let (table, branch, prefix) = open.popLast() {
            var inner: [(LocatedValue, KnownNames.Branch, String)] = []
            table.forEachChild { child in
                let key = tree.store.string(child.node.key)
                let segments = key.segments
                // A pattern such as `vendor.*` is for the table itself, too.
                guard !known.ignores(prefix + key + (child.node.kind == .table ? "." : "")) else { return }
                switch Self.search(segments.map(String.init), from: branch) {
                case .name: return
                case .table(let found) where child.node.kind == .table: inner.append((child, found, prefix + key + "."))
                case .table(let found): errors.append(notATable(prefix + key, child, found))
                case .nothing(let last, let index):
                    let name = prefix + segments[...index].joined(separator: ".")
                    guard known.scope.map({ name.hasPrefix($0 + ".") }) ?? true else { return }
                    errors.append(unknown(name, child, last))
                }
            }
            open += inner.reversed()
        }
        // Sort the errors, which were found table by table, in the order of the document.
        return errors.enumerated().sorted { ($0.element.position, $0.offset) < ($1.element.position, $1.offset) }
            .map(\.element)
    }

    private enum Found {
        case name
        case table(KnownNames.Branch)
        /// The branch that lacks the segment, and the segment's index.
        case nothing(KnownNames.Branch, Int)
    }

    private static func search(_ segments: [String], from branch: KnownNames.Branch) -> Found {
        var branch = branch
        for (index, segment) in segments.enumerated() {
            guard let next = branch.branches[segment] else { return .nothing(branch, index) }
            if next.isName { return .name }
            branch = next
        }
        return .table(branch)
    }

    private func notATable(_ name: String, _ value: LocatedValue, _ branch: KnownNames.Branch) -> PropertyError {
        let members = branch.segments.map { name + "." + $0 + (branch.branches[$0]!.isName ? "" : ".…") }
        return error(
            ErrorText.expectedTable(members: members, found: value.kindText(quotesValues: false)), name, value)
    }

    private mutating func unknown(
        _ name: String, _ value: LocatedValue, _ branch: KnownNames.Branch
    ) -> PropertyError {
        let segments = name.segments
        let prefix = segments.dropLast().map { $0 + "." }.joined()
        let sibling = nearest.suggestion(for: String(segments.last ?? ""), in: branch.segments)
        let meant = sibling.map { prefix + $0 } ?? known.nameEnding(like: name)
        return error(ErrorText.unknownName(suggestion: meant), name, value)
    }

    private func error(_ reason: String, _ name: String, _ value: LocatedValue) -> PropertyError {
        let origin = value.keyOrigin
        return PropertyError(
            reason, source: origin.source, line: origin.line, column: origin.column,
            name: SecretNames.printable(name))
    }
}

extension PropertyError {
    fileprivate var position: SourcePosition { SourcePosition(line: line ?? 0, column: column ?? 0) }
}

private struct SourcePosition: Comparable {
    let line: Int
    let column: Int

    static func < (left: SourcePosition, right: SourcePosition) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }
}
