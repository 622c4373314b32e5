extension TOMLParser {
    /// Parses a value with everything inside it.
    ///
    /// The list of open arrays and tables replaces recursion, so a deep document needs no stack.
    mutating func value(at place: Place) throws(SyntaxFailure) {
        var place = place
        var open: [Int32] = []
        repeat {
            if byte == UInt8(ascii: "[") || byte == UInt8(ascii: "{") {
                let isTable = byte == UInt8(ascii: "{")
                let collection = try self.open(.collection(isTable ? .table : .array, at: here), at: place)
                index += 1
                try skipLines()
                if let first = try element(of: collection) {
                    open.append(collection)
                    place = first
                    continue
                }
            } else {
                try scalar(at: place)
            }
            guard let next = try end(&open) else { return }
            place = next
        } while true
    }

    private mutating func scalar(at place: Place) throws(SyntaxFailure) {
        let start = here
        switch byte {
        case UInt8(ascii: "\""):
            _ = add(.text(isTripled(byte) ? try multilineString() : try basicString(), at: start), at: place)
        case UInt8(ascii: "'"):
            _ = add(.text(isTripled(byte) ? try multilineLiteral() : try literalString(), at: start), at: place)
        default: try word(at: place)
        }
    }

    /// Returns the place of the next element, or `nil` at the end of the collection.
    private mutating func element(of collection: Int32) throws(SyntaxFailure) -> Place? {
        guard store.nodes[Int(collection)].kind == .table else { return take("]") ? nil : .element(of: collection) }
        return take("}") ? nil : try keyAndEquals(in: collection)
    }

    /// Closes the collections that end after a value.
    ///
    /// Returns the place of the next value, or `nil` if the outermost collection is closed.
    private mutating func end(_ open: inout [Int32]) throws(SyntaxFailure) -> Place? {
        while let collection = open.last {
            try skipLines()
            let node = store.nodes[Int(collection)]
            let isTable = node.kind == .table
            if take(",") {
                try skipLines()
                if let next = try element(of: collection) { return next }
            } else if !take(isTable ? "}" : "]") {
                throw failure(.notClosed(isTable ? .inlineTable : .array, opened: node.offset))
            }
            open.removeLast()
        }
        return nil
    }

    func isTripled(_ quote: UInt8) -> Bool {
        // The second access stays in bounds: at the end, the first one has met the zero.
        store.bytes[index + 1] == quote && store.bytes[index + 2] == quote
    }

    // MARK: Words

    /// Parses a value without quotes: a Boolean value, a number, a date, or a time.
    private mutating func word(at place: Place) throws(SyntaxFailure) {
        let start = index
        skipWord()
        guard index > start else { throw failure(.expected("a value")) }
        let first = store.bytes[start]
        if first == UInt8(ascii: ".") { throw failure(.dotWithoutDigit, at: start) }
        if ByteClass.isLetter(first) {
            _ = add(try namedValue(start), at: place)
        } else if isDateOrTime(start) {
            _ = add(try dateOrTime(start), at: place)
        } else {
            _ = add(try number(start), at: place)
        }
    }

    private mutating func skipWord() {
        while ByteClass.isBareKey(byte) || byte == UInt8(ascii: ".") || byte == UInt8(ascii: ":")
            || byte == UInt8(ascii: "+")
        {
            index += 1
        }
    }

    private func namedValue(_ start: Int) throws(SyntaxFailure) -> Node {
        if isWord("true", start) { return .bool(true, at: UInt32(start)) }
        if isWord("false", start) { return .bool(false, at: UInt32(start)) }
        if let value = infinityOrNaN(start, isNegative: false) { return .double(value, at: UInt32(start)) }
        throw failure(.unknownValue(meant(start)), at: start)
    }

    /// Returns what a word of another language means in TOML.
    private func meant(_ start: Int) -> SyntaxProblem.Meant {
        switch String(decoding: store.bytes[start..<index], as: UTF8.self).lowercased() {
        case "true", "yes", "on": .yes
        case "false", "no", "off": .no
        case "null", "nil", "none", "undefined": .nothing
        case "infinity": .infinity
        case "nan": .notANumber
        default: .text
        }
    }

    private func infinityOrNaN(_ start: Int, isNegative: Bool) -> Double? {
        if isWord("inf", start) { return isNegative ? -.infinity : .infinity }
        return isWord("nan", start) ? .nan : nil
    }

    private func isWord(_ word: String, _ start: Int) -> Bool {
        index - start == word.utf8.count && store.bytes[start..<index].elementsEqual(word.utf8)
    }

    // MARK: Dates and times

    private func isDateOrTime(_ start: Int) -> Bool {
        var digits = start
        while ByteClass.isDigit(store.bytes[digits]) { digits += 1 }
        let separator = store.bytes[digits]
        return digits > start && (separator == UInt8(ascii: "-") || separator == UInt8(ascii: ":"))
    }

    private mutating func dateOrTime(_ start: Int) throws(SyntaxFailure) -> Node {
        // A space can replace the T after a date.
        if index - start == 10, byte == 0x20, ByteClass.isDigit(store.bytes[index + 1]) {
            index += 1
            skipWord()
        }
        do {
            let value = try DateTimeScanner.value(in: store.bytes, start..<index)
            return .other(store.append(value), at: UInt32(start))
        } catch {
            throw failure(.dateTime(error), at: start)
        }
    }

    // MARK: Numbers

    private func number(_ start: Int) throws(SyntaxFailure) -> Node {
        let sign = store.bytes[start]
        let isSigned = sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+")
        let digits = isSigned ? start + 1 : start
        let isNegative = sign == UInt8(ascii: "-")
        if isSigned, let value = infinityOrNaN(digits, isNegative: isNegative) {
            return .double(value, at: UInt32(start))
        }
        if store.bytes[digits] == UInt8(ascii: "0"), let radix = radix(store.bytes[digits + 1]) {
            guard !isSigned else { throw failure(.signedPrefix, at: start) }
            return try integer(start, digits + 2..<index, isNegative: false, radix: radix)
        }
        let wholeEnd = try digitRun(from: digits, start: start)
        if store.bytes[digits] == UInt8(ascii: "0"), wholeEnd > digits + 1 { throw failure(.leadingZero, at: digits) }
        guard wholeEnd < index else { return try integer(start, digits..<index, isNegative: isNegative, radix: 10) }
        return try double(start, wholeEnd: wholeEnd)
    }

    private func radix(_ prefix: UInt8) -> Int64? {
        switch prefix {
        case UInt8(ascii: "x"): 16
        case UInt8(ascii: "o"): 8
        case UInt8(ascii: "b"): 2
        default: nil
        }
    }

    private func integer(
        _ start: Int, _ digits: Range<Int>, isNegative: Bool, radix: Int64
    ) throws(SyntaxFailure) -> Node {
        guard try digitRun(from: digits.lowerBound, start: start, radix: UInt32(radix)) == digits.upperBound else {
            throw failure(.malformedNumber, at: start)
        }
        if let value = DecimalNumber.integer(in: store.bytes, digits, isNegative: isNegative, radix: radix) {
            return .integer(value, at: UInt32(start))
        }
        guard radix == 10 else { throw failure(.integerTooLarge, at: start) }
        return try wideInteger(start..<digits.upperBound)
    }

    private func double(_ start: Int, wholeEnd: Int) throws(SyntaxFailure) -> Node {
        var position = wholeEnd
        if store.bytes[position] == UInt8(ascii: ".") {
            guard ByteClass.isDigit(store.bytes[position + 1]) || store.bytes[position + 1] == UInt8(ascii: "_") else {
                throw failure(.dotWithoutDigit, at: start)
            }
            position = try digitRun(from: position + 1, start: start)
        }
        if store.bytes[position] | 0x20 == UInt8(ascii: "e") {
            position += 1
            let sign = store.bytes[position]
            if sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { position += 1 }
            position = try digitRun(from: position, start: start)
        }
        guard position == index else { throw failure(.malformedNumber, at: start) }
        let value = DecimalNumber.double(in: store.bytes, start..<index)
        guard value.isFinite else { throw failure(.doubleTooLarge, at: start) }
        return .double(value, at: UInt32(start))
    }

    /// Returns the end of a run of digits, which may contain underscores between two digits.
    private func digitRun(from first: Int, start: Int, radix: UInt32 = 10) throws(SyntaxFailure) -> Int {
        var position = first
        while true {
            let isDigit = ByteClass.hexValue(store.bytes[position]).map { $0 < radix } ?? false
            guard isDigit || store.bytes[position] == UInt8(ascii: "_") else { break }
            if !isDigit, position == first || store.bytes[position - 1] == UInt8(ascii: "_") {
                throw failure(.underscore, at: position)
            }
            position += 1
        }
        guard position > first else { throw failure(.malformedNumber, at: start) }
        if store.bytes[position - 1] == UInt8(ascii: "_") { throw failure(.underscore, at: position - 1) }
        return position
    }
}
