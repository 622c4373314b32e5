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

    init(source: consuming [UInt8] = []) {
        start = source.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        end = source.count
        // Not shared, the bytes of a file have room for the zero and aren't copied.
        bytes = consume source
        bytes.append(0)
    }

    // MARK: Adding

    /// Reserves room for about as many nodes as a document of this size has at most.
    ///
    /// Memory that's reserved and not used takes nothing but addresses, and growing a large array takes it twice.
    mutating func reserveNodes() { nodes.reserveCapacity(end / 8 + 1) }

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

    func isUTF8(_ text: Text) -> Bool { String(validating: bytes[text.range], as: UTF8.self) != nil }
}

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
        var node = Node.text(append(text).unframed(in: bytes), .text, at: Node.noOffset)
        node.key = append(name)
        _ = add(node)
    }

    /// Creates a store for the bytes of a file under a name, which are a text unless they aren't UTF-8.
    init(file bytes: [UInt8], name: String) {
        guard String(validating: bytes, as: UTF8.self) != nil else {
            self.init()
            var node = Node.other(append(.data(bytes)), at: Node.noOffset)
            node.mark = .file
            node.key = append(name)
            _ = add(node)
            return
        }
        self.init(source: bytes)
        let text = Text(start: 0, length: UInt32(bytes.count)).unframed(in: bytes)
        var node = Node.text(text, .text, at: Node.noOffset)
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

    /// Creates a store for the name of a member, from which the key of a dictionary is decoded.
    init(key: String, name: String) {
        self.init(text: key, name: name)
        nodes[0].mark = .name
    }

    /// Creates a store for an argument that has no value, or that is switched off.
    init(flag name: String, isOn: Bool = true) {
        self.init()
        var node = Node.flag(isOn: isOn, at: Node.noOffset)
        node.key = append(name)
        _ = add(node)
    }

    /// Creates a store for a list of texts under a name.
    init(words: [String], name: String) {
        self.init()
        var node = Node.collection(.array, at: Node.noOffset)
        node.key = append(name)
        let root = add(node)
        for word in words {
            add(.text(append(word).unframed(in: bytes), .word, at: Node.noOffset), toArray: root)
        }
    }

    /// Creates a store for the elements of several lists, one list after the other, under a name.
    init(joining lists: [LocatedValue], name: String) {
        self.init(words: [], name: name)
        // A list of pending collections replaces recursion, which could overflow a small stack.
        var open = lists.map { (value: $0, id: Int32(0)) }
        var index = 0
        while index < open.count {
            let (value, id) = open[index]
            index += 1
            value.forEachChild { child in
                let new = copy(child, to: id, isElement: value.node.kind == .array)
                if child.node.kind == .array || child.node.kind == .table { open.append((child, new)) }
            }
        }
    }

    /// Copies a value from another store, without what's inside it.
    private mutating func copy(_ value: LocatedValue, to parent: Int32, isElement: Bool) -> Int32 {
        var node = value.node
        switch node.kind {
        case .array, .table: node = .collection(node.kind, at: Node.noOffset)
        case .string, .text, .word: node = .text(append(value.text), node.kind, at: Node.noOffset)
        case .other: node = .other(append(value.propertyValue), at: Node.noOffset)
        case .double:
            // A word keeps the digits as they were written.
            let written = value.tree.store.numberText(at: node.offset).map { append($0) }
            node = written.map { .text($0, .word, at: Node.noOffset) } ?? node
        default: break
        }
        node.offset = Node.noOffset
        guard !isElement else { return add(node, toArray: parent) }
        let key = append(value.tree.store.string(value.node.key))
        return add(node, toTable: parent, key: key, keyOffset: Node.noOffset)
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
        case .integer(let value):
            return Int64(exactly: value).map { .integer($0, at: offset) } ?? .other(append(.integer(value)), at: offset)
        case .double(let value): return .double(value, at: offset)
        case .string(let value): return .text(append(value), at: offset)
        case .array: return .collection(.array, at: offset)
        case .table: return .collection(.table, at: offset)
        case .data, .date: return .other(append(value), at: offset)
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

/// A run of bytes in a store.
struct Text {
    var start: UInt32
    var length: UInt32

    static let none = Text(start: 0, length: 0)

    var range: Range<Int> { Int(start)..<Int(start) + Int(length) }

    /// Returns the text without a byte order mark and a line break at its end, which editors and `echo` add.
    ///
    /// It's the one rule for the texts of variables, arguments, and files.
    func unframed(in bytes: [UInt8]) -> Text {
        var range = range
        if bytes[range].starts(with: [0xEF, 0xBB, 0xBF]) { range = range.dropFirst(3) }
        if bytes[range].last == UInt8(ascii: "\n") { range = range.dropLast() }
        if range.upperBound < self.range.upperBound, bytes[range].last == UInt8(ascii: "\r") {
            range = range.dropLast()
        }
        return Text(start: UInt32(range.lowerBound), length: UInt32(range.count))
    }
}

/// A value of a loaded document.
///
/// Nodes are trivial and are stored in one array, so a megabyte of JSON takes a handful of allocations, and values
/// that nobody decodes cost nothing more.
struct Node {
    enum Kind: UInt8 {
        case null, bool, integer, double, string
        /// The text of a variable or an argument, parsed as the type that is decoded; a list splits it at commas.
        case text
        /// A text that is already one element of a list.
        case word
        /// An argument without a value: a Boolean value, and nothing as any other type.
        case flag
        /// A date, bytes, or an integer beyond `Int64` that was never text, stored beside the nodes.
        case other
        case array, table
    }

    /// The way in which a TOML table or array was created, which decides what can extend it.
    enum Mark: UInt8 {
        case closed, header, implicit, dotted, tables
        /// The name of a member, which is decoded as the key of a dictionary.
        case name
        /// An integer beyond `Int64`, whose digits are in the source.
        case wide
        /// The text of a whole file, whose bytes are also its data.
        case file
    }

    static let noOffset = UInt32.max

    var kind: Kind
    var mark = Mark.closed
    /// The number of tables and arrays around it.
    var depth: UInt16 = 0
    /// The offset of the value in the source.
    var offset: UInt32
    /// The offset of its name in the source.
    var keyOffset = Node.noOffset
    /// Its name in its table; for an element of an array, `start` is the index.
    var key = Text.none
    var parent: Int32 = -1
    var next: Int32 = -1
    /// The number of its children.
    var count: UInt32 = 0
    /// The bits of the number, the range of the text, the index among the others, or the first and last child.
    private var payload: UInt64

    private init(_ kind: Kind, _ payload: UInt64, at offset: UInt32) {
        self.kind = kind
        self.payload = payload
        self.offset = offset
    }

    static func flag(isOn: Bool, at offset: UInt32) -> Node { Node(.flag, isOn ? 1 : 0, at: offset) }
    static func null(at offset: UInt32) -> Node { Node(.null, 0, at: offset) }
    static func bool(_ value: Bool, at offset: UInt32) -> Node { Node(.bool, value ? 1 : 0, at: offset) }
    static func integer(_ value: Int64, at offset: UInt32) -> Node {
        Node(.integer, UInt64(bitPattern: value), at: offset)
    }
    static func double(_ value: Double, at offset: UInt32) -> Node { Node(.double, value.bitPattern, at: offset) }
    static func other(_ index: Int, at offset: UInt32) -> Node { Node(.other, UInt64(index), at: offset) }

    static func text(_ text: Text, _ kind: Kind = .string, at offset: UInt32) -> Node {
        Node(kind, UInt64(text.start) << 32 | UInt64(text.length), at: offset)
    }

    static func collection(_ kind: Kind, _ mark: Mark = .closed, at offset: UInt32) -> Node {
        var node = Node(kind, 0, at: offset)
        (node.first, node.last, node.mark) = (-1, -1, mark)
        return node
    }

    var bool: Bool { payload != 0 }
    var integer: Int64 { Int64(bitPattern: payload) }
    var double: Double { Double(bitPattern: payload) }
    var otherIndex: Int { Int(payload) }
    var text: Text { Text(start: UInt32(payload >> 32), length: UInt32(truncatingIfNeeded: payload)) }

    var first: Int32 {
        get { Int32(truncatingIfNeeded: payload >> 32) }
        set { payload = UInt64(UInt32(bitPattern: newValue)) << 32 | payload & 0xFFFF_FFFF }
    }

    var last: Int32 {
        get { Int32(truncatingIfNeeded: payload) }
        set { payload = payload & 0xFFFF_FFFF_0000_0000 | UInt64(UInt32(bitPattern: newValue)) }
    }
}

/// An open-addressing hash table of node numbers, with linear probing, at most half full.
///
/// It doesn't know the names.
struct NameSlots: Sendable {
    private var slots: [Int32]
    private var count = 0

    init(capacity: Int = 0) {
        slots = Array(repeating: -1, count: capacity)
    }

    var isFull: Bool { count * 2 >= slots.count }
    var ids: some Sequence<Int32> { slots.lazy.filter { $0 >= 0 } }

    /// An empty table with room for twice as many numbers.
    var larger: NameSlots { NameSlots(capacity: max(64, slots.count * 2)) }

    /// Inserts a number; the table must not be full.
    mutating func insert(_ id: Int32, hash: Int) {
        var slot = hash & (slots.count - 1)
        while slots[slot] >= 0 { slot = (slot + 1) & (slots.count - 1) }
        slots[slot] = id
        count += 1
    }

    func first(hash: Int, where matches: (Int32) -> Bool) -> Int32? {
        guard !slots.isEmpty else { return nil }
        var slot = hash & (slots.count - 1)
        while slots[slot] >= 0 {
            if matches(slots[slot]) { return slots[slot] }
            slot = (slot + 1) & (slots.count - 1)
        }
        return nil
    }
}

/// A name with characters beyond ASCII.
///
/// Strings are equal however their accents are composed, and so are names.
struct WideName: Hashable, Sendable {
    /// The first child, which identifies the table.
    let first: Int32
    let name: String

    /// Returns the ASCII name that Unicode considers equal to this one, such as `K` for the Kelvin sign, or `nil` if
    /// there's none.
    static func plainForm(of name: String) -> String? {
        var plain = ""
        for scalar in name.unicodeScalars {
            switch scalar.value {
            case 0x212A: plain += "K"
            case 0x037E: plain += ";"
            case 0x1FEF: plain += "`"
            case 0..<0x80: plain.unicodeScalars.append(scalar)
            default: return nil
            }
        }
        return plain
    }
}
