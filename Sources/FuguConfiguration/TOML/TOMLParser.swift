/// Parses TOML 1.1 in one pass over its bytes.
struct TOMLParser: TextParser {
    var store: NodeStore
    var index = 0
    /// The table of the last header.
    private var section: Int32 = 0

    static func parse(_ bytes: consuming [UInt8], name: String) throws(PropertyError) -> PropertyTree {
        try TOMLParser(store: NodeStore(source: consume bytes)).parsed(name: name)
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
            let moment = try DateTimeScanner.moment(in: store.bytes, start..<index)
            return .other(store.append(.date(moment.description)), at: UInt32(start))
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
