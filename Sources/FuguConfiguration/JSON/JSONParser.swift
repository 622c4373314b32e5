/// Parses JSON (RFC 8259), with comments and trailing commas, in one pass over its bytes.
struct JSONParser: TextParser {
    var store: NodeStore
    var index = 0

    static func parse(_ bytes: consuming [UInt8], name: String) throws(PropertyError) -> PropertyTree {
        try JSONParser(store: NodeStore(source: consume bytes)).parsed(name: name)
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

extension JSONParser {
    // MARK: Strings

    /// Parses a string, which stays in the source if it has no escapes.
    mutating func string() throws(SyntaxFailure) -> Text {
        let opening = index
        index += 1
        skipPlain()
        if byte == UInt8(ascii: "\"") {
            index += 1
            return Text(start: UInt32(opening + 1), length: UInt32(index - opening - 2))
        }
        let start = UInt32(store.bytes.count)
        store.appendBytes(opening + 1..<index)
        while !take("\"") {
            guard byte == UInt8(ascii: "\\") else {
                throw isAtEnd ? failure(.stringNotClosed, at: opening) : failure(.controlInString)
            }
            try escape(opening: opening)
            let plain = index
            skipPlain()
            store.appendBytes(plain..<index)
        }
        return Text(start: start, length: UInt32(store.bytes.count) - start)
    }

    /// Moves to the next quote, backslash, or control character, such as the zero at the end.
    private mutating func skipPlain() {
        var position = index
        while true {
            let byte = store.bytes[position]
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte < 0x20 { break }
            position += 1
        }
        index = position
    }

    private mutating func escape(opening: Int) throws(SyntaxFailure) {
        let start = index
        index += 1
        let escaped = byte
        guard !isAtEnd else { throw failure(.stringNotClosed, at: opening) }
        index += 1
        switch escaped {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): store.appendByte(escaped)
        case UInt8(ascii: "b"): store.appendByte(0x08)
        case UInt8(ascii: "f"): store.appendByte(0x0C)
        case UInt8(ascii: "n"): store.appendByte(0x0A)
        case UInt8(ascii: "r"): store.appendByte(0x0D)
        case UInt8(ascii: "t"): store.appendByte(0x09)
        case UInt8(ascii: "u"): appendScalar(try unicodeEscape(start: start))
        default: throw failure(.unknownEscape(isTOML: false), at: start + 1)
        }
    }

    /// Parses one or two escapes: a scalar above U+FFFF takes two, and half of such a pair is an error.
    private mutating func unicodeEscape(start: Int) throws(SyntaxFailure) -> Unicode.Scalar {
        let first = try hexNumber(digits: 4)
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard first < 0xDC00, byte == UInt8(ascii: "\\"), store.bytes[index + 1] == UInt8(ascii: "u") else {
            throw failure(.surrogate, at: start)
        }
        index += 2
        let second = try hexNumber(digits: 4)
        guard (0xDC00...0xDFFF).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        else { throw failure(.surrogate, at: start) }
        return scalar
    }

    // MARK: Numbers

    mutating func number(at place: Place) throws(SyntaxFailure) {
        let start = index
        let isNegative = take("-")
        let digits = index
        try skipDigits()
        if store.bytes[digits] == UInt8(ascii: "0"), index > digits + 1 { throw failure(.leadingZero, at: digits) }
        let integerEnd = index
        if take(".") {
            guard ByteClass.isDigit(byte) else { throw failure(.dotWithoutDigit, at: start) }
            try skipDigits()
        }
        if byte | 0x20 == UInt8(ascii: "e") {
            index += 1
            if !take("+") { _ = take("-") }
            try skipDigits()
        }
        if index == integerEnd {
            let value = DecimalNumber.integer(in: store.bytes, digits..<index, isNegative: isNegative)
            let node = if let value { Node.integer(value, at: UInt32(start)) } else { try wideInteger(start..<index) }
            _ = add(node, at: place)
        } else {
            let value = DecimalNumber.double(in: store.bytes, start..<index)
            guard value.isFinite else { throw failure(.doubleTooLarge, at: start) }
            _ = add(.double(value, at: UInt32(start)), at: place)
        }
    }

    private mutating func skipDigits() throws(SyntaxFailure) {
        guard ByteClass.isDigit(byte) else { throw failure(.expected("a digit")) }
        while ByteClass.isDigit(byte) { index += 1 }
    }
}
