import Fugu

extension LocatedValue {
    /// Decodes the value exactly, or says where and why it does not fit.
    ///
    /// `quotesValues`: whether the error may quote the value; false for secrets and for untyped access.
    package func decode<Value: Decodable>(
        _ type: Value.Type = Value.self, quotesValues: Bool = true
    ) throws(PropertyError) -> Value {
        do {
            return try decoded(type)
        } catch {
            throw (Self.failure(in: error) ?? DecodingFailure(value: self, reason: "\(error)"))
                .error(decoding: self, quotesValues: quotesValues)
        }
    }

    /// What a few levels of decoding take where nothing is optimised.
    private static var stackReserve: UInt { 128 << 10 }

    /// What containers call for every nested value.
    func decoded<Value: Decodable>(_ type: Value.Type) throws -> Value {
        switch node.kind {
        case .table where type == Duration.self, .array where type == Duration.self:
            throw mismatch(type, expected: Self.durationForm)
        case .table: break
        case .array: if let list = try list(type) { return list }
        default: if let value = try nativeValue(type) { return value }
        }
        // What a type decodes it decodes on the stack, however deep the document.
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

    /// Lists of what is most often listed, without the containers that their own decoding would ask for.
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

    /// Types whose own decoding would not know the forms that configuration has for them.
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

    /// Exactly, from a whole number or from a fraction that is whole.
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

    /// From the digits as they were written: what a `Double` makes of them may be another number.
    private func wholeNumber<Integer: FixedWidthInteger>(_ node: Node) -> Integer? {
        guard let written = tree.store.numberText(at: node.offset) else { return Integer(exactly: node.double) }
        return DecimalNumber.wholeNumber(written)
    }

    /// A whole number only if it is held exactly; a fraction as near as the type can hold it, but never as infinity.
    func floating<Float: BinaryFloatingPoint & LosslessStringConvertible>(_ type: Float.Type) throws -> Float {
        let node = node
        switch node.kind {
        case .integer:
            if let value = Float(exactly: node.integer) { return value }
        case .double:
            let value = Float(node.double)
            if value.isFinite || !node.double.isFinite { return value }
        case .text, .word:
            // The library would take hexadecimal numbers too, which nothing else here does.
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

    /// The string of a file, or the text of the environment or an argument.
    var textOrNil: String? {
        switch node.kind {
        case .string, .text, .word: text
        default: nil
        }
    }

    /// The date or time of the source, not one written as text.
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

    /// The array.
    ///
    /// Text is split at its commas into words, blanks around them removed; an argument has the words that follow it
    /// too.
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
