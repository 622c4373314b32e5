/// Writes values as TOML, so that a file with the text gives the value again.
enum TOMLText {
    /// Returns the text, or `nil` if the value's type doesn't decode it to the same value.
    static func text<Value: Decodable>(of value: Value) -> String? {
        let text = (value as? any BinaryInteger).map { "\($0)" } ?? Reflection.value(of: value).map(text)
        guard let text, let tree = try? TOMLParser.parse(Array("x = \(text)".utf8), name: "") else { return nil }
        return tree.root.member("x").flatMap { try? $0.decode(Value.self) }.flatMap { isSame($0, value) ? text : nil }
    }

    /// Returns the text of a value, with bytes in Base64.
    static func text(_ value: PropertyValue) -> String { withoutBytes(value).description }

    /// Returns whether the type of an instance decodes a value to the same instance.
    static func isRead<Value: Decodable>(_ value: PropertyValue, as instance: Value) -> Bool {
        let tree = NodeStore(table: ["x": value]).map { PropertyTree(store: $0, source: "") }
        return tree?.root.member("x").flatMap { try? $0.decode(Value.self) }.map { isSame($0, instance) } == true
    }

    private static func withoutBytes(_ value: PropertyValue) -> PropertyValue {
        switch value {
        case .data(let bytes): .string(Base64(bytes).encodedText)
        case .array(let elements): .array(elements.map(withoutBytes))
        case .table(let members): .table(members.mapValues(withoutBytes))
        default: value
        }
    }

    private static func isSame<Value>(_ left: Value, _ right: Value) -> Bool {
        func isEqual<Known: Equatable>(_ left: Known) -> Bool { left == right as? Known }
        if let left = left as? any Equatable, isEqual(left) { return true }
        // Not-a-number equals nothing, and many types can't be compared.
        return !(type(of: left) is AnyClass) && String(reflecting: left) == String(reflecting: right)
    }
}

/// A type that holds bytes and is written as text.
protocol EncodedText {
    var encodedText: String { get }
}
