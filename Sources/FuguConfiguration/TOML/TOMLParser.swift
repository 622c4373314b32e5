/// Parses TOML 1.1 in one pass over its bytes.
struct TOMLParser: TextParser {
    var store: NodeStore
    var index = 0
    /// The table of the last header.
    private var section: Int32 = 0

    static func parse(_ bytes: [UInt8], name: String) throws(PropertyError) -> PropertyTree {
        try TOMLParser(store: NodeStore(source: bytes)).parsed(name: name)
    }

    init(store: NodeStore) {
        self.store = store
    }

    mutating func document() throws(SyntaxFailure) {
        section = store.add(.collection(.table, .header, at: here))
        while true {
            skipBlanks()
            switch byte {
            case UInt8(ascii: "["): try header()
            case UInt8(ascii: "#"), 0x0A, 0x0D: break
            case _ where isAtEnd: return
            default: try value(at: keyAndEquals(in: section))
            }
            try endOfLine()
        }
    }

    // MARK: Headers

    private mutating func header() throws(SyntaxFailure) {
        let start = index
        index += 1
        let isArray = take("[")
        var table: Int32 = 0
        while true {
            skipBlanks()
            let keyOffset = here
            let key = try simpleKey(expected: "a key")
            skipBlanks()
            if take(".") {
                table = try superTable(in: table, key: key, keyOffset: keyOffset)
                continue
            }
            guard take("]"), !isArray || take("]") else { throw failure(.expected(isArray ? "]]" : "]")) }
            let place = Place(parent: table, key: key, keyOffset: keyOffset)
            section = isArray ? try arrayElement(at: place, start: start) : try openTable(at: place, start: start)
            return
        }
    }

    /// Returns the table above the one that a header names, and creates it if needed.
    private mutating func superTable(in table: Int32, key: Text, keyOffset: UInt32) throws(SyntaxFailure) -> Int32 {
        guard let id = store.child(of: table, key: key) else {
            let place = Place(parent: table, key: key, keyOffset: keyOffset)
            return try open(.collection(.table, .implicit, at: keyOffset), at: place)
        }
        let found = store.nodes[Int(id)]
        switch (found.kind, found.mark) {
        case (.table, .closed): throw failure(.closedTable(first: found.keyOffset), at: Int(keyOffset))
        case (.table, _): return id
        case (.array, .tables): return found.last
        case (.array, _): throw failure(.closedArray(first: found.keyOffset), at: Int(keyOffset))
        default: throw failure(.notATable(first: found.keyOffset), at: Int(keyOffset))
        }
    }

    private mutating func openTable(at place: Place, start: Int) throws(SyntaxFailure) -> Int32 {
        guard let id = store.child(of: place.parent, key: place.key) else {
            return try open(.collection(.table, .header, at: UInt32(start)), at: place)
        }
        let found = store.nodes[Int(id)]
        guard found.kind == .table, found.mark == .implicit else {
            throw failure(.givenTwice(first: found.keyOffset), at: Int(place.keyOffset))
        }
        store.setMark(.header, of: id)
        return id
    }

    private mutating func arrayElement(at place: Place, start: Int) throws(SyntaxFailure) -> Int32 {
        let array: Int32
        if let id = store.child(of: place.parent, key: place.key) {
            let found = store.nodes[Int(id)]
            guard found.kind == .array, found.mark == .tables else {
                throw failure(.notAnArray(first: found.keyOffset), at: Int(place.keyOffset))
            }
            array = id
        } else {
            array = try open(.collection(.array, .tables, at: UInt32(start)), at: place)
        }
        return try open(.collection(.table, .header, at: UInt32(start)), at: .element(of: array))
    }

    // MARK: Keys

    /// Parses `a.b.c = `, in a section or in braces.
    ///
    /// Returns the place of the value.
    mutating func keyAndEquals(in table: Int32) throws(SyntaxFailure) -> Place {
        var table = table
        while true {
            let keyOffset = here
            let key = try simpleKey(expected: "a key")
            skipBlanks()
            if take(".") {
                table = try dottedTable(in: table, key: key, keyOffset: keyOffset)
                skipBlanks()
                continue
            }
            guard take("=") else { throw failure(.expected("= or . after the key")) }
            skipBlanks()
            return try place(in: table, key: key, keyOffset: keyOffset)
        }
    }

    /// Returns a table for a dotted key.
    ///
    /// Only dotted keys of the same section can extend a table that dotted keys created.
    private mutating func dottedTable(in table: Int32, key: Text, keyOffset: UInt32) throws(SyntaxFailure) -> Int32 {
        guard let id = store.child(of: table, key: key) else {
            let place = Place(parent: table, key: key, keyOffset: keyOffset)
            return try open(.collection(.table, .dotted, at: keyOffset), at: place)
        }
        let found = store.nodes[Int(id)]
        switch (found.kind, found.mark) {
        case (.table, .dotted): return id
        case (.table, .closed): throw failure(.closedTable(first: found.keyOffset), at: Int(keyOffset))
        case (.table, _): throw failure(.dottedElsewhere(first: found.keyOffset), at: Int(keyOffset))
        case (.array, _): throw failure(.closedArray(first: found.keyOffset), at: Int(keyOffset))
        default: throw failure(.notATable(first: found.keyOffset), at: Int(keyOffset))
        }
    }

    private mutating func simpleKey(expected: String) throws(SyntaxFailure) -> Text {
        let start = index
        switch byte {
        case UInt8(ascii: "\""):
            guard !isTripled(byte) else { throw failure(.multilineKey) }
            return try basicString()
        case UInt8(ascii: "'"):
            guard !isTripled(byte) else { throw failure(.multilineKey) }
            return try literalString()
        default:
            while ByteClass.isBareKey(byte) { index += 1 }
            guard index > start else { throw failure(.expected(expected)) }
            return Text(start: UInt32(start), length: UInt32(index - start))
        }
    }

    // MARK: Space and comments

    mutating func skipBlanks() {
        while byte == 0x20 || byte == 0x09 { index += 1 }
    }

    /// Passes a comment, if there's one here, up to the end of its line.
    private mutating func skipComment() throws(SyntaxFailure) {
        guard byte == UInt8(ascii: "#") else { return }
        while byte >= 0x20 && byte != 0x7F || byte == 0x09 { index += 1 }
        guard isAtEnd || byte == 0x0A || byte == 0x0D else { throw failure(.controlInComment) }
    }

    /// Passes a line end, if there's one here.
    mutating func takeNewline() throws(SyntaxFailure) -> Bool {
        if byte == 0x0D {
            guard store.bytes[index + 1] == 0x0A else { throw failure(.bareCarriageReturn) }
            index += 1
        }
        return take("\n")
    }

    private mutating func endOfLine() throws(SyntaxFailure) {
        skipBlanks()
        try skipComment()
        guard try takeNewline() || isAtEnd else { throw failure(.expected("the end of the line")) }
    }

    /// Passes blanks, comments, and line ends, which are allowed anywhere between brackets and braces.
    mutating func skipLines() throws(SyntaxFailure) {
        repeat {
            skipBlanks()
            try skipComment()
        } while try takeNewline()
    }
}
