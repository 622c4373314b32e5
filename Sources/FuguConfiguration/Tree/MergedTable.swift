import Fugu

/// A table whose members come from several sources.
///
/// A member of an earlier table hides that of a later one, and tables inside are merged in turn. Each member stays the
/// value of its source, with its place; arrays are never merged.
struct MergedTable: Sendable {
    private(set) var names: [String] = []
    private var members: [String: Member] = [:]

    private enum Member {
        case value(LocatedValue)
        case table(MergedTable)
    }

    /// The first table, which gives the merged one its name and place.
    private var first: LocatedValue?

    var isEmpty: Bool { names.isEmpty && first == nil }

    /// The place of the first table, or of the first member if there's no table.
    var origin: PropertyOrigin {
        first?.origin ?? names.first.flatMap { self[$0]?.origin } ?? PropertyOrigin(source: "")
    }

    subscript(name: String) -> LocatedValue? {
        switch members[name] {
        case .value(let value): value
        case .table(let table): table.located(name)
        case nil: nil
        }
    }

    /// Adds the members of a table that aren't there yet.
    mutating func add(_ table: LocatedValue) {
        first = first ?? table
        table.forEachChild { child in add(child, at: [table.tree.store.string(child.node.key)]) }
    }

    /// Adds a member under a path if nothing is there yet.
    mutating func add(_ value: LocatedValue, at path: ArraySlice<String>) {
        guard let name = path.first else { return }
        let isTable = path.count > 1 || value.node.kind == .table
        var table = MergedTable()
        switch members[name] {
        case .value: return
        case .table(let known):
            guard isTable else { return }
            table = known
        case nil:
            names.append(name)
            guard isTable else {
                members[name] = .value(value)
                return
            }
        }
        if path.count > 1 { table.add(value, at: path.dropFirst()) } else { table.add(value) }
        members[name] = .table(table)
    }

    /// Returns the table as a value.
    func located(_ name: String) -> LocatedValue {
        var node = Node.collection(.table, at: Node.noOffset)
        node.count = UInt32(names.count)
        let store = NodeStore(table: node, name: first?.name ?? name)
        let members = names.compactMap { self[$0] }
        // A member that can't be read can't be left out.
        let problem = members.lazy.compactMap(\.tree.problem).first
        var value = PropertyTree(store: store, source: origin.source, problem: problem, merged: self).root
        value.isSecret = members.contains(where: \.isSecret)
        return value
    }

    /// The places of all values, under dotted names.
    var origins: [(name: String, origin: PropertyOrigin)] {
        names.flatMap { name -> [(name: String, origin: PropertyOrigin)] in
            switch members[name]! {
            case .value(let value): [(name, value.origin)]
            case .table(let table): table.origins.map { (name + "." + $0.name, $0.origin) }
            }
        }
    }
}

/// The names whose tables are merged, with the members that their types decode.
enum MergedNames {
    private static let members = Locked<[String: [String]]>([:])

    /// Returns the members with their full names, and keeps them, if a form says that the tables of the name are merged.
    @discardableResult
    static func members<Value: Decodable>(
        of name: String, as type: Value.Type, _ form: PropertyForm<Value>?
    ) -> [TypeShape.Member] {
        guard form?.mergesTables == true else { return [] }
        let shape = TypeShape(of: type, sample: nil)
        // The members of a list's elements aren't those of a table.
        let inner = (shape.isList ? [] : shape.members).filter { member in
            (member.type as? any Decodable.Type).map { TypeShape(of: $0, sample: nil).holdsTables } != true
        }
        members.withLock { $0[name] = inner.map(\.name) }
        return inner.map { TypeShape.Member(name: name + "." + $0.name, type: $0.type) }
    }

    /// Returns the dotted names of the members, or `nil` if no key merges the name.
    static func members(of name: String) -> [String]? { members.withLock { $0[name] } }
}

/// Records the members that are decoded.
///
/// The type of a table doesn't have the members that aren't decoded.
final class MemberUsage: Sendable {
    private struct Asked {
        var names: Set<String> = []
        var ids: Set<Int32> = []
        /// Whether the type accepts every name, as dictionaries do.
        var isWhole = false
    }

    private let tables = Locked<[Int32: Asked]>([:])

    func note(_ name: String, _ child: Int32?, in table: Int32) {
        tables.withLock { tables in
            tables[table, default: Asked()].names.insert(name)
            if let child { tables[table, default: Asked()].ids.insert(child) }
        }
    }

    func noteWhole(_ table: Int32) { tables.withLock { $0[table, default: Asked()].isWhole = true } }

    /// Returns the members that weren't decoded, in the order of the document, each with the names that its table's
    /// type has.
    func unread(in root: LocatedValue) -> [(member: LocatedValue, known: [String])] {
        let tables = tables.withLock { $0 }
        var unread: [(member: LocatedValue, known: [String])] = []
        var open = [root]
        while let value = open.popLast() {
            var children: [LocatedValue] = []
            let asked = value.node.kind == .table ? tables[value.id] : nil
            if value.node.kind == .array || asked != nil { value.forEachChild { children.append($0) } }
            if let asked, !asked.isWhole {
                children = children.compactMap { child in
                    if asked.ids.contains(child.id) { return child }
                    if let made = child.madeTable(in: value), asked.ids.contains(made.id) { return made }
                    unread.append((child, asked.names.sorted()))
                    return nil
                }
            }
            open += children.reversed()
        }
        return unread
    }

    /// Returns the dotted names of all members that were decoded, whether or not they exist.
    func names(in root: LocatedValue) -> [String] {
        tables.withLock { $0 }.flatMap { table, asked in
            let prefix = LocatedValue(tree: root.tree, id: table).name
            return asked.names.map { prefix.isEmpty ? $0 : prefix + "." + $0 }
        }
    }
}

extension LocatedValue {
    /// Returns the table that the first part of this member's dotted name created.
    fileprivate func madeTable(in table: LocatedValue) -> LocatedValue? {
        let key = tree.store.string(node.key)
        guard let dot = key.firstIndex(of: ".") else { return nil }
        return tree.store.alias(of: table.id, named: String(key[..<dot])).map { LocatedValue(tree: tree, id: $0) }
    }
}
