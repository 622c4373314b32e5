extension NodeStore {
    /// A store for values that were never text; they have no positions. Nil if they are nested too deep.
    init?(table: [String: PropertyValue]) {
        self.init()
        let root = add(.collection(.table, at: Node.noOffset))
        guard add(table, to: root) else { return nil }
    }

    /// A store for one text under a name, as the environment and the arguments give it.
    init(text: String, name: String) {
        self.init()
        var node = Node.text(append(text), .text, at: Node.noOffset)
        node.key = append(name)
        _ = add(node)
    }

    /// A store for a list of texts under a name.
    init(words: [String], name: String) {
        self.init()
        var node = Node.collection(.array, at: Node.noOffset)
        node.key = append(name)
        let root = add(node)
        for word in words { add(.text(append(word), .word, at: Node.noOffset), toArray: root) }
    }

    private mutating func add(_ table: [String: PropertyValue], to parent: Int32) -> Bool {
        guard nodes[Int(parent)].depth < Self.depthLimit else { return false }
        for (name, value) in table.sorted(by: { $0.key < $1.key }) {
            let key = append(name)
            let id = add(node(for: value), toTable: parent, key: key, keyOffset: Node.noOffset)
            guard addChildren(of: value, to: id) else { return false }
        }
        return true
    }

    private mutating func addChildren(of value: PropertyValue, to id: Int32) -> Bool {
        switch value {
        case .table(let members): return add(members, to: id)
        case .array(let values):
            guard nodes[Int(id)].depth < Self.depthLimit else { return false }
            for value in values {
                let child = add(node(for: value), toArray: id)
                guard addChildren(of: value, to: child) else { return false }
            }
            return true
        default: return true
        }
    }

    private mutating func node(for value: PropertyValue) -> Node {
        let offset = Node.noOffset
        switch value {
        case .bool(let value): return .bool(value, at: offset)
        case .integer(let value): return .integer(value, at: offset)
        case .double(let value): return .double(value, at: offset)
        case .string(let value): return .text(append(value), at: offset)
        case .array: return .collection(.array, at: offset)
        case .table: return .collection(.table, at: offset)
        case .data, .offsetDateTime, .localDateTime, .localDate, .localTime:
            return .other(append(value), at: offset)
        }
    }
}
