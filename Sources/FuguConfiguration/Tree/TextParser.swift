import Fugu

/// The part that both parsers share: a store to fill and a position in its source.
///
/// Reading at the end gives the zero that ends it.
protocol TextParser {
    var store: NodeStore { get set }
    var index: Int { get set }
    /// Whether a byte that isn't UTF-8 concerns the whole text, not only the value that has it.
    static var checksAllBytes: Bool { get }

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
    static var checksAllBytes: Bool { true }

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
            try store.checkText(allBytes: Self.checksAllBytes)
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

extension NodeStore {
    /// Returns the line and column of a byte of the source, from 1, with columns in Unicode scalars.
    ///
    /// It walks from the beginning.
    func position(of offset: Int) -> (line: Int, column: Int) {
        var cursor = PositionCursor(start: start)
        return cursor.move(to: offset, in: bytes)
    }

    func line(of offset: UInt32) -> Int { position(of: Int(offset)).line }

    /// Returns the one character that a syntax error may quote.
    func characterText(at offset: Int) -> String {
        guard offset < end else { return "the end of the text" }
        if bytes[offset] == UInt8(ascii: "\n") || bytes[offset] == UInt8(ascii: "\r") { return "the end of the line" }
        return scalarText(at: offset)
    }

    func scalarText(at offset: Int) -> String {
        let scalar = String(decoding: bytes[offset..<min(offset + 4, end)], as: UTF8.self).unicodeScalars.first
        return scalar.map(Quoted.scalar) ?? ""
    }
}

/// Converts offsets to lines and columns; increasing offsets take one walk in total.
struct PositionCursor {
    private let start: Int
    private(set) var offset: Int
    private var line = 1
    private var column = 1

    init(start: Int) {
        self.start = start
        offset = start
    }

    mutating func move(to target: Int, in bytes: [UInt8]) -> (line: Int, column: Int) {
        if target < offset { self = PositionCursor(start: start) }
        while offset < target {
            let byte = bytes[offset]
            if byte == UInt8(ascii: "\n") {
                line += 1
                column = 1
            } else if byte & 0xC0 != 0x80 {
                column += 1
            }
            offset += 1
        }
        return (line, column)
    }
}

/// Finds the places in a document.
///
/// The first lookup walks through the document, and every later one through a few thousand bytes, so placing ten
/// thousand errors in a file takes no longer than reading it.
final class PositionIndex: Sendable {
    private static let spacing = 4096

    private let marks = Locked<[PositionCursor]>([])

    func position(of offset: Int, in store: NodeStore) -> (line: Int, column: Int) {
        var cursor = marks.withLock { marks in
            if marks.isEmpty { marks = Self.marks(in: store) }
            return marks[max(0, offset - store.start) / Self.spacing]
        }
        return cursor.move(to: offset, in: store.bytes)
    }

    private static func marks(in store: NodeStore) -> [PositionCursor] {
        var cursor = PositionCursor(start: store.start)
        var marks = [cursor]
        while cursor.offset + spacing <= store.end {
            _ = cursor.move(to: cursor.offset + spacing, in: store.bytes)
            marks.append(cursor)
        }
        return marks
    }
}

extension NodeStore {
    /// Throws an error if the text is UTF-16 or too large.
    ///
    /// `allBytes`: Whether it's also an error if the text isn't UTF-8 (including overlong forms, surrogates, and values beyond
    /// U+10FFFF).
    func checkText(allBytes: Bool) throws(SyntaxFailure) {
        guard end < Self.sizeLimit else { throw SyntaxFailure(problem: .tooLarge, offset: 0) }
        let source = bytes[..<end]
        if source.starts(with: [0xFF, 0xFE]) || source.starts(with: [0xFE, 0xFF]) {
            throw SyntaxFailure(problem: .utf16, offset: 0)
        }
        // The standard library's check is fast; only text that it rejects is walked here, to find the place.
        guard allBytes, String(validating: source, as: UTF8.self) == nil else { return }
        throw SyntaxFailure(problem: .notUTF8, offset: firstInvalidByte())
    }

    private func firstInvalidByte() -> Int {
        var index = start
        while index < end, let length = scalarLength(at: index) { index += length }
        return index
    }

    /// Returns the length of the scalar that begins here, or `nil` if there's none.
    private func scalarLength(at index: Int) -> Int? {
        let lead = bytes[index]
        let (length, second): (Int, ClosedRange<UInt8>)
        switch lead {
        case 0...0x7F: return 1
        case 0xC2...0xDF: (length, second) = (2, 0x80...0xBF)
        case 0xE0: (length, second) = (3, 0xA0...0xBF)
        case 0xED: (length, second) = (3, 0x80...0x9F)
        case 0xE1...0xEF: (length, second) = (3, 0x80...0xBF)
        case 0xF0: (length, second) = (4, 0x90...0xBF)
        case 0xF1...0xF3: (length, second) = (4, 0x80...0xBF)
        case 0xF4: (length, second) = (4, 0x80...0x8F)
        default: return nil
        }
        guard index + length <= end, second.contains(bytes[index + 1]) else { return nil }
        return (2..<length).allSatisfy { bytes[index + $0] & 0xC0 == 0x80 } ? length : nil
    }
}
