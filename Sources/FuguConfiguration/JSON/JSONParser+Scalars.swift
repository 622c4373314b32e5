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
