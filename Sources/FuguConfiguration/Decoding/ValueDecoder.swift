import Fugu

/// Decodes any `Decodable` type from a located value.
struct ValueDecoder: Decoder {
    let value: LocatedValue

    var codingPath: [any CodingKey] { value.path }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(TableContainer(table: try value.table()))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { ListContainer(list: try value.array()) }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }
}

extension ValueDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { value.node.kind == .null }
    func decode(_ type: Bool.Type) throws -> Bool { try value.bool() }
    func decode(_ type: String.Type) throws -> String { try value.string() }
    func decode(_ type: Double.Type) throws -> Double { try value.floating(type) }
    func decode(_ type: Float.Type) throws -> Float { try value.floating(type) }
    func decode(_ type: Int.Type) throws -> Int { try value.integer(type) }
    func decode(_ type: Int8.Type) throws -> Int8 { try value.integer(type) }
    func decode(_ type: Int16.Type) throws -> Int16 { try value.integer(type) }
    func decode(_ type: Int32.Type) throws -> Int32 { try value.integer(type) }
    func decode(_ type: Int64.Type) throws -> Int64 { try value.integer(type) }
    func decode(_ type: Int128.Type) throws -> Int128 { try value.integer(type) }
    func decode(_ type: UInt.Type) throws -> UInt { try value.integer(type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try value.integer(type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try value.integer(type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try value.integer(type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try value.integer(type) }
    func decode(_ type: UInt128.Type) throws -> UInt128 { try value.integer(type) }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try value.decoded(type) }
}

/// Decodes the members of a table.
struct TableContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let table: LocatedValue

    var codingPath: [any CodingKey] { table.path }

    var allKeys: [Key] {
        var keys: [Key] = []
        table.tree.usage?.noteWhole(table.id)
        for name in table.memberNames {
            if let key = Key(stringValue: name) { keys.append(key) }
        }
        return keys
    }

    func contains(_ key: Key) -> Bool { table.member(key.stringValue) != nil }

    func decodeNil(forKey key: Key) throws -> Bool { try member(key, "a value").node.kind == .null }
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try member(key, "\(type)").bool() }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try member(key, "\(type)").string() }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try member(key, "\(type)").floating(type) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try member(key, "\(type)").floating(type) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try member(key, "\(type)").integer(type) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try member(key, "\(type)").integer(type) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try member(key, "\(type)").integer(type) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try member(key, "\(type)").integer(type) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try member(key, "\(type)").integer(type) }
    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try member(key, "\(type)").integer(type) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try member(key, "\(type)").integer(type) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try member(key, "\(type)").integer(type) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try member(key, "\(type)").integer(type) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try member(key, "\(type)").integer(type) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try member(key, "\(type)").integer(type) }
    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try member(key, "\(type)").integer(type) }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try member(key, "\(type)").decoded(type)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        KeyedDecodingContainer(TableContainer<Nested>(table: try member(key, "table").table()))
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        ListContainer(list: try member(key, "array").array())
    }

    func superDecoder() throws -> any Decoder { try decoder(PathKey("super")) }

    func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(key) }

    private func decoder(_ key: some CodingKey) throws -> ValueDecoder {
        guard let value = table.member(key.stringValue) else { throw table.missing(key, expected: "a value") }
        return ValueDecoder(value: value)
    }

    /// The expected type is written as text only if the member is missing.
    private func member(_ key: Key, _ expected: @autoclosure () -> String) throws -> LocatedValue {
        guard let value = table.member(key.stringValue) else { throw table.missing(key, expected: expected()) }
        return value
    }
}

/// Decodes the elements of an array in order.
struct ListContainer: UnkeyedDecodingContainer {
    private let list: LocatedValue
    private var upcoming: LocatedValue?
    private(set) var currentIndex = 0

    init(list: LocatedValue) {
        self.list = list
        upcoming = list.firstChild
    }

    var codingPath: [any CodingKey] { list.path }
    var count: Int? { Int(list.node.count) }
    var isAtEnd: Bool { upcoming == nil }

    /// Advances only past a null, as the protocol requires.
    mutating func decodeNil() throws -> Bool {
        guard try element("a value").node.kind == .null else { return false }
        advance()
        return true
    }

    mutating func decode(_ type: Bool.Type) throws -> Bool { try next("\(type)") { try $0.bool() } }
    mutating func decode(_ type: String.Type) throws -> String { try next("\(type)") { try $0.string() } }
    mutating func decode(_ type: Double.Type) throws -> Double { try next("\(type)") { try $0.floating(type) } }
    mutating func decode(_ type: Float.Type) throws -> Float { try next("\(type)") { try $0.floating(type) } }
    mutating func decode(_ type: Int.Type) throws -> Int { try next("\(type)") { try $0.integer(type) } }
    mutating func decode(_ type: Int8.Type) throws -> Int8 { try next("\(type)") { try $0.integer(type) } }
    mutating func decode(_ type: Int16.Type) throws -> Int16 { try next("\(type)") { try $0.integer(type) } }
    mutating func decode(_ type: Int32.Type) throws -> Int32 { try next("\(type)") { try $0.integer(type) } }
    mutating func decode(_ type: Int64.Type) throws -> Int64 { try next("\(type)") { try $0.integer(type) } }
    mutating func decode(_ type: Int128.Type) throws -> Int128 { try next("\(type)") { try $0.integer(type) } }
    mutating func decode(_ type: UInt.Type) throws -> UInt { try next("\(type)") { try $0.integer(type) } }
    mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try next("\(type)") { try $0.integer(type) } }
    mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try next("\(type)") { try $0.integer(type) } }
    mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try next("\(type)") { try $0.integer(type) } }
    mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try next("\(type)") { try $0.integer(type) } }
    mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try next("\(type)") { try $0.integer(type) } }
    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try next("\(type)") { try $0.decoded(type) }
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        try next("table") { KeyedDecodingContainer(TableContainer<Nested>(table: try $0.table())) }
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try next("array") { ListContainer(list: try $0.array()) }
    }

    mutating func superDecoder() throws -> any Decoder { try next("a value") { ValueDecoder(value: $0) } }

    /// Doesn't advance past a value that can't be decoded, so that another type can be tried.
    private mutating func next<Value>(
        _ expected: @autoclosure () -> String, _ decode: (LocatedValue) throws -> Value
    ) throws -> Value {
        let value = try decode(element(expected()))
        advance()
        return value
    }

    private func element(_ expected: @autoclosure () -> String) throws -> LocatedValue {
        guard let upcoming else { throw list.missing(PathKey(index: currentIndex), expected: expected()) }
        return upcoming
    }

    private mutating func advance() {
        upcoming = upcoming?.nextSibling
        currentIndex += 1
    }
}

extension LocatedValue {
    /// Decodes the value exactly, or throws an error with its place.
    ///
    /// `quotesValues`: Whether the error may quote the value; `false` for secret keys and for untyped access.
    package func decode<Value: Decodable>(
        _ type: Value.Type = Value.self, quotesValues: Bool = true
    ) throws(PropertyError) -> Value {
        if let problem = tree.problem { throw problem }
        do {
            return try decoded(type)
        } catch {
            throw (Self.failure(in: error) ?? DecodingFailure(value: self, reason: "\(error)"))
                .error(decoding: self, quotesValues: quotesValues && !isSecret)
        }
    }

    /// Decodes the value in a form, or throws an error with its place.
    func decode<Value: Decodable>(
        _ type: Value.Type, form: PropertyForm<Value>?, quotesValues: Bool
    ) throws(PropertyError) -> Value {
        guard let form else { return try decode(type, quotesValues: quotesValues) }
        var located = self
        if form.text != PropertyTextForm() {
            located = LocatedValue(tree: PropertyTree(tree, textForm: form.text), id: id, isSecret: isSecret)
        }
        let value = try located.decode(type, quotesValues: quotesValues)
        guard let check = form.check, !check.isMet(value) else { return value }
        throw DecodingFailure(value: self, expected: check.expected)
            .error(decoding: self, quotesValues: quotesValues && !isSecret)
    }

    /// The stack that a few levels of decoding need without optimization.
    private static var stackReserve: UInt { 128 << 10 }

    /// Decodes a nested value; containers call it.
    func decoded<Value: Decodable>(_ type: Value.Type) throws -> Value {
        switch node.kind {
        case .array:
            if let list = try array().list(type) ?? nativeValue(type) { return list }
        // From a table, the types of Foundation would decode what they encode themselves.
        default: if let value = try nativeValue(type) { return value }
        }
        // Types decode themselves recursively, as deep as the document is nested.
        let depth = node.depth
        if depth >= 32, depth % 4 == 0, PlatformStack.current?.isShorter(than: Self.stackReserve) == true {
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
        if type == [UInt8].self, let bytes = bytesOrNil { return bytes as? Value }
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
            guard let value = Self.anyBoolean(text) else { break }
            if tree.textForm.acceptsAnyBoolean { return value }
            throw mismatch(Bool.self, expected: ErrorText.strictBoolean)
        default: break
        }
        if node.kind == .text, !tree.following.isEmpty {
            let spelling = String(tree.source.dropFirst("argument ".count))
            throw mismatch(Bool.self, expected: ErrorText.booleanArgument(spelling))
        }
        throw mismatch(Bool.self, expected: "Bool (true or false)")
    }

    private static func anyBoolean(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "true", "yes", "on", "1": true
        case "false", "no", "off", "0": false
        default: nil
        }
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
            let isNumber = node.kind == .integer || node.mark == .wide || node.kind == .text && Int128(text) != nil
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
        case .double where node.mark == .wide:
            if let value: Float = Self.exact(tree.store.numberText(at: node.offset) ?? "") { return value }
        case .double:
            // Not by way of a `Double`, which would round twice.
            if Float.self != Double.self, let written = tree.store.numberText(at: node.offset),
                let value: Float = Self.number(written)
            {
                return value
            }
            let value = Float(node.double)
            if value.isFinite || !node.double.isFinite { return value }
        case .text, .word:
            if let value: Float = Self.number(text) { return value }
        default: break
        }
        let isInteger = node.kind == .integer || node.mark == .wide || node.kind == .text && Self.isInteger(text)
        throw mismatch(type, expected: isInteger ? "\(type) (exactly; write a decimal point to round it)" : nil)
    }

    /// Whether the text is digits, maybe after a sign.
    private static func isInteger(_ text: String) -> Bool {
        let digits = text.utf8.dropFirst(text.hasPrefix("-") || text.hasPrefix("+") ? 1 : 0)
        return !digits.isEmpty && digits.allSatisfy(ByteClass.isDigit)
    }

    private static func exact<Float: BinaryFloatingPoint>(_ digits: String) -> Float? {
        let integer: Int128? = DecimalNumber.wholeNumber(digits)
        return integer.flatMap { Float(exactly: $0) }
    }

    private static func number<Float: BinaryFloatingPoint & LosslessStringConvertible>(_ text: String) -> Float? {
        if isInteger(text) { return exact(text) }
        // The standard library would accept hexadecimal numbers, too.
        guard !text.utf8.contains(where: { "xXpP(".utf8.contains($0) }), let value = Float(text) else { return nil }
        return value.isFinite || text.lowercased().contains("inf") || value.isNaN ? value : nil
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

    /// The bytes of the source, or those of a whole file.
    var bytesOrNil: [UInt8]? {
        if node.mark == .file { return Array(tree.store.bytes[..<tree.store.end]) }
        guard node.kind == .other, case .data(let bytes) = tree.store.others[node.otherIndex] else { return nil }
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
    /// Text between brackets is JSON. Other text is split at its commas into words without surrounding blanks; an argument
    /// also has the words that follow it.
    func array() throws -> LocatedValue {
        switch node.kind {
        case .array:
            guard tree.following.contains(where: { !$0.isEmpty }) else { return self }
            var words: [String?] = []
            var occurrence = firstChild
            for following in tree.following {
                words.append(occurrence?.textOrNil)
                words += try plainWords(following)
                occurrence = occurrence?.nextSibling
            }
            return list(of: words)
        case .text:
            if let list = try listInJSON() { return list }
            let separator = tree.textForm.separator ?? ","
            let words = text.isEmpty ? [] : text.split(separator: separator, omittingEmptySubsequences: false)
            guard words.count == 1, let following = tree.following.first else {
                return list(of: words.map(Self.trimmed))
            }
            return list(of: [following.isEmpty ? Self.trimmed(words[0]) : text] + (try plainWords(following)))
        default: throw mismatch([PropertyValue].self, expected: "array")
        }
    }

    /// Returns the list that a text writes as JSON, as people are used to, or `nil` if it isn't between brackets.
    ///
    /// As words, its brackets and quotes would become part of the elements.
    private func listInJSON() throws -> LocatedValue? {
        let text = Self.trimmed(text[...])
        guard text.hasPrefix("["), text.hasSuffix("]") else { return nil }
        guard var store = try? JSONParser.parse(Array(text.utf8), name: "").store else {
            throw mismatch([PropertyValue].self, expected: ErrorText.listInText)
        }
        store.setKey(name, of: 0)
        return list(in: store)
    }

    private func list(of words: [String?]) -> LocatedValue { list(in: NodeStore(words: words, name: name)) }

    /// Returns a list in the place of this text.
    private func list(in store: NodeStore) -> LocatedValue {
        PropertyTree(store: store, source: tree.source, textForm: tree.textForm) { _ in origin }.root
    }

    /// Returns the words before an option, such as `-v`.
    ///
    /// It's not known to whom words behind an option belong, so they're an error.
    private func plainWords(_ words: [String]) throws -> [String] {
        func isOption(_ word: String) -> Bool { word.hasPrefix("-") && Double(word) == nil }
        let plain = words.prefix { !isOption($0) }
        guard words[plain.endIndex...].allSatisfy(isOption) else {
            let spelling = String(tree.source.dropFirst("argument ".count))
            throw mismatch([PropertyValue].self, expected: ErrorText.arrayInOneWord(spelling))
        }
        return Array(plain)
    }

    private static func trimmed(_ word: Substring) -> String {
        let isBlank = { (character: Character) in character == " " || character == "\t" }
        var word = word.drop(while: isBlank)
        while let last = word.last, isBlank(last) { word.removeLast() }
        return String(word)
    }
}
