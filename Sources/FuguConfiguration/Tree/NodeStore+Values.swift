extension NodeStore {
    /// Creates a store for values that were never text, and so have no positions.
    ///
    /// It returns `nil` if they're nested too deeply.
    init?(table: [String: PropertyValue]) {
        self.init()
        let root = add(.collection(.table, at: Node.noOffset))
        guard add(table, to: root) else { return nil }
    }

    /// Creates a store for one text under a name, as variables and arguments need it.
    init(text: String, name: String) {
        self.init()
        var node = Node.text(append(text), .text, at: Node.noOffset)
        node.key = append(name)
        _ = add(node)
    }

    /// Creates a store for the bytes of a file under a name, which are a text unless they aren't UTF-8.
    init(file bytes: [UInt8], name: String) {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            self.init()
            var node = Node.other(append(.data(bytes)), at: Node.noOffset)
            node.key = append(name)
            _ = add(node)
            return
        }
        self.init(source: bytes)
        let length = text.last?.isNewline == true ? text.dropLast().utf8.count : bytes.count
        var node = Node.text(Text(start: 0, length: UInt32(length)), .text, at: Node.noOffset)
        node.mark = .file
        node.key = append(name)
        _ = add(node)
    }

    /// Creates a store for an empty table under a name.
    init(emptyTable name: String) { self.init(table: .collection(.table, at: Node.noOffset), name: name) }

    /// Creates a store for the node of a table under a name.
    init(table node: Node, name: String) {
        self.init()
        var node = node
        node.key = append(name)
        _ = add(node)
    }

    /// Creates a store for an argument that has no value.
    init(flag name: String) {
        self.init()
        var node = Node.flag(at: Node.noOffset)
        node.key = append(name)
        _ = add(node)
    }

    /// Creates a store for a list of texts under a name; `nil` is an argument without a value.
    init(words: [String?], name: String, mark: Node.Mark = .closed) {
        self.init()
        var node = Node.collection(.array, mark, at: Node.noOffset)
        node.key = append(name)
        let root = add(node)
        for word in words {
            add(word.map { .text(append($0), .word, at: Node.noOffset) } ?? .flag(at: Node.noOffset), toArray: root)
        }
    }

    /// A list of pending tables replaces recursion, which could overflow a small stack.
    private mutating func add(_ table: [String: PropertyValue], to root: Int32) -> Bool {
        var open: [(value: PropertyValue, id: Int32)] = [(.table(table), root)]
        while let (value, id) = open.popLast() {
            guard nodes[Int(id)].depth < Self.depthLimit else { return false }
            if case .table(let members) = value {
                for (name, member) in members.sorted(by: { $0.key < $1.key }) {
                    let key = append(name)
                    let child = add(node(for: member), toTable: id, key: key, keyOffset: Node.noOffset)
                    if member.isCollection { open.append((member, child)) }
                }
            } else if case .array(let elements) = value {
                for element in elements {
                    let child = add(node(for: element), toArray: id)
                    if element.isCollection { open.append((element, child)) }
                }
            }
        }
        return true
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

extension PropertyValue {
    fileprivate var isCollection: Bool {
        switch self {
        case .array, .table: true
        default: false
        }
    }
}
