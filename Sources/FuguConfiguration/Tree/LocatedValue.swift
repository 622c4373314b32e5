import Fugu
import Synchronization

/// A loaded document: its values and its name.
///
/// It's immutable and shared.
final class PropertyTree: Sendable {
    let store: NodeStore
    let source: String
    /// How the argument occurs whose value this is.
    let argument: WrittenArgument?
    /// The reason why there's no value, although its source has the name.
    let problem: PropertyError?
    /// The place of the path that leads to the value, where the name is.
    let way: PropertyOrigin?
    /// How the text of a variable or an argument is read.
    let textForm: PropertyTextForm
    /// Records the members that are decoded, if somebody needs to know.
    let usage: MemberUsage?
    /// The members of the root if they come from several sources.
    let merged: MergedTable?
    /// The places of values, by their names, if they aren't those of the store.
    let origins: (@Sendable (_ name: String) -> PropertyOrigin?)?
    private let positions: PositionIndex

    init(
        store: NodeStore, source: String, argument: WrittenArgument? = nil, problem: PropertyError? = nil,
        way: PropertyOrigin? = nil,
        textForm: PropertyTextForm = PropertyTextForm(), merged: MergedTable? = nil,
        origins: (@Sendable (_ name: String) -> PropertyOrigin?)? = nil
    ) {
        self.merged = merged
        self.origins = origins
        self.store = store
        self.source = source
        self.argument = argument
        self.problem = problem
        self.way = way
        self.textForm = textForm
        usage = nil
        positions = PositionIndex()
    }

    private init(_ tree: PropertyTree, usage: MemberUsage?, textForm: PropertyTextForm) {
        store = tree.store
        source = tree.source
        argument = tree.argument
        problem = tree.problem
        way = tree.way
        positions = tree.positions
        merged = tree.merged
        origins = tree.origins
        self.usage = usage
        self.textForm = textForm
    }

    /// Creates the same document with a record of the members that are decoded.
    convenience init(recording tree: PropertyTree) {
        self.init(tree, usage: MemberUsage(), textForm: tree.textForm)
    }

    /// Creates the same document, whose texts are read in another way.
    convenience init(_ tree: PropertyTree, textForm: PropertyTextForm) {
        self.init(tree, usage: tree.usage, textForm: textForm)
    }

    var root: LocatedValue { LocatedValue(tree: self, id: 0) }

    func position(of offset: UInt32) -> (line: Int, column: Int) { positions.position(of: Int(offset), in: store) }
}

/// An argument as it's written, of which the type that is decoded decides what counts: the last occurrence, or all as a list.
struct WrittenArgument: Sendable, Equatable {
    struct Occurrence: Sendable, Equatable {
        /// The text behind `=`, or the next word, or `nil` if it has neither.
        let text: String?
        /// Whether the text is behind `=`, so that it's certainly the value.
        let isAttached: Bool
        /// The words after the text, up to the next argument.
        let following: [String]

        /// The words of a list, up to an option with one dash, which is for others.
        var words: [String] {
            guard let text, isAttached || !Self.isOption(text) else { return [] }
            return [text] + following.prefix { !Self.isOption($0) }
        }

        /// A dash alone is a word, mostly for standard input, and a digit follows that of a number or a duration.
        private static func isOption(_ word: String) -> Bool {
            guard word.hasPrefix("-"), let next = word.dropFirst().first else { return false }
            return !next.isNumber && next != "." && Double(word) == nil
        }
    }

    let spelling: String
    var occurrences: [Occurrence]
    /// Whether `--no-…` stands behind all others.
    var isSwitchedOff = false
    /// The words that aren't what was given, because the bytes weren't text.
    let repaired: Set<String>

    /// The next word after the last occurrence, which may be meant for others.
    var isNextWord: Bool { occurrences.last.map { $0.text != nil && !$0.isAttached } ?? false }
}

/// A value of a source, with its place.
package struct LocatedValue: Sendable {
    let tree: PropertyTree
    let id: Int32
    /// A Boolean value that indicates whether the value must never be printed, because its source marks it or a value
    /// around it.
    var isSecret = false

    /// Returns what stands for a value that a source has, but can't give.
    static func problem(_ reason: String, at origin: PropertyOrigin, _ name: String) -> LocatedValue {
        let problem = PropertyError(
            reason, source: origin.source, line: origin.line, column: origin.column, name: name)
        return PropertyTree(store: NodeStore(flag: name), source: origin.source, problem: problem) { _ in origin }.root
    }

    var node: Node { tree.store.nodes[Int(id)] }
    var text: String { tree.store.string(node.text) }

    var isEmptyText: Bool { textOrNil?.isEmpty == true }

    /// Whether the value is only that of `--no-…`, which is for Boolean types alone.
    var isSwitchedOff: Bool { node.kind == .flag && !node.bool }

    /// Returns whether the word behind an argument isn't read, since the type takes the argument as a flag.
    func isFlag(for type: Any.Type) -> Bool {
        tree.argument?.isNextWord == true && TypeText.unwrapped(type) == Bool.self
    }

    /// Returns whether a value is meant for a type, if it's known.
    func isMeant(for type: Any.Type?) -> Bool {
        !isSwitchedOff || type.map { TypeText.unwrapped($0) == Bool.self } ?? true
    }

    /// The place of the value.
    package var origin: PropertyOrigin {
        if let merged = tree.merged { return merged.origin }
        if let origins = tree.origins { return origins(name) ?? PropertyOrigin(source: tree.source) }
        guard node.offset != Node.noOffset else { return PropertyOrigin(source: tree.source) }
        let (line, column) = tree.position(of: node.offset)
        return PropertyOrigin(source: tree.source, line: line, column: column)
    }

    /// The place of the value's name.
    var keyOrigin: PropertyOrigin {
        if let way = tree.way { return way }
        guard tree.origins == nil, node.keyOffset != Node.noOffset else { return origin }
        let (line, column) = tree.position(of: node.keyOffset)
        return PropertyOrigin(source: tree.source, line: line, column: column)
    }

    /// The dotted name from the top of the source, such as `servers[2].port`; empty for the whole document.
    package var name: String {
        path.reduce("") { $0 + ($1.intValue.map { "[\($0)]" } ?? ($0.isEmpty ? "" : ".") + $1.stringValue) }
    }

    /// Returns the part of a name at or inside the value that may be printed, in the spelling of the source.
    ///
    /// `asked`: The value's name as keys know it, which decides what's secret, however the source spells it.
    func printable(_ full: String, asked: String) -> String {
        let name = name
        guard full != name else { return full }
        let inside = full.hasPrefix(name) ? full.dropFirst(name.count) : nil
        // A member of a merged table has the name that its own source gives it.
        let isHidden = isSecret || SecretNames.cover(asked) || inside == nil && SecretNames.concern(asked)
        guard !isHidden, let inside else { return isHidden ? name + ".…" : full }
        return name + SecretNames.printable(asked + inside).dropFirst(asked.count)
    }

    /// The names and indices from the top of the source to the value.
    var path: [PathKey] {
        var keys: [PathKey] = []
        var current = node
        while current.parent >= 0 {
            let parent = tree.store.nodes[Int(current.parent)]
            keys.append(
                parent.kind == .array ? PathKey(index: Int(current.key.start)) : PathKey(tree.store.string(current.key))
            )
            current = parent
        }
        if current.key.length > 0 { keys.append(PathKey(tree.store.string(current.key))) }
        return keys.reversed()
    }

    /// The first element or member.
    var firstChild: LocatedValue? { child(node.first) }

    /// The next element or member of the same array or table.
    var nextSibling: LocatedValue? { child(node.next) }

    var memberNames: [String] {
        if let merged = tree.merged { return merged.names }
        var names: [String] = []
        if node.kind == .table { forEachChild { names.append(tree.store.string($0.node.key)) } }
        return names
    }

    func member(_ name: String) -> LocatedValue? {
        guard node.kind == .table else { return nil }
        if let merged = tree.merged {
            // A member has a source of its own, but is read in the form of the whole.
            return merged[name].map { member in
                guard member.tree.textForm != tree.textForm else { return member }
                return LocatedValue(
                    tree: PropertyTree(member.tree, textForm: tree.textForm), id: member.id, isSecret: member.isSecret)
            }
        }
        let child = tree.store.child(of: id, named: name)
        tree.usage?.note(name, child, in: id)
        return child.map { LocatedValue(tree: tree, id: $0, isSecret: isSecret) }
    }

    private func child(_ id: Int32) -> LocatedValue? {
        id < 0 ? nil : LocatedValue(tree: tree, id: id, isSecret: isSecret)
    }

    /// The value without its place; for `null`, see `PropertyValue`.
    package var propertyValue: PropertyValue {
        if let merged = tree.merged {
            let members = merged.names.map { ($0, merged[$0]!) }.filter { $0.1.node.kind != .null }
            return .table(Dictionary(uniqueKeysWithValues: members.map { ($0, $1.propertyValue) }))
        }
        tree.usage?.noteWhole(id)
        var builder = ValueBuilder(store: tree.store)
        return builder.value(of: id)
    }

    /// Whether an integer that a `PropertyValue` can't represent is the value or inside it.
    var holdsWideInteger: Bool {
        if let merged = tree.merged { return merged.names.contains { merged[$0]!.holdsWideInteger } }
        // Lists ask for each of their elements.
        guard tree.store.wideOffset != nil else { return false }
        var open = [self]
        while let value = open.popLast() {
            if value.node.mark == .wide { return true }
            if value.node.kind == .array || value.node.kind == .table { value.forEachChild { open.append($0) } }
        }
        return false
    }

    /// Whether the value is a table, or a list with tables inside.
    var holdsTable: Bool {
        var open = [self]
        while let value = open.popLast() {
            if value.node.kind == .table { return true }
            if value.node.kind == .array { value.forEachChild { open.append($0) } }
        }
        return false
    }

    func forEachChild(_ body: (LocatedValue) -> Void) {
        var child = firstChild
        while let current = child {
            body(current)
            child = current.nextSibling
        }
    }

    /// Returns a Boolean value that indicates whether both values are the same for every type, and both are secrets or
    /// neither is; not-a-number is the same as itself.
    func isSame(as other: LocatedValue) -> Bool {
        guard isSecret == other.isSecret else { return false }
        var pairs = [(self, other)]
        while let (left, right) = pairs.popLast() {
            guard left.isAlike(right) else { return false }
            guard left.node.kind == .array || left.node.kind == .table else { continue }
            var (next, match) = (left.firstChild, right.firstChild)
            while let first = next, let second = match {
                pairs.append((first, second))
                (next, match) = (first.nextSibling, second.nextSibling)
            }
        }
        return true
    }

    /// Returns whether both values are alike apart from their children.
    private func isAlike(_ other: LocatedValue) -> Bool {
        let (own, its) = (node, other.node)
        guard own.kind == its.kind, tree.argument == other.tree.argument, tree.problem == other.tree.problem else {
            return false
        }
        let isMember = own.parent >= 0 && tree.store.nodes[Int(own.parent)].kind == .table
        if isMember, tree.store.string(own.key) != other.tree.store.string(its.key) { return false }
        switch own.kind {
        case .null: return true
        case .bool, .flag: return own.bool == its.bool
        case .integer: return own.integer == its.integer
        case .double:
            return own.double.bitPattern == its.double.bitPattern
                && tree.store.numberText(at: own.offset) == other.tree.store.numberText(at: its.offset)
        // The text of a file is without the last line break, which the bytes have.
        case .string, .text, .word: return text == other.text && bytesOrNil == other.bytesOrNil
        case .other: return tree.store.others[own.otherIndex] == other.tree.store.others[its.otherIndex]
        case .array, .table: return own.count == its.count
        }
    }
}

/// A step of a coding path.
struct PathKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(_ name: String) {
        stringValue = name
        intValue = nil
    }

    init(index: Int) {
        stringValue = "\(index)"
        intValue = index
    }

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = Int(stringValue).flatMap { "\($0)" == stringValue ? $0 : nil }
    }

    init(intValue: Int) { self.init(index: intValue) }
}
