import Fugu

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
