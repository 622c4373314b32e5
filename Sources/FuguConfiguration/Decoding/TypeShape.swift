/// The members that a type decodes.
///
/// They're found by decoding an instance: from a sample as far as there is one, and otherwise from false, zero, empty
/// strings, and empty lists. Some types stop the program when they decode such invented values, so nothing may ask for them
/// that isn't documented to do so.
struct TypeShape {
    struct Member {
        /// The dotted name inside the value.
        let name: String
        let type: Any.Type
    }

    private(set) var members: [Member] = []
    /// Whether the type is a list, so that the members are those of each element.
    private(set) var isList = false
    /// Whether only files and JSON can hold the value: tables, and lists of lists or tables.
    private(set) var holdsTables = false

    init() {}

    /// - `sample`: The table of an instance, from which most members can be decoded.
    /// - `inventsMissing`: Whether to invent values that the sample doesn't have.
    init<Value: Decodable>(of type: Value.Type, sample: LocatedValue?, inventsMissing: Bool = true) {
        if let optional = type as? any OptionalType.Type, let wrapped = optional.wrapped as? any Decodable.Type {
            self = TypeShape(of: wrapped, sample: sample, inventsMissing: inventsMissing)
            return
        }
        if let list = type as? any ListType.Type {
            let element = TypeShape(of: list.element, sample: sample?.firstChild, inventsMissing: inventsMissing)
            (members, isList, holdsTables) = (element.members, true, element.isList || element.holdsTables)
            return
        }
        let record = Record(inventsMissing: inventsMissing)
        _ = try? ShapeDecoder(record: record, sample: sample).decoded(type)
        // A type that decodes no members is shown by its name instead of as a table, as is one that accepts any number of names.
        members = record.isExhausted ? [] : record.members.filter { !$0.name.isEmpty }
        holdsTables = !members.isEmpty || type is any TableType.Type
    }

    /// Whether a type decodes members of a table, which it asks an empty table for.
    static func hasMembers<Value: Decodable>(_ type: Value.Type) -> Bool {
        !TypeShape(of: type, sample: nil, inventsMissing: false).members.isEmpty
    }

    /// The members that were decoded so far.
    fileprivate final class Record {
        var members: [Member] = []
        /// The number of tables whose members are known.
        var tables = 0
        let inventsMissing: Bool
        /// The number of questions about members.
        private var questions = 0

        init(inventsMissing: Bool) { self.inventsMissing = inventsMissing }

        /// Whether a type asks for one member after the other until one is missing.
        var isExhausted: Bool { questions >= 10_000 }

        /// Returns whether another member may be asked for.
        func ask() -> Bool {
            questions += 1
            return !isExhausted
        }
    }
}

protocol OptionalType {
    static var wrapped: Any.Type { get }
    var isNil: Bool { get }
}

extension Optional: OptionalType {
    static var wrapped: Any.Type { Wrapped.self }
    var isNil: Bool { if case nil = self { true } else { false } }
}

protocol ListType {
    static var element: any Decodable.Type { get }
}

extension Array: ListType where Element: Decodable {
    static var element: any Decodable.Type { Element.self }
}

extension Set: ListType where Element: Decodable {
    static var element: any Decodable.Type { Element.self }
}

/// A dictionary, whose own decoding knows neither the place of a name nor that two names can be one key.
protocol TableType {
    static func decoded(from table: LocatedValue) throws -> Any
}

extension Dictionary: TableType where Key: Decodable, Value: Decodable {
    static func decoded(from table: LocatedValue) throws -> Any {
        table.tree.usage?.noteWhole(table.id)
        var values: [Key: Value] = [:]
        for name in table.memberNames {
            guard let member = table.member(name) else { continue }
            let written = table.key(name, of: member)
            let key = try written.decodedKey(Key.self)
            guard values.updateValue(try member.decoded(Value.self), forKey: key) == nil else {
                let other = table.memberNames.first { other in
                    table.member(other).map { try? table.key(other, of: $0).decodedKey(Key.self) } == key
                }
                throw written.failed(
                    DecodingFailure(value: written, said: ErrorText.sameKey(as: other ?? "")), decoding: Self.self)
            }
        }
        return values
    }
}

extension LocatedValue {
    /// Decodes the name of a member as the key of a dictionary.
    fileprivate func decodedKey<Key: Decodable>(_ type: Key.Type) throws -> Key {
        if let text = text as? Key { return text }
        // A number has the forms that it has as a text.
        guard type != Int.self, let coded = type as? any CodingKeyRepresentable.Type else { return try decoded(type) }
        guard let key = coded.init(codingKey: PathKey(stringValue: text)) as? Key else {
            throw mismatch(type, expected: Self.choices(of: type))
        }
        return key
    }
}

/// A decoder that has an answer for everything.
private struct ShapeDecoder: Decoder {
    let record: TypeShape.Record
    var path: [String] = []
    var sample: LocatedValue?
    /// The types that are being decoded: one that has itself as an optional member would never end.
    var types: [any Decodable.Type] = []
    /// Whether an optional is empty.
    var isNil = false

    var codingPath: [any CodingKey] { path.map { PathKey($0) } }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// Whether the sample has a member, or its value can be invented.
    func has(_ name: String) -> Bool {
        record.inventsMissing || sample?.member(name).map { $0.node.kind != .null } == true
    }

    func member(_ name: String) -> ShapeDecoder {
        ShapeDecoder(record: record, path: path + [name], sample: sample?.member(name), types: types)
    }

    /// Decodes a value and records its name, or the names of its members if it's a table.
    func decoded<Value: Decodable>(_ type: Value.Type) throws -> Value {
        var decoder = self
        decoder.types.append(type)
        decoder.isNil = types.contains { $0 == type }
        let (members, tables) = (record.members, record.tables)
        let value = Result { try decoder.answer(type) }
        if record.tables == tables || decoder.isNil {
            record.members = members
            note(type)
        }
        // If a type can't be decoded from empty values, the sample may help.
        return try (try? sample?.decoded(type)) ?? value.get()
    }

    func note(_ type: Any.Type) { record.members.append(.init(name: path.joined(separator: "."), type: type)) }

    private func answer<Value: Decodable>(_ type: Value.Type) throws -> Value {
        if let blank = blank(type), let value = blank as? Value {
            guard record.inventsMissing || sample != nil else { throw PropertyError(ErrorText.noElements) }
            return value
        }
        return try Value(from: self)
    }

    private func blank(_ type: any Decodable.Type) -> Any? {
        switch type {
        case is Bool.Type: return false
        case is String.Type: return ""
        case is Duration.Type: return Duration.zero
        case let type as any BinaryInteger.Type: return type.init(0)
        case let type as any BinaryFloatingPoint.Type: return type.init(0)
        case let type as any CaseIterable.Type: return first(type)
        case is PropertyValue.Type: return PropertyValue.string("")
        default: return blankFoundationValue(of: type)
        }
    }

    private func first<Choice: CaseIterable>(_ type: Choice.Type) -> Any? { type.allCases.first }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        record.tables += 1
        return KeyedDecodingContainer(ShapeTable(decoder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { ShapeList(decoder: self) }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }
}

extension ShapeDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { isNil }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        var decoder = self
        decoder.types.append(type)
        return try decoder.answer(type)
    }
}

private struct ShapeTable<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: ShapeDecoder

    var codingPath: [any CodingKey] { decoder.codingPath }
    /// A type that asks for all keys, such as a dictionary, accepts any name and so has no members.
    var allKeys: [Key] {
        decoder.record.tables -= 1
        return []
    }

    /// Records the name of a member that's missing, whose type then isn't asked for.
    func contains(_ key: Key) -> Bool {
        guard decoder.record.ask() else { return false }
        if decoder.has(key.stringValue) { return true }
        decoder.member(key.stringValue).note(PropertyValue.self)
        return false
    }

    func decodeNil(forKey key: Key) throws -> Bool { !contains(key) }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        guard contains(key) else { throw PropertyError(ErrorText.noElements) }
        return try decoder.member(key.stringValue).decoded(type)
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        guard !decoder.types.contains(where: { $0 == type }) else {
            decoder.member(key.stringValue).note(type)
            return nil
        }
        return try? decode(type, forKey: key)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        KeyedDecodingContainer(ShapeTable<Nested>(decoder: decoder.member(key.stringValue)))
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        let member = decoder.member(key.stringValue)
        member.note([PropertyValue].self)
        return ShapeList(decoder: member)
    }

    func superDecoder() throws -> any Decoder { decoder.member("super") }
    func superDecoder(forKey key: Key) throws -> any Decoder { decoder.member(key.stringValue) }
}

/// An empty array.
private struct ShapeList: UnkeyedDecodingContainer {
    let decoder: ShapeDecoder

    var codingPath: [any CodingKey] { decoder.codingPath }
    var count: Int? { 0 }
    var isAtEnd: Bool { true }
    var currentIndex: Int { 0 }
    private var isEmpty: any Error { PropertyError(ErrorText.noElements) }

    mutating func decodeNil() throws -> Bool { throw isEmpty }
    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { throw isEmpty }
    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { throw isEmpty }
    mutating func superDecoder() throws -> any Decoder { throw isEmpty }
    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        throw isEmpty
    }
}
