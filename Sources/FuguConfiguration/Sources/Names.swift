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
    /// at the last of several uppercase letters if a lowercase one follows: `api.baseURLPath` has four. The plural and the
    /// version of an acronym belong to it: `imageURLs` and `allowIPv6` have two.
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
                        || previous.isUppercase && rest.first?.isLowercase == true && !endsAcronym(rest))
                if isNewWord { result.append(separator) }
                result += cased(character)
            }
            previous = character
        }
        return result
    }

    /// Whether an `s` that ends a word follows, or a `v` before a digit.
    private static func endsAcronym(_ rest: Substring) -> Bool {
        let next = rest.dropFirst().first
        return rest.first == "s" && next?.isLowercase != true || rest.first == "v" && next?.isNumber == true
    }
}

extension String {
    /// The parts of a name between its dots.
    ///
    /// It's split at bytes, as documents are, which is also many times faster than at characters.
    var segments: [Substring] {
        let dot = UInt8(ascii: ".")
        // Most names in a document have none.
        guard utf8.contains(dot) else { return [self[...]] }
        return utf8.split(separator: dot, omittingEmptySubsequences: false).map(Substring.init)
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
    private lazy var tables = Dictionary(known.tables().map { (spell($0), $0) }) { first, _ in first }
    /// The names of lists by their spelling.
    private lazy var lists = Dictionary(known.lists().map { (spell($0), $0) }) { first, _ in first }
    /// The spellings of present names by those of former ones.
    private lazy var present = Dictionary(known.former.map { (spell($0), spell($1)) }) { first, _ in first }
    private var nearest = NearestName()

    /// `separator`: What stands between two words of a name.
    init(_ known: KnownNames, separator: String, _ spell: @escaping (String) -> String) {
        (self.known, self.separator, self.spell) = (known, separator, spell)
        spellings = Set(known.names.map(spell))
        sorted = Set(known.names.filter { known.former[$0] == nil }.map(spell)).sorted()
        scope = known.scope.map { spell($0) + separator } ?? ""
    }

    /// Returns whether a key has the name.
    func has(_ name: String) -> Bool { spellings.contains(name) }

    /// Returns whether a key has the name, or the name is for others than this container.
    func cover(_ name: String) -> Bool { has(name) || !name.hasPrefix(scope) }

    /// Returns the name to use in place of a known one, which may be a former name.
    mutating func present(_ name: String) -> String { present[name] ?? name }

    /// Returns a few of the known names that end with this one.
    func names(endingWith name: String) -> [String] {
        Array(sorted.lazy.filter { [tail = separator + name] in $0.hasSuffix(tail) }.prefix(3))
    }

    /// Returns a few of the known names that begin with this one.
    func names(beginningWith name: String) -> [String] {
        name.count < 3 ? [] : Array(sorted.lazy.filter { $0.hasPrefix(name) }.prefix(3))
    }

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
    mutating func table(around name: String) -> (spelling: String, table: String)? {
        var spelling = name[...]
        while let end = spelling.lastIndex(of: Character(separator)) {
            spelling = spelling[..<end]
            if let table = tables[String(spelling)] { return (String(spelling), table) }
        }
        return nil
    }

    /// Returns the list of which the name would be an element, or a part of one: `servers` for `SERVERS_0_HOST`.
    mutating func list(around name: String) -> String? {
        var spelling = name[...]
        while let end = spelling.lastIndex(of: Character(separator)) {
            let part = spelling[end...].dropFirst()
            spelling = spelling[..<end]
            let isIndex = !part.isEmpty && part.utf8.allSatisfy(ByteClass.isDigit)
            if isIndex, let list = lists[String(spelling)] { return list }
        }
        return nil
    }

    /// Returns what's wrong with a name that isn't covered.
    ///
    /// - `end`: The name without the prefix of its source.
    /// - `suggestion`: The known name that was perhaps meant, as it's written.
    /// - `mark`: What precedes each name.
    mutating func problem(
        of name: String, end: String? = nil, suggestion: String?, mark: String = ""
    ) -> String {
        if let suggestion { return ErrorText.unknownName(suggestion: suggestion) }
        if let list = list(around: name) { return ErrorText.element(of: list, whole: mark + spell(list)) }
        if let table = table(around: name)?.table { return ErrorText.insideTable(table, whole: mark + spell(table)) }
        let ends = names(endingWith: end ?? name).map { mark + $0 }
        return ErrorText.unknownName(suggestion: ErrorText.alternatives(ends))
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

    /// All names, and those that they had before.
    let names: [String]
    /// The present names by the former ones.
    let former: [String: String]
    /// The members that the types of known names decode.
    var members: [String] = []
    /// Returns the tables that keys read as a whole, which only files can hold.
    ///
    /// It decodes types, so it's only called for advice.
    var tables: @Sendable () -> [String] = { [] }
    /// The table to which a source is scoped: what lies outside of it isn't meant for this container.
    var scope: String?
    /// Returns the names of keys that take one value, not a list.
    ///
    /// It decodes types, so it's only called for advice.
    var singles: @Sendable () -> [String] = { [] }
    /// Returns the names of keys that take a list.
    ///
    /// It decodes types, so it's only called for advice.
    var lists: @Sendable () -> [String] = { [] }
    /// Returns the names of keys that may be Boolean, those that were read without being declared among them.
    var switches: @Sendable () -> [String] = { [] }
    /// Patterns for the names whose values a source marks as secrets.
    var secrets: [NamePattern] = []
    /// Patterns for the names that a source leaves to others.
    var ignored: [NamePattern] = []
    /// What the source had before a reload, whose names aren't mistakes of the reload.
    var before: (any SnapshotContent)?
    let root: Branch
    private let byLastSegment: [String: [String]]

    init(_ names: [String], former: [String: String] = [:]) {
        self.names = Set(names + former.keys).sorted()
        self.former = former
        root = Branch(
            self.names.map { $0.segments.map(String.init)[...] })
        byLastSegment = Dictionary(grouping: Set(names).sorted()) { Self.folded(Self.lastSegment($0)) }
    }

    /// Returns the same with all names once more, with an ending.
    func adding(ending: String) -> KnownNames {
        let present = names.filter { former[$0] == nil }
        let pairs = former.flatMap { [($0, $1), ($0 + ending, $1 + ending)] }
        var known = KnownNames(
            present + present.map { $0 + ending }, former: Dictionary(pairs) { first, _ in first })
        (known.members, known.tables, known.scope) = (members, tables, scope)
        (known.singles, known.lists, known.switches) = (singles, lists, switches)
        (known.secrets, known.ignored, known.before) = (secrets, ignored, before)
        return known
    }

    /// Returns the same under other names.
    func renamed(_ rename: (String) -> String?) -> KnownNames {
        let pairs = former.compactMap { old, new in rename(old).flatMap { old in rename(new).map { (old, $0) } } }
        let present = names.filter { former[$0] == nil }
        return KnownNames(present.compactMap(rename), former: Dictionary(pairs) { first, _ in first })
    }

    /// Returns whether a name of a source is for others.
    func ignores(_ name: String) -> Bool { ignored.contains { $0.concerns(name) } }

    /// Returns a few names that end like this one, apart from uppercase letters and dashes.
    func namesEnding(like name: String) -> [String] {
        Array((byLastSegment[Self.folded(Self.lastSegment(name))] ?? []).prefix(3))
    }

    private static func lastSegment(_ name: String) -> String {
        name.split(separator: ".").last.map(String.init) ?? name
    }

    private static func folded(_ name: String) -> String {
        String(name.lowercased().unicodeScalars.filter { $0 != "-" && $0 != "_" })
    }
}

/// A table of a document before a reload, whose members are found fast in the same order.
private struct FormerTable {
    let store: NodeStore
    private let id: Int32
    /// The member that comes next.
    private var next: Int32

    init(_ store: NodeStore, _ id: Int32) {
        (self.store, self.id) = (store, id)
        next = store.nodes[Int(id)].first
    }

    func table(_ id: Int32) -> FormerTable? { store.nodes[Int(id)].kind == .table ? FormerTable(store, id) : nil }

    /// Returns the member with the name of one in another document.
    mutating func member(_ key: Text, in other: NodeStore) -> Int32? {
        if next >= 0, store.bytes[store.nodes[Int(next)].key.range] == other.bytes[key.range] {
            defer { next = store.nodes[Int(next)].next }
            return next
        }
        guard let member = store.child(of: id, named: other.string(key)) else { return nil }
        next = store.nodes[Int(member)].next
        return member
    }
}

/// Finds the names in a document that no key reads.
struct UnknownNames {
    private let known: KnownNames
    private var nearest = NearestName()

    init(_ known: KnownNames) { self.known = known }

    /// A name that no key reads.
    private struct Finding {
        let value: LocatedValue
        /// The name around it, with a dot.
        let prefix: String
        /// The number of segments of the value's key up to the one that isn't known; `nil` for a known table in whose place
        /// another value is.
        let count: Int?
        /// The branch that lacks the name, or that of the table.
        let branch: KnownNames.Branch

        var name: String {
            let key = value.tree.store.string(value.node.key)
            guard let count, key.utf8.contains(UInt8(ascii: ".")) else { return prefix + key }
            return prefix + key.segments.prefix(count).joined(separator: ".")
        }
    }

    /// Adds an error for each name, in the order of the document.
    ///
    /// `old`: The document before a reload, of which the names are left out.
    mutating func note(in tree: PropertyTree, unlike old: PropertyTree?, to mistakes: inout Mistakes) {
        var findings: [Finding] = []
        var open: [(table: LocatedValue, old: FormerTable?, branch: KnownNames.Branch, prefix: String)] = [
            (tree.root, old.map { FormerTable($0.store, 0) }, known.root, "")
        ]
        while let (table, old, branch, prefix) = open.popLast() {
            var inner: [(LocatedValue, FormerTable?, KnownNames.Branch, String)] = []
            var former = old
            table.forEachChild { child in
                let was = former?.member(child.node.key, in: tree.store)
                let key = tree.store.string(child.node.key)
                let found = Self.search(key, from: branch)
                if let was, !found.isTable || old?.store.nodes[Int(was)].kind != .table && child.node.kind != .table {
                    return
                }
                // A pattern such as `vendor.*` is for the table itself, too.
                let isTable = child.node.kind == .table
                guard known.ignored.isEmpty || !known.ignores(prefix + key + (isTable ? "." : "")) else { return }
                switch found {
                case .name: return
                case .table(let found) where isTable:
                    inner.append((child, was.flatMap { old?.table($0) }, found, prefix + key + "."))
                case .table(let found):
                    findings.append(Finding(value: child, prefix: prefix, count: nil, branch: found))
                case .nothing(let last, let index):
                    let finding = Finding(value: child, prefix: prefix, count: index + 1, branch: last)
                    guard known.scope.map({ finding.name.hasPrefix($0 + ".") }) ?? true else { return }
                    findings.append(finding)
                }
            }
            open += inner.reversed()
        }
        // Sort what was found table by table in the order of the document.
        let ordered = findings.enumerated().sorted {
            ($0.element.value.keyPosition, $0.offset) < ($1.element.value.keyPosition, $1.offset)
        }
        for (_, finding) in ordered {
            mistakes.add(tree.source, SecretNames.printable(finding.name, known.secrets)) { error(finding) }
        }
    }

    private mutating func error(_ finding: Finding) -> PropertyError {
        finding.count == nil
            ? notATable(finding.name, finding.value, finding.branch)
            : unknown(finding.name, finding.value, finding.branch)
    }

    private enum Found {
        case name
        case table(KnownNames.Branch)
        /// The branch that lacks the segment, and the segment's index.
        case nothing(KnownNames.Branch, Int)

        var isTable: Bool { if case .table = self { true } else { false } }
    }

    private static func search(_ key: String, from branch: KnownNames.Branch) -> Found {
        var branch = branch
        for (index, segment) in key.segments.enumerated() {
            guard let next = branch.branches[String(segment)] else { return .nothing(branch, index) }
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
        let meant =
            sibling.map { known.former[prefix + $0] ?? prefix + $0 }
            ?? ErrorText.alternatives(known.namesEnding(like: name))
        return error(ErrorText.unknownName(suggestion: meant), name, value)
    }

    private func error(_ reason: String, _ name: String, _ value: LocatedValue) -> PropertyError {
        let origin = value.keyOrigin
        return PropertyError(
            reason, source: origin.source, line: origin.line, column: origin.column,
            name: SecretNames.printable(name, known.secrets))
    }
}

extension LocatedValue {
    /// A number that increases with the place of the name in its document.
    fileprivate var keyPosition: Int {
        guard tree.origins != nil else { return Int(node.keyOffset) }
        let origin = keyOrigin
        return (origin.line ?? 0) << 32 + (origin.column ?? 0)
    }
}
