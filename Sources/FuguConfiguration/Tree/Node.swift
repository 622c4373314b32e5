/// A run of bytes in a store.
struct Text {
    var start: UInt32
    var length: UInt32

    static let none = Text(start: 0, length: 0)

    var range: Range<Int> { Int(start)..<Int(start) + Int(length) }
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
        /// An argument without a value: `true` as a Boolean value, and nothing as any other type.
        case flag
        /// A date or bytes, stored beside the nodes.
        case other
        case array, table
    }

    /// The way in which a TOML table or array was created, which decides what can extend it.
    enum Mark: UInt8 {
        case closed, header, implicit, dotted, tables
        /// The values of an argument that occurs several times.
        case repeated
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

    static func flag(at offset: UInt32) -> Node { Node(.flag, 0, at: offset) }
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
