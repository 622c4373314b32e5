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
        let inner = TypeShape(of: type, sample: nil).members.filter { member in
            // No text can hold a table.
            (member.type as? any Decodable.Type).map { TypeShape(of: $0, sample: nil).isInFilesOnly } != true
        }
        members.withLock { $0[name] = inner.map(\.name) }
        return inner.map { TypeShape.Member(name: name + "." + $0.name, type: $0.type) }
    }

    /// Returns the dotted names of the members, or `nil` if no key merges the name.
    static func members(of name: String) -> [String]? { members.withLock { $0[name] } }
}
