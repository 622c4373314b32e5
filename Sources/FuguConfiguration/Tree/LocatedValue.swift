/// A loaded document: its values and what it is called. Immutable and shared.
final class PropertyTree: Sendable {
    let store: NodeStore
    let source: String

    init(store: NodeStore, source: String) {
        self.store = store
        self.source = source
    }

    var root: LocatedValue { LocatedValue(tree: self, id: 0) }
}

/// A value of a source, with the place where it stands.
package struct LocatedValue: Sendable {
    let tree: PropertyTree
    let id: Int32

    var node: Node { tree.store.nodes[Int(id)] }
    var text: String { tree.store.string(node.text) }

    /// Where the value stands. The first question costs a walk through the source.
    package var origin: PropertyOrigin {
        guard node.offset != Node.noOffset else { return PropertyOrigin(source: tree.source) }
        let (line, column) = tree.store.position(of: Int(node.offset))
        return PropertyOrigin(source: tree.source, line: line, column: column)
    }

    /// The dotted name from the top of its source, such as `servers[2].port`; empty for the whole document.
    package var name: String {
        path.reduce("") { $0 + ($1.intValue.map { "[\($0)]" } ?? ($0.isEmpty ? "" : ".") + $1.stringValue) }
    }

    /// The names and indices that lead here from the top of its source.
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

    /// What follows in the same array or table.
    var nextSibling: LocatedValue? { child(node.next) }

    func member(_ name: String) -> LocatedValue? {
        node.kind == .table ? tree.store.child(of: id, named: name).map { LocatedValue(tree: tree, id: $0) } : nil
    }

    private func child(_ id: Int32) -> LocatedValue? { id < 0 ? nil : LocatedValue(tree: tree, id: id) }

    /// The value on its own; see `PropertyValue` for what becomes of `null`. Recursion ends at the depth limit.
    package var propertyValue: PropertyValue {
        let node = node
        switch node.kind {
        case .null: return .table([:])
        case .bool: return .bool(node.bool)
        case .integer: return .integer(node.integer)
        case .double: return .double(node.double)
        case .string, .text, .word: return .string(text)
        case .other: return tree.store.others[node.otherIndex]
        case .array:
            var values: [PropertyValue] = []
            values.reserveCapacity(Int(node.count))
            forEachChild { values.append($0.propertyValue) }
            return .array(values)
        case .table:
            var members: [String: PropertyValue] = Dictionary(minimumCapacity: Int(node.count))
            forEachChild { child in
                if child.node.kind != .null { members[tree.store.string(child.node.key)] = child.propertyValue }
            }
            return .table(members)
        }
    }

    func forEachChild(_ body: (LocatedValue) -> Void) {
        var child = firstChild
        while let current = child {
            body(current)
            child = current.nextSibling
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

    init(stringValue: String) { self.init(stringValue) }

    init(intValue: Int) { self.init(index: intValue) }
}
