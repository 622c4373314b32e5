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
    let count: Int?
    private(set) var currentIndex = 0

    init(list: LocatedValue) {
        self.list = list
        upcoming = list.firstChild
        count = Int(list.node.count)
    }

    var codingPath: [any CodingKey] { list.path }
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
        if let problem = tree.problem, !isFlag(for: type) { throw problem }
        do {
            return try decoded(type)
        } catch {
            throw (Self.failure(in: error) ?? DecodingFailure(value: self, reason: "\(error)"))
                .error(decoding: self, quotesValues: quotesValues && !isSecret)
        }
    }

    /// Decodes the value that a name asks for, in a form, or throws an error with its place.
    func decode<Value: Decodable>(
        _ type: Value.Type, named asked: String, form: PropertyForm<Value>?, quotesValues: Bool
    ) throws(PropertyError) -> Value {
        do {
            var value = self
            value.isSecret = isSecret || SecretNames.cover(asked)
            return try value.decode(type, form: form, quotesValues: quotesValues)
        } catch {
            var error = error
            error.name = error.name.map { printable($0, asked: asked) }
            throw error
        }
    }

    private func decode<Value: Decodable>(
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

    /// The depth in a document down to which types are decoded.
    static let depthLimit = 100

    /// Decodes a nested value; containers call it.
    func decoded<Value: Decodable>(_ type: Value.Type) throws -> Value {
        switch node.kind {
        case .array:
            if let list = try list(type) ?? nativeValue(type) { return list }
        // From a table, the types of Foundation would decode what they encode themselves.
        default: if let value = try nativeValue(type) { return value }
        }
        // Types decode themselves recursively: without optimization, a stack of 512 KB holds 160 levels.
        if node.depth > Self.depthLimit {
            throw failed(DecodingFailure(value: self, expected: ErrorText.decodableDepth), decoding: type)
        }
        do {
            if let type = type as? any TableType.Type { return try type.decoded(from: table()) as! Value }
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
        let argument = tree.argument
        if argument?.isSwitchedOff == true { return false }
        switch node.kind {
        case .bool, .flag: return node.bool
        case .text, .word:
            if text == "true" { return true }
            if text == "false" { return false }
            let isNextWord = node.kind == .text && argument?.isNextWord == true
            guard let value = Self.anyBoolean(text) else {
                // The word behind a flag is for others.
                if isNextWord { return true }
                break
            }
            if tree.textForm.acceptsAnyBoolean { return value }
            let expected = isNextWord ? argument.map { ErrorText.booleanArgument($0.spelling) } : nil
            throw mismatch(Bool.self, expected: expected ?? ErrorText.strictBoolean)
        default: break
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
            case .other: wideInteger.flatMap { Integer(exactly: $0) }
            case .text, .word: NumberText.integer(text)
            default: nil
            }
        guard let value else {
            throw mismatch(type, expected: isWhole ? "\(type) (\(Integer.min)...\(Integer.max))" : leadingZero(type))
        }
        return value
    }

    /// The integer beyond `Int64` that was never text.
    var wideInteger: Int128? {
        guard node.kind == .other, case .integer(let value) = tree.store.others[node.otherIndex] else { return nil }
        return value
    }

    private var isWhole: Bool {
        node.kind == .integer || node.mark == .wide || wideInteger != nil || isText && NumberText.isInteger(text)
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
        case .other:
            if let value = wideInteger.flatMap({ Float(exactly: $0) }) { return value }
        default: break
        }
        throw mismatch(
            type, expected: isWhole ? "\(type) (exactly; write a decimal point to round it)" : leadingZero(type))
    }

    /// Returns what's expected in place of a text with a leading zero, which some programs read as an octal number.
    func leadingZero(_ type: Any.Type) -> String? {
        isText && NumberText.hasLeadingZero(text) ? ErrorText.leadingZero("\(type)") : nil
    }

    private var isText: Bool { node.kind == .text || node.kind == .word }

    private static func exact<Float: BinaryFloatingPoint>(_ digits: String) -> Float? {
        let integer: Int128? = DecimalNumber.wholeNumber(digits)
        return integer.flatMap { Float(exactly: $0) }
    }

    private static func number<Float: BinaryFloatingPoint & LosslessStringConvertible>(_ text: String) -> Float? {
        if NumberText.isInteger(text) {
            return NumberText.integer(text).flatMap { (integer: Int128) in Float(exactly: integer) }
        }
        // The standard library would accept hexadecimal numbers, too.
        guard let text = NumberText.plain(text), !text.utf8.contains(where: { "xXpP(".utf8.contains($0) }),
            let value = Float(text)
        else { return nil }
        return value.isFinite || text.lowercased().contains("inf") || value.isNaN ? value : nil
    }

    func string() throws -> String {
        switch node.kind {
        case .string, .text, .word: return text
        default:
            guard let moment else { throw mismatch(String.self) }
            return moment.description
        }
    }

    private static let durationForm = "Duration with a unit, such as 30s, 1h30m, or 250ms"

    func duration() throws -> Duration {
        if let text = textOrNil, let value = DurationText.value(of: text) { return value }
        throw mismatch(Duration.self, expected: Self.durationForm)
    }

    /// The bytes of the source, or those of a whole file.
    var bytesOrNil: [UInt8]? {
        if node.mark == .file, node.kind == .text { return Array(tree.store.bytes[..<tree.store.end]) }
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

    /// The date, the time, or both of the source; not what is written as a string, and thus not fit for every type.
    var moment: Moment? {
        guard node.kind == .other, case .date(let text) = tree.store.others[node.otherIndex] else { return nil }
        return Moment(text)
    }

    // MARK: Containers

    /// Returns the table, which a text writes as JSON.
    func table() throws -> LocatedValue {
        let value = written
        guard value.node.kind == .table else {
            throw mismatch(
                [String: PropertyValue].self, expected: isText ? ErrorText.tableInText : "table",
                syntax: seemsTable ? syntaxProblem : nil)
        }
        return value
    }

    /// Returns the array.
    ///
    /// A text is JSON between brackets, or words between commas without blanks around them. An argument has the lists of
    /// all its occurrences, each of which is one such text, or several words.
    func array() throws -> LocatedValue {
        if let argument = tree.argument { return try list(of: argument) }
        switch node.kind {
        case .array: return self
        case .text: return list(of: [try elements(of: text)])
        case .word where written.node.kind == .array: return written
        case .word where text.hasPrefix("["): throw notAList
        default: throw mismatch([PropertyValue].self, expected: "array")
        }
    }

    /// The elements that a text writes.
    private enum TextElements {
        case json(LocatedValue)
        case words([String])
    }

    private func list(of argument: WrittenArgument) throws -> LocatedValue {
        list(
            of: try argument.occurrences.map { occurrence in
                let words = occurrence.words
                guard let first = words.first else {
                    throw mismatch([PropertyValue].self, expected: "array", lacksValue: true)
                }
                return try elements(of: first, words.dropFirst())
            })
    }

    /// Returns a text in the place of this value, so that an error quotes it.
    private func occurrence(_ text: String) -> LocatedValue { located(NodeStore(text: text, name: name)) }

    private var notAList: DecodingError {
        mismatch(
            [PropertyValue].self, expected: ErrorText.listInText, syntax: text.hasPrefix("[") ? syntaxProblem : nil)
    }

    private static func isQuoted(_ text: String) -> Bool {
        text.hasPrefix("\"") || text.count > 1 && text.hasPrefix("'") && text.hasSuffix("'")
    }

    /// Whether a word is a part of a list that is written in another way, so that brackets and quotes would be in the elements.
    private static func isTorn(_ word: String) -> Bool {
        if isQuoted(word) { return true }
        let (opens, closes) = (word.hasPrefix("["), word.hasSuffix("]"))
        // An address has its own brackets, as in `[::1]`.
        guard opens && closes else { return (opens || closes) && word.count { $0 == "[" } != word.count { $0 == "]" } }
        return !word.contains(":") || !word.dropFirst().dropLast().allSatisfy { $0.isHexDigit || ":.%".contains($0) }
    }

    private func list(of parts: [TextElements]) -> LocatedValue {
        var words: [String] = []
        for part in parts {
            switch part {
            case .words(let more): words += more
            case .json(let list) where parts.count == 1: return list
            case .json: return located(NodeStore(joining: parts.map { list(of: [$0]) }, name: name))
            }
        }
        return located(NodeStore(words: words, name: name))
    }

    /// Returns the elements of a text and of the words behind it.
    private func elements(of text: String, _ following: ArraySlice<String> = []) throws -> TextElements {
        let json = json(text)
        let separator = tree.textForm.separator ?? ","
        // A table is one element, and the words behind a list are for others.
        let isList = json.map { $0.node.kind == .array } ?? text.contains(separator)
        var words = isList ? [text] : [text] + following
        guard tree.argument?.repaired.isDisjoint(with: words) != false else {
            throw mismatch([PropertyValue].self, expected: ErrorText.wordsOfText)
        }
        if let json, isList { return .json(json) }
        let isSplit = json == nil && words.count == 1
        if isSplit {
            let text = Self.trimmed(text[...])
            let isLoose = text.isEmpty || separator.isWhitespace
            words = text.split(separator: separator, omittingEmptySubsequences: isLoose).map(Self.trimmed)
        }
        if let torn = isSplit && Self.isQuoted(text) ? text : words.first(where: Self.isTorn) {
            throw occurrence(isSplit ? text : torn).notAList
        }
        guard words.allSatisfy({ !$0.isEmpty }) else {
            throw occurrence(text).mismatch([PropertyValue].self, expected: ErrorText.emptyElement)
        }
        return .words(words)
    }

    /// The list or the table that a text writes as JSON, as people are used to, or the value itself.
    var written: LocatedValue { isText ? json(text) ?? self : self }

    /// Returns the value as it's written for a type: of an argument, the list of all occurrences, or whether it's switched on.
    func written(as type: Any.Type) -> LocatedValue {
        guard tree.argument != nil else { return written }
        let type = TypeText.unwrapped(type)
        if type == Bool.self, let isOn = try? bool() { return located(NodeStore(flag: name, isOn: isOn)) }
        return type is any ListType.Type ? (try? array()) ?? written : written
    }

    /// Whether a text begins as a table or a list of tables does in JSON.
    var seemsTable: Bool { isText && text.first { !"[ \t\n\r\r\n".contains($0) } == "{" }

    /// Returns the list or the table that a text writes as JSON.
    ///
    /// As words, its brackets and quotes would become part of the elements.
    private func json(_ text: String) -> LocatedValue? {
        let text = Self.trimmed(text[...])
        guard text.hasPrefix("[") && text.hasSuffix("]") || text.hasPrefix("{") && text.hasSuffix("}"),
            var store = try? JSONParser.parse(Array(text.utf8), name: "").store
        else { return nil }
        store.setKey(name, of: 0)
        return located(store, problem: tree.problem)
    }

    /// The first mistake in a text that is meant as JSON.
    private var syntaxProblem: PropertyError? {
        do throws(PropertyError) {
            _ = try JSONParser.parse(Array(text.utf8), name: "")
            return nil
        } catch {
            return error
        }
    }

    /// Returns a value in the place of this text.
    private func located(_ store: NodeStore, problem: PropertyError? = nil) -> LocatedValue {
        let tree = PropertyTree(
            store: store, source: tree.source, problem: problem, textForm: tree.textForm
        ) { _ in origin }
        return LocatedValue(tree: tree, id: 0, isSecret: isSecret)
    }

    /// Returns the name of a member as a value in its place, from which the key of a dictionary is decoded.
    func key(_ name: String, of member: LocatedValue) -> LocatedValue {
        let full = self.name.isEmpty ? name : self.name + "." + name
        return PropertyTree(store: NodeStore(key: name, name: full), source: tree.source) { _ in member.keyOrigin }.root
    }

    private static func trimmed(_ word: Substring) -> String {
        let isBlank = { (character: Character) in " \t\n\r\r\n".contains(character) }
        var word = word.drop(while: isBlank)
        while let last = word.last, isBlank(last) { word.removeLast() }
        return String(word)
    }
}
