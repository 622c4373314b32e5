/// Parses JSON (RFC 8259), with comments and trailing commas, in one pass over its bytes.
struct JSONParser: TextParser {
    var store: NodeStore
    var index = 0

    static func parse(_ bytes: [UInt8], name: String) throws(PropertyError) -> PropertyTree {
        try JSONParser(store: NodeStore(source: bytes)).parsed(name: name)
    }

    mutating func document() throws(SyntaxFailure) {
        try skipSpace()
        try values()
        try skipSpace()
        guard isAtEnd else { throw failure(.expected("the end of the text")) }
    }

    /// Parses a value with everything inside it.
    ///
    /// The parent links of nodes replace recursion, so a deep document needs no stack.
    private mutating func values() throws(SyntaxFailure) {
        var place = Place.root
        while true {
            var parent = place.parent
            if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") {
                let isTable = byte == UInt8(ascii: "{")
                parent = try open(.collection(isTable ? .table : .array, at: here), at: place)
                index += 1
                try skipSpace()
                if let first = try element(of: parent) {
                    place = first
                    continue
                }
                parent = store.nodes[Int(parent)].parent
            } else {
                try scalar(at: place)
            }
            guard let next = try end(parent) else { return }
            place = next
        }
    }

    /// Returns the place of the next element, or `nil` at the end of the collection.
    private mutating func element(of parent: Int32) throws(SyntaxFailure) -> Place? {
        guard store.nodes[Int(parent)].kind == .table else { return take("]") ? nil : .element(of: parent) }
        if take("}") { return nil }
        guard byte == UInt8(ascii: "\"") else { throw failure(.expected("a name in double quotes or }")) }
        let keyOffset = here
        let key = try string()
        let member = try place(in: parent, key: key, keyOffset: keyOffset)
        try skipSpace()
        guard take(":") else { throw failure(.expected(":")) }
        try skipSpace()
        return member
    }

    /// Closes the collections that end after a value.
    ///
    /// Returns the place of the next value, or `nil` if the outermost collection is closed.
    private mutating func end(_ innermost: Int32) throws(SyntaxFailure) -> Place? {
        var parent = innermost
        while parent >= 0 {
            try skipSpace()
            let node = store.nodes[Int(parent)]
            let isTable = node.kind == .table
            if take(",") {
                try skipSpace()
                if let next = try element(of: parent) { return next }
            } else if !take(isTable ? "}" : "]") {
                throw failure(.notClosed(isTable ? .object : .array, opened: node.offset))
            }
            parent = node.parent
        }
        return nil
    }

    private mutating func scalar(at place: Place) throws(SyntaxFailure) {
        let start = here
        switch byte {
        case UInt8(ascii: "\""): _ = add(.text(try string(), at: start), at: place)
        case UInt8(ascii: "-"), 0x30...0x39: try number(at: place)
        case UInt8(ascii: "t"): try word("true", .bool(true, at: start), at: place)
        case UInt8(ascii: "f"): try word("false", .bool(false, at: start), at: place)
        case UInt8(ascii: "n"): try word("null", .null(at: start), at: place)
        case UInt8(ascii: "."): throw failure(.dotWithoutDigit)
        default: throw ByteClass.isLetter(byte) ? failure(.unknownWord) : failure(.expected("a value"))
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
    fileprivate func byte(at offset: Int) -> UInt8 { withUTF8Buffer { unsafe $0[offset] } }
}
