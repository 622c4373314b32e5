/// The coding that the four date and time types share: a native value of the source, or RFC 3339 text.
enum DateTimeCoding {
    static func decode<Value: LosslessStringConvertible>(from decoder: any Decoder) throws -> Value {
        if let located = (decoder as? ValueDecoder)?.value {
            let value = located.nativeDateTime as? Value ?? located.textOrNil.flatMap(Value.init)
            guard let value else { throw located.mismatch(Value.self) }
            return value
        }
        let container = try decoder.singleValueContainer()
        guard let value = Value(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: ErrorText.notRFC3339("\(Value.self)"))
        }
        return value
    }

    static func encode(_ value: some CustomStringConvertible, to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value.description)
    }
}

enum Digits {
    static func padded(_ value: some BinaryInteger, _ width: Int) -> String {
        let digits = String(value)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
