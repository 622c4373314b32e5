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
