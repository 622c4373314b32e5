/// Converts a node and everything inside it to a value.
///
/// A list of open collections replaces recursion, which could overflow a small stack.
struct ValueBuilder {
    private struct Frame {
        let node: Node
        var next: Int32
        var elements: [PropertyValue] = []
        var members: [String: PropertyValue] = [:]

        var value: PropertyValue { node.kind == .array ? .array(elements) : .table(members) }

        init(_ node: Node) {
            self.node = node
            next = node.first
            if node.kind == .array { elements.reserveCapacity(Int(node.count)) }
        }
    }

    private let store: NodeStore
    private var open: [Frame] = []

    init(store: NodeStore) { self.store = store }

    mutating func value(of id: Int32) -> PropertyValue {
        let root = store.nodes[Int(id)]
        if let scalar = scalar(root) { return scalar }
        open = [Frame(root)]
        while true {
            let top = open.count - 1
            let child = open[top].next
            guard child < 0 else {
                step(to: store.nodes[Int(child)], from: top)
                continue
            }
            let frame = open.removeLast()
            guard top > 0 else { return frame.value }
            add(frame.value, frame.node, to: top - 1)
        }
    }

    private mutating func step(to node: Node, from top: Int) {
        open[top].next = node.next
        if node.kind == .null, open[top].node.kind == .table { return }
        if let scalar = scalar(node) { add(scalar, node, to: top) } else { open.append(Frame(node)) }
    }

    private mutating func add(_ value: PropertyValue, _ node: Node, to frame: Int) {
        if open[frame].node.kind == .array {
            open[frame].elements.append(value)
        } else {
            open[frame].members[store.string(node.key)] = value
        }
    }

    private func scalar(_ node: Node) -> PropertyValue? {
        switch node.kind {
        case .null: .table([:])
        case .bool: .bool(node.bool)
        case .flag: .bool(true)
        case .integer: .integer(node.integer)
        case .double: .double(node.double)
        case .string, .text, .word: .string(store.string(node.text))
        case .other: store.others[node.otherIndex]
        case .array, .table: nil
        }
    }
}
