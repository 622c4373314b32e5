/// Finds dotted names in a document in which some names contain dots: `"api.timeout" = 1` has the same effect as
/// `[api]` with `timeout = 1`.
///
/// Documents without such names need no index.
///
/// Each name outside of arrays is split at its dots and entered below the entry of its table. An entry that a dotted
/// name passes through gives a table of everything entered below it; any other entry gives the value as it was
/// written.
struct NameIndex: Sendable {
    private struct Key: Hashable {
        let parent: Int
        let segment: Substring
    }

    private struct Entry {
        let parent: Int
        let segment: Text
        /// The offset of the first name that entered it.
        let offset: UInt32
        /// The value that was written under this name, or -1.
        var written: Int32 = -1
        /// Whether a dotted name passes through it.
        var isMixed = false
        /// The node that it gives.
        var answer: Int32 = -1
    }

    private var entries = [Entry(parent: -1, segment: .none, offset: 0, written: 0, answer: 0)]
    private var numbers: [Key: Int] = [:]

    enum Failure: Error {
        case givenTwice(first: Int32, second: Int32)
        case tooDeep(Int32)
    }

    /// Enters the names of `store`, and adds the tables that dotted names create to it.
    init(_ store: inout NodeStore) throws(Failure) {
        var tables = [(node: Int32(0), entry: 0, depth: 0)]
        while let table = tables.popLast() {
            var child = store.nodes[Int(table.node)].first
            while child >= 0 {
                let (entry, depth) = try enter(child, below: table.entry, depth: table.depth, store)
                if store.nodes[Int(child)].kind == .table { tables.append((child, entry, depth)) }
                child = store.nodes[Int(child)].next
            }
        }
        for entry in entries.indices.dropFirst() { answer(entry, &store) }
    }

    /// Returns the node for a name.
    func node(named name: String) -> Int32? {
        var entry = 0
        for segment in name.segments {
            guard let next = numbers[Key(parent: entry, segment: segment)] else { return nil }
            entry = next
        }
        return entries[entry].answer < 0 ? nil : entries[entry].answer
    }

    private mutating func enter(
        _ node: Int32, below table: Int, depth: Int, _ store: NodeStore
    ) throws(Failure) -> (entry: Int, depth: Int) {
        let (key, offset) = (store.nodes[Int(node)].key, store.nodes[Int(node)].keyOffset)
        let segments = store.string(key).segments
        guard depth + segments.count <= NodeStore.depthLimit else { throw .tooDeep(node) }
        var entry = table
        var start = key.start
        for segment in segments {
            if entry != table { entries[entry].isMixed = true }
            let text = Text(start: start, length: UInt32(segment.utf8.count))
            entry = number(of: Key(parent: entry, segment: segment), text, offset)
            start += text.length + 1
        }
        guard entries[entry].written < 0 else { throw .givenTwice(first: entries[entry].written, second: node) }
        entries[entry].written = node
        return (entry, depth + segments.count)
    }

    private mutating func number(of key: Key, _ text: Text, _ offset: UInt32) -> Int {
        if let number = numbers[key] { return number }
        entries.append(Entry(parent: key.parent, segment: text, offset: offset))
        numbers[key] = entries.count - 1
        return entries.count - 1
    }

    /// Entries follow their parents, so the parent's table already exists.
    private mutating func answer(_ number: Int, _ store: inout NodeStore) {
        let entry = entries[number]
        let parent = entries[entry.parent]
        let written = entry.written < 0 ? nil : store.nodes[Int(entry.written)]
        let isMade = entry.isMixed && (written == nil || written?.kind == .table)
        // An entry that no name passes through has a value.
        var node = isMade ? .collection(.table, at: written?.offset ?? entry.offset) : written!
        if parent.isMixed, store.nodes[Int(parent.answer)].kind == .table {
            entries[number].answer = store.add(
                node, toTable: parent.answer, key: entry.segment, keyOffset: written?.keyOffset ?? entry.offset)
        } else if isMade {
            (node.key, node.parent) = (entry.segment, parent.answer)
            let id = store.add(node)
            entries[number].answer = id
            // When the table around it is decoded, it's found by its name, although the document doesn't have this
            // table.
            store.addAlias(id, of: parent.answer)
        } else {
            entries[number].answer = entry.written
        }
    }
}
