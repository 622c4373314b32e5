extension TOMLParser {
    // MARK: One line

    /// Parses a string, which stays in the source if it has no escapes.
    mutating func basicString() throws(SyntaxFailure) -> Text {
        let opening = index
        index += 1
        skipPlain(until: UInt8(ascii: "\""), UInt8(ascii: "\\"))
        if byte == UInt8(ascii: "\"") { return closed(from: opening + 1, quotes: 1) }
        let start = UInt32(store.bytes.count)
        store.appendBytes(opening + 1..<index)
        while !take("\"") {
            guard byte == UInt8(ascii: "\\") else { throw stringFailure(opening) }
            try escape(opening: opening)
            let plain = index
            skipPlain(until: UInt8(ascii: "\""), UInt8(ascii: "\\"))
            store.appendBytes(plain..<index)
        }
        return Text(start: start, length: UInt32(store.bytes.count) - start)
    }

    mutating func literalString() throws(SyntaxFailure) -> Text {
        let opening = index
        index += 1
        skipPlain(until: UInt8(ascii: "'"), UInt8(ascii: "'"))
        guard byte == UInt8(ascii: "'") else { throw stringFailure(opening) }
        return closed(from: opening + 1, quotes: 1)
    }

    // MARK: Several lines

    mutating func multilineString() throws(SyntaxFailure) -> Text {
        let opening = index
        try openMultiline()
        let content = index
        var copyStart: UInt32?
        var plain = content
        while true {
            skipPlain(until: UInt8(ascii: "\""), UInt8(ascii: "\\"))
            if byte == UInt8(ascii: "\\") {
                if copyStart == nil { copyStart = UInt32(store.bytes.count) }
                store.appendBytes(plain..<index)
                if try !skipLineEnding() { try escape(opening: opening) }
                plain = index
            } else if try isClosing(UInt8(ascii: "\""), opening: opening) {
                guard let copyStart else { return closed(from: content, quotes: 3) }
                store.appendBytes(plain..<index)
                index += 3
                return Text(start: copyStart, length: UInt32(store.bytes.count) - copyStart)
            }
        }
    }

    mutating func multilineLiteral() throws(SyntaxFailure) -> Text {
        let opening = index
        try openMultiline()
        let content = index
        repeat {
            skipPlain(until: UInt8(ascii: "'"), UInt8(ascii: "'"))
        } while try !isClosing(UInt8(ascii: "'"), opening: opening)
        return closed(from: content, quotes: 3)
    }

    /// A line end right after the opening quotes isn't part of the string.
    private mutating func openMultiline() throws(SyntaxFailure) {
        index += 3
        _ = try takeNewline()
    }

    /// Returns whether the closing quotes are here, and passes line ends and quotes that are part of the string.
    ///
    /// The last three of up to five quotes close the string.
    private mutating func isClosing(_ quote: UInt8, opening: Int) throws(SyntaxFailure) -> Bool {
        guard byte == quote else {
            guard try takeNewline() else { throw stringFailure(opening) }
            return false
        }
        guard isTripled(quote) else {
            index += 1
            return false
        }
        var extra = 0
        while extra < 2, store.bytes[index + 3] == quote {
            index += 1
            extra += 1
        }
        return true
    }

    /// A backslash at the end of a line removes all whitespace before the next text.
    private mutating func skipLineEnding() throws(SyntaxFailure) -> Bool {
        let start = index
        index += 1
        skipBlanks()
        guard try takeNewline() else {
            index = start
            return false
        }
        repeat { skipBlanks() } while try takeNewline()
        return true
    }

    // MARK: Parts

    /// Moves to the next of the two bytes, or to a control character other than a tab, such as the zero at the end.
    private mutating func skipPlain(until first: UInt8, _ second: UInt8) {
        var position = index
        while true {
            let byte = store.bytes[position]
            if byte == first || byte == second || byte == 0x7F || byte < 0x20 && byte != 0x09 { break }
            position += 1
        }
        index = position
    }

    private mutating func closed(from content: Int, quotes: Int) -> Text {
        let text = Text(start: UInt32(content), length: UInt32(index - content))
        index += quotes
        return text
    }

    private func stringFailure(_ opening: Int) -> SyntaxFailure {
        let isCut = isAtEnd || byte == 0x0A || byte == 0x0D
        return isCut ? failure(.stringNotClosed, at: opening) : failure(.controlInString)
    }

    private mutating func escape(opening: Int) throws(SyntaxFailure) {
        let start = index
        index += 1
        let escaped = byte
        guard !isAtEnd else { throw failure(.stringNotClosed, at: opening) }
        index += 1
        switch escaped {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): store.appendByte(escaped)
        case UInt8(ascii: "b"): store.appendByte(0x08)
        case UInt8(ascii: "t"): store.appendByte(0x09)
        case UInt8(ascii: "n"): store.appendByte(0x0A)
        case UInt8(ascii: "f"): store.appendByte(0x0C)
        case UInt8(ascii: "r"): store.appendByte(0x0D)
        case UInt8(ascii: "e"): store.appendByte(0x1B)
        case UInt8(ascii: "x"): try appendEscaped(digits: 2, start: start)
        case UInt8(ascii: "u"): try appendEscaped(digits: 4, start: start)
        case UInt8(ascii: "U"): try appendEscaped(digits: 8, start: start)
        default: throw failure(.unknownEscape(isTOML: true), at: start + 1)
        }
    }

    private mutating func appendEscaped(digits: Int, start: Int) throws(SyntaxFailure) {
        guard let scalar = Unicode.Scalar(try hexNumber(digits: digits)) else {
            throw failure(.notAScalarValue, at: start)
        }
        appendScalar(scalar)
    }
}
