/// The bytes of a document and the values in them.
///
/// Parsers fill it; after that, it's only read.
struct NodeStore: Sendable {
    static let depthLimit = 512
    static let sizeLimit = 1 << 30

    /// The source, a zero that ends it, and then the texts that differ from the source because of escapes.
    ///
    /// A zero in the source is an error in every format, so parsers need no other check for the end.
    private(set) var bytes: [UInt8]
    private(set) var nodes: [Node] = []
    private(set) var others: [PropertyValue] = []
    private var names = NameSlots()
    /// The names that aren't plain ASCII.
    ///
    /// Their bytes can't be compared, because the same name can be encoded in several ways.
    private var wideNames: [WideName: Int32] = [:]
    /// The tables that dotted names create, by the written table that would contain them.
    private var aliases: [WideName: Int32] = [:]
    /// The offset of the source after a byte order mark.
    let start: Int
    /// The end of the source.
    let end: Int
    /// Whether a name contains a dot and so may be equal to a nested one.
    private(set) var hasDottedNames = false
    /// The offset of the first integer that `Int64` can't represent, if there's one.
    private(set) var wideOffset: UInt32?

    init(source: [UInt8] = []) {
        start = source.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        end = source.count
        bytes = source
        bytes.append(0)
    }

    // MARK: Adding

    /// Reserves room for about as many nodes as a document of this size has.
    mutating func reserveNodes() { nodes.reserveCapacity(end / 16 + 1) }

    mutating func appendByte(_ byte: UInt8) { bytes.append(byte) }

    /// Appends byte by byte: a slice would share the storage, so appending it would copy the whole document.
    mutating func appendBytes(_ range: Range<Int>) {
        for index in range { bytes.append(bytes[index]) }
    }

    mutating func append(_ text: String) -> Text {
        let start = UInt32(bytes.count)
        bytes.append(contentsOf: text.utf8)
        return Text(start: start, length: UInt32(bytes.count) - start)
    }

    mutating func append(_ value: PropertyValue) -> Int {
        others.append(value)
        return others.count - 1
    }

    /// Adds the root, or a node that has its parent.
    mutating func add(_ node: Node) -> Int32 {
        if node.mark == .wide { wideOffset = wideOffset ?? node.offset }
        nodes.append(node)
        return Int32(nodes.count - 1)
    }

    /// Adds an element to an array.
    @discardableResult
    mutating func add(_ node: Node, toArray array: Int32) -> Int32 {
        var node = node
        node.key = Text(start: nodes[Int(array)].count, length: 0)
        return link(node, to: array)
    }

    /// Adds a member to a table that doesn't have one of that name.
    @discardableResult
    mutating func add(_ node: Node, toTable table: Int32, key: Text, keyOffset: UInt32) -> Int32 {
        var node = node
        var isPlain = true
        for byte in bytes[key.range] {
            if byte == UInt8(ascii: ".") { hasDottedNames = true }
            if byte >= 0x80 { isPlain = false }
        }
        node.key = isPlain ? key : plainForm(of: key) ?? key
        node.keyOffset = keyOffset
        let id = link(node, to: table)
        if !isPlain { wideNames[WideName(first: nodes[Int(table)].first, name: string(node.key))] = id }
        index(id, in: table)
        return id
    }

    mutating func setKey(_ name: String, of id: Int32) { nodes[Int(id)].key = append(name) }

    mutating func setMark(_ mark: Node.Mark, of id: Int32) { nodes[Int(id)].mark = mark }

    private mutating func link(_ node: Node, to parent: Int32) -> Int32 {
        var node = node
        node.parent = parent
        node.next = -1
        node.depth = nodes[Int(parent)].depth + 1
        let id = add(node)
        let last = nodes[Int(parent)].last
        if last < 0 { nodes[Int(parent)].first = id } else { nodes[Int(last)].next = id }
        nodes[Int(parent)].last = id
        nodes[Int(parent)].count += 1
        return id
    }

    // MARK: Finding

    /// Small tables are searched linearly, which is faster than any hash.
    private static let smallTable: UInt32 = 16

    private mutating func index(_ id: Int32, in table: Int32) {
        let count = nodes[Int(table)].count
        guard count > Self.smallTable else { return }
        var child = count == Self.smallTable + 1 ? nodes[Int(table)].first : id
        while child >= 0 {
            if names.isFull { growNames() }
            names.insert(child, hash: hash(ofNode: child))
            child = nodes[Int(child)].next
        }
    }

    /// Returns the name with the few characters that Unicode considers equal to ASCII ones replaced by those.
    private mutating func plainForm(of key: Text) -> Text? {
        WideName.plainForm(of: string(key)).map { append($0) }
    }

    private mutating func growNames() {
        var larger = names.larger
        for id in names.ids { larger.insert(id, hash: hash(ofNode: id)) }
        names = larger
    }

    func child(of table: Int32, key: Text) -> Int32? {
        let found = unsafe bytes.withUnsafeBufferPointer {
            unsafe child(of: table, key: UnsafeBufferPointer(rebasing: $0[key.range]))
        }
        if found != nil || bytes[key.range].allSatisfy({ $0 < 0x80 }) { return found }
        return wideChild(of: table, named: string(key))
    }

    func child(of table: Int32, named name: String) -> Int32? {
        var name = name
        let found = name.withUTF8 { unsafe child(of: table, key: $0) }
        if found != nil { return found }
        if !aliases.isEmpty, let made = alias(of: table, named: String(name)) { return made }
        if name.utf8.allSatisfy({ $0 < 0x80 }) { return nil }
        return wideChild(of: table, named: name)
    }

    mutating func addAlias(_ id: Int32, of table: Int32) {
        aliases[WideName(first: table, name: string(nodes[Int(id)].key))] = id
    }

    /// Returns the table that dotted names create below a written table.
    func alias(of table: Int32, named name: String) -> Int32? { aliases[WideName(first: table, name: name)] }

    private func wideChild(of table: Int32, named name: String) -> Int32? {
        if let plain = WideName.plainForm(of: name) { return child(of: table, named: plain) }
        return wideNames[WideName(first: nodes[Int(table)].first, name: name)]
    }

    /// The buffer is only read during the call, and is part of `bytes` or of a string that outlives the call.
    private func child(of table: Int32, key: UnsafeBufferPointer<UInt8>) -> Int32? {
        let parent = nodes[Int(table)]
        guard parent.count > Self.smallTable else {
            var child = parent.first
            while child >= 0 {
                if unsafe matches(child, key) { return child }
                child = nodes[Int(child)].next
            }
            return nil
        }
        let hash = unsafe Self.hash(parent.first, key)
        return names.first(hash: hash) {
            unsafe nodes[Int(nodes[Int($0)].parent)].first == parent.first && matches($0, key)
        }
    }

    private func matches(_ id: Int32, _ key: UnsafeBufferPointer<UInt8>) -> Bool {
        let own = nodes[Int(id)].key
        guard Int(own.length) == key.count else { return false }
        let start = Int(own.start)
        for i in 0..<key.count where unsafe bytes[start + i] != key[i] { return false }
        return true
    }

    /// Identifies a table by its first child, so that a copy of its node finds the same members.
    private func hash(ofNode id: Int32) -> Int {
        let node = nodes[Int(id)]
        let first = nodes[Int(node.parent)].first
        return unsafe bytes.withUnsafeBufferPointer {
            unsafe Self.hash(first, UnsafeBufferPointer(rebasing: $0[node.key.range]))
        }
    }

    /// Swift seeds its hash for each process, so nobody can write a file whose names all collide.
    private static func hash(_ first: Int32, _ key: UnsafeBufferPointer<UInt8>) -> Int {
        var hasher = Hasher()
        hasher.combine(first)
        unsafe hasher.combine(bytes: UnsafeRawBufferPointer(key))
        return hasher.finalize()
    }

    // MARK: Reading

    func string(_ text: Text) -> String { String(decoding: bytes[text.range], as: UTF8.self) }
}
