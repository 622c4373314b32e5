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
