/// Reads JSON (RFC 8259), in which comments and one trailing comma are allowed, in one pass over its bytes.
struct JSONParser: TextParser {
    var store: NodeStore
    var index = 0

    static func parse(_ bytes: [UInt8], name: String) throws(PropertyError) -> PropertyTree {
        try JSONParser(store: NodeStore(source: bytes)).parsed(name: name)
    }

    mutating func document() throws(SyntaxFailure) {
        try skipSpace()
        try value(at: .root)
        try skipSpace()
        guard isAtEnd else { throw failure(.expected("the end of the text")) }
    }

    /// Recursion ends at the depth limit, which `open` holds.
    private mutating func value(at place: Place) throws(SyntaxFailure) {
        let start = here
        switch byte {
        case UInt8(ascii: "\""):
            _ = add(.text(try string(), at: start), at: place)
        case UInt8(ascii: "{"): try object(at: place)
        case UInt8(ascii: "["): try array(at: place)
        case UInt8(ascii: "-"), 0x30...0x39: try number(at: place)
        case UInt8(ascii: "t"): try word("true", .bool(true, at: start), at: place)
        case UInt8(ascii: "f"): try word("false", .bool(false, at: start), at: place)
        case UInt8(ascii: "n"): try word("null", .null(at: start), at: place)
        default: throw ByteClass.isLetter(byte) ? failure(.unknownWord) : failure(.expected("a value"))
        }
    }

    private mutating func object(at place: Place) throws(SyntaxFailure) {
        let table = try open(.collection(.table, at: here), at: place)
        index += 1
        try skipSpace()
        while !take("}") {
            guard byte == UInt8(ascii: "\"") else { throw failure(.expected("a name in double quotes or }")) }
            let keyOffset = here
            let key = try string()
            let member = try self.place(in: table, key: key, keyOffset: keyOffset)
            try skipSpace()
            guard take(":") else { throw failure(.expected(":")) }
            try skipSpace()
            try value(at: member)
            try skipSpace()
            guard take(",") else {
                guard take("}") else { throw failure(.expected(", or }")) }
                return
            }
            try skipSpace()
        }
    }

    private mutating func array(at place: Place) throws(SyntaxFailure) {
        let array = try open(.collection(.array, at: here), at: place)
        index += 1
        try skipSpace()
        while !take("]") {
            try value(at: .element(of: array))
            try skipSpace()
            guard take(",") else {
                guard take("]") else { throw failure(.expected(", or ]")) }
                return
            }
            try skipSpace()
        }
    }

    private mutating func word(_ word: StaticString, _ node: Node, at place: Place) throws(SyntaxFailure) {
        let start = index
        for offset in 0..<word.utf8CodeUnitCount {
            guard byte == word.byte(at: offset) else { throw failure(.unknownWord, at: start) }
            index += 1
        }
        guard !ByteClass.isBareKey(byte) else { throw failure(.unknownWord, at: start) }
        _ = add(node, at: place)
    }

    // MARK: Space and comments

    private mutating func skipSpace() throws(SyntaxFailure) {
        while true {
            switch byte {
            case 0x20, 0x0A, 0x0D, 0x09: index += 1
            case UInt8(ascii: "/"): try skipComment()
            default: return
            }
        }
    }

    private mutating func skipComment() throws(SyntaxFailure) {
        let start = index
        index += 1
        if take("/") {
            while byte != 0x0A, !isAtEnd { index += 1 }
        } else if take("*") {
            while !(byte == UInt8(ascii: "*") && store.bytes[index + 1] == UInt8(ascii: "/")) {
                guard !isAtEnd else { throw failure(.commentNotClosed, at: start) }
                index += 1
            }
            index += 2
        } else {
            throw failure(.expected("/ or * after /"))
        }
    }
}

extension StaticString {
    fileprivate func byte(at offset: Int) -> UInt8 { withUTF8Buffer { $0[offset] } }
}
