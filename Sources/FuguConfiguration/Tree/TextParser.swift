/// The part that both parsers share: a store to fill and a position in its source.
///
/// Reading at the end gives the zero that ends it.
protocol TextParser {
    var store: NodeStore { get set }
    var index: Int { get set }

    mutating func document() throws(SyntaxFailure)
}

/// The place of the next value.
struct Place {
    let parent: Int32
    let key: Text
    let keyOffset: UInt32

    static let root = Place(parent: -1, key: .none, keyOffset: Node.noOffset)

    static func element(of array: Int32) -> Place { Place(parent: array, key: .none, keyOffset: Node.noOffset) }
}

extension TextParser {
    var byte: UInt8 {
        @inline(__always) get { store.bytes[index] }
    }

    var isAtEnd: Bool { index == store.end }

    /// The offset of a node that begins here.
    var here: UInt32 { UInt32(truncatingIfNeeded: index) }

    func failure(_ problem: SyntaxProblem, at offset: Int? = nil) -> SyntaxFailure {
        SyntaxFailure(problem: problem, offset: offset ?? index)
    }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard byte == UInt8(ascii: character) else { return false }
        index += 1
        return true
    }

    mutating func add(_ node: Node, at place: Place) -> Int32 {
        guard place.parent >= 0 else { return store.add(node) }
        return store.nodes[Int(place.parent)].kind == .array
            ? store.add(node, toArray: place.parent)
            : store.add(node, toTable: place.parent, key: place.key, keyOffset: place.keyOffset)
    }

    /// Adds an array or a table, or throws an error if it's nested too deeply.
    mutating func open(_ node: Node, at place: Place) throws(SyntaxFailure) -> Int32 {
        let id = add(node, at: place)
        guard store.nodes[Int(id)].depth < NodeStore.depthLimit else {
            throw failure(.nestedTooDeep, at: Int(node.offset))
        }
        return id
    }

    /// Returns the place of a member, or throws an error if the table already has the name.
    func place(in table: Int32, key: Text, keyOffset: UInt32) throws(SyntaxFailure) -> Place {
        if let first = store.child(of: table, key: key) {
            throw failure(.givenTwice(first: store.nodes[Int(first)].keyOffset), at: Int(keyOffset))
        }
        return Place(parent: table, key: key, keyOffset: keyOffset)
    }

    /// Parses the whole text into a tree.
    consuming func parsed(name: String) throws(PropertyError) -> PropertyTree {
        do {
            try store.checkText()
            index = store.start
            store.reserveNodes()
            try document()
        } catch {
            throw PropertyError(error, in: store, source: name)
        }
        return PropertyTree(store: store, source: name)
    }

    /// Returns the node of an integer beyond `Int64`, which types that can represent it decode exactly.
    func wideInteger(_ range: Range<Int>) throws(SyntaxFailure) -> Node {
        let value = DecimalNumber.double(in: store.bytes, range)
        guard value.isFinite else { throw failure(.integerTooLarge, at: range.lowerBound) }
        var node = Node.double(value, at: UInt32(range.lowerBound))
        node.mark = .wide
        return node
    }

    // MARK: Escapes

    /// Returns the scalar of `count` hexadecimal digits, and passes them.
    mutating func hexNumber(digits count: Int) throws(SyntaxFailure) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<count {
            guard let digit = ByteClass.hexValue(byte) else { throw failure(.hexDigits(count)) }
            value = value << 4 | digit
            index += 1
        }
        return value
    }

    mutating func appendScalar(_ scalar: Unicode.Scalar) {
        for byte in UTF8.encode(scalar)! { store.appendByte(byte) }
    }
}
