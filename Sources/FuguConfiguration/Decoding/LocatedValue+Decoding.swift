import Fugu

extension LocatedValue {
    /// Decodes the value exactly, or throws an error with its place.
    ///
    /// `quotesValues`: Whether the error may quote the value; `false` for secret keys and for untyped access.
    package func decode<Value: Decodable>(
        _ type: Value.Type = Value.self, quotesValues: Bool = true
    ) throws(PropertyError) -> Value {
        do {
            return try decoded(type)
        } catch {
            throw (Self.failure(in: error) ?? DecodingFailure(value: self, reason: "\(error)"))
                .error(decoding: self, quotesValues: quotesValues && !isSecret)
        }
    }

    /// The stack that a few levels of decoding need without optimization.
    private static var stackReserve: UInt { 128 << 10 }

    /// Decodes a nested value; containers call it.
    func decoded<Value: Decodable>(_ type: Value.Type) throws -> Value {
        switch node.kind {
        case .table where type == Duration.self, .array where type == Duration.self:
            throw mismatch(type, expected: Self.durationForm)
        case .table: break
        case .array: if let list = try list(type) { return list }
        default: if let value = try nativeValue(type) { return value }
        }
        // Types decode themselves recursively, as deep as the document is nested.
        let depth = node.depth
        if depth >= 32, depth % 4 == 0, PlatformStack.isShorter(than: Self.stackReserve) {
            throw located(PropertyError(ErrorText.noStackLeft), decoding: type)
        }
        do {
            return try Value(from: ValueDecoder(value: self))
        } catch {
            throw located(error, decoding: type)
        }
    }

    /// Decodes arrays of the most common types directly, without the containers that `Array` uses.
    private func list<Value>(_ type: Value.Type) throws -> Value? {
        if type == [String].self { return try elements { try $0.string() } as? Value }
        if type == [Int].self { return try elements { try $0.integer(Int.self) } as? Value }
        if type == [Double].self { return try elements { try $0.floating(Double.self) } as? Value }
        return nil
    }

    private func elements<Element>(_ decode: (LocatedValue) throws -> Element) rethrows -> [Element] {
        var elements: [Element] = []
        elements.reserveCapacity(Int(node.count))
        var next = firstChild
        while let element = next {
            elements.append(try decode(element))
            next = element.nextSibling
        }
        return elements
    }

    /// Decodes the types whose own decoding doesn't support the forms of configuration.
    private func nativeValue<Value>(_ type: Value.Type) throws -> Value? {
        if type == Duration.self { return try duration() as? Value }
        if node.kind == .other, type == [UInt8].self { return try bytes() as? Value }
        return try foundationValue(type)
    }

    // MARK: Scalars

    func bool() throws -> Bool {
        switch node.kind {
        case .bool: return node.bool
        case .flag: return true
        case .text, .word:
            if text == "true" { return true }
            if text == "false" { return false }
        default: break
        }
        throw mismatch(Bool.self, expected: "Bool (true or false)")
    }

    /// Decodes exactly, from an integer or from a number without a fraction.
    func integer<Integer: FixedWidthInteger>(_ type: Integer.Type) throws -> Integer {
        let node = node
        let value: Integer? =
            switch node.kind {
            case .integer: Integer(exactly: node.integer)
            case .double: wholeNumber(node)
            case .text, .word: Integer(text) ?? DecimalNumber.wholeNumber(text)
            default: nil
            }
        guard let value else {
            let isNumber = node.kind == .integer || node.kind == .text && Int128(text) != nil
            throw mismatch(type, expected: isNumber ? "\(type) (\(Integer.min)...\(Integer.max))" : nil)
        }
        return value
    }

    /// Decodes the digits as they were written, since a `Double` could change the number.
    private func wholeNumber<Integer: FixedWidthInteger>(_ node: Node) -> Integer? {
        guard let written = tree.store.numberText(at: node.offset) else { return Integer(exactly: node.double) }
        return DecimalNumber.wholeNumber(written)
    }

    /// Decodes an integer only if it can be represented exactly; a fraction is rounded, but never to infinity.
    func floating<Float: BinaryFloatingPoint & LosslessStringConvertible>(_ type: Float.Type) throws -> Float {
        let node = node
        switch node.kind {
        case .integer:
            if let value = Float(exactly: node.integer) { return value }
        case .double:
            let value = Float(node.double)
            if value.isFinite || !node.double.isFinite { return value }
        case .text, .word:
            // The standard library would accept hexadecimal numbers, too.
            if !text.utf8.contains(where: { "xXpP(".utf8.contains($0) }), let value = Float(text),
                value.isFinite || text.lowercased().contains("inf") || value.isNaN
            {
                return value
            }
        default: break
        }
        throw mismatch(type)
    }

    func string() throws -> String {
        switch node.kind {
        case .string, .text, .word: return text
        default: throw mismatch(String.self)
        }
    }

    private static let durationForm = "Duration with a unit, such as 30s, 1.5m or 250ms"

    func duration() throws -> Duration {
        if let text = textOrNil, let value = DurationText.value(of: text) { return value }
        throw mismatch(Duration.self, expected: Self.durationForm)
    }

    func bytes() throws -> [UInt8] {
        guard node.kind == .other, case .data(let bytes) = tree.store.others[node.otherIndex] else {
            throw mismatch([UInt8].self, expected: "data")
        }
        return bytes
    }

    /// The string of a file, or the text of a variable or an argument.
    var textOrNil: String? {
        switch node.kind {
        case .string, .text, .word: text
        default: nil
        }
    }

    /// The date or time of the source; not one that is written as a string.
    var nativeDateTime: Any? {
        guard node.kind == .other else { return nil }
        return switch tree.store.others[node.otherIndex] {
        case .offsetDateTime(let value): value
        case .localDateTime(let value): value
        case .localDate(let value): value
        case .localTime(let value): value
        default: nil
        }
    }

    // MARK: Containers

    func table() throws -> LocatedValue {
        guard node.kind == .table else { throw mismatch([String: PropertyValue].self, expected: "table") }
        return self
    }

    /// Returns the array.
    ///
    /// Text is split at its commas into words without surrounding blanks; an argument also has the words that follow
    /// it.
    func array() throws -> LocatedValue {
        switch node.kind {
        case .array: return self
        case .text:
            let words = text.isEmpty ? [] : text.split(separator: ",", omittingEmptySubsequences: false)
            let isOneWord = words.count == 1 && !tree.following.isEmpty
            let store = NodeStore(words: isOneWord ? [text] + tree.following : words.map(Self.trimmed), name: name)
            return PropertyTree(store: store, source: tree.source).root
        default: throw mismatch([PropertyValue].self, expected: "array")
        }
    }

    private static func trimmed(_ word: Substring) -> String {
        let isBlank = { (character: Character) in character == " " || character == "\t" }
        var word = word.drop(while: isBlank)
        while let last = word.last, isBlank(last) { word.removeLast() }
        return String(word)
    }
}
