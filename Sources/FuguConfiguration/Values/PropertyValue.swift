/// A value as a source holds it, whatever format it was written in.
///
/// It takes Swift literals: `["timeout": 30, "hosts": ["a", "b"]]`. JSON's `null` has no case of its own: a member of
/// an object that is `null` is left out, and a `null` anywhere else is an empty table. (Decoding a type that is
/// optional from a source does tell `null` from a missing name.)
public enum PropertyValue: Sendable, Hashable {
    /// A truth value; never made from a number.
    case bool(Bool)
    /// A whole number, exact to 64 bits.
    case integer(Int64)
    /// A number with a fraction or an exponent; TOML also writes infinity and not-a-number.
    case double(Double)
    /// A string.
    case string(String)
    /// Bytes, as a property list holds them.
    case data([UInt8])
    /// A date and a time of day at a known offset from UTC.
    case offsetDateTime(OffsetDateTime)
    /// A date and a time of day with no offset, so not yet a moment.
    case localDateTime(LocalDateTime)
    /// A day of the calendar.
    case localDate(LocalDate)
    /// A time of day.
    case localTime(LocalTime)
    /// Values in order.
    case array([PropertyValue])
    /// Values by name.
    case table([String: PropertyValue])
}

extension PropertyValue {
    /// Parses JSON, in which `//` and `/* */` comments and one trailing comma are allowed.
    ///
    /// - Parameters:
    ///   - json: the text as UTF-8, with or without a byte order mark.
    ///   - name: what the text is called in errors, such as the path of a file.
    /// - Throws: a `PropertyError` with line and column where the text is no JSON, is nested deeper than 512 levels,
    ///   holds an integer outside of `Int64`, or gives a name twice.
    public init(json: [UInt8], name: String) throws(PropertyError) {
        self = try JSONParser.parse(json, name: name).root.propertyValue
    }

    /// Parses TOML 1.1; the value is always a table.
    ///
    /// - Parameters:
    ///   - toml: the text as UTF-8, with or without a byte order mark.
    ///   - name: what the text is called in errors, such as the path of a file.
    /// - Throws: a `PropertyError` with line and column where the text is no TOML or is nested deeper than 512 levels.
    public init(toml: [UInt8], name: String) throws(PropertyError) {
        self = try TOMLParser.parse(toml, name: name).root.propertyValue
    }
}

extension PropertyValue: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// A truth value from a literal.
    public init(booleanLiteral value: Bool) { self = .bool(value) }

    /// A whole number from a literal.
    public init(integerLiteral value: Int64) { self = .integer(value) }

    /// A number with a fraction from a literal.
    public init(floatLiteral value: Double) { self = .double(value) }

    /// A string from a literal.
    public init(stringLiteral value: String) { self = .string(value) }

    /// An array from a literal.
    public init(arrayLiteral elements: PropertyValue...) { self = .array(elements) }

    /// A table from a literal; traps where a name stands twice, as a dictionary literal does.
    public init(dictionaryLiteral elements: (String, PropertyValue)...) {
        self = .table(Dictionary(uniqueKeysWithValues: elements))
    }
}

extension PropertyValue: Decodable {
    /// Decodes whatever value is there. Decoders of other libraries give truth values, numbers, strings, arrays and
    /// tables.
    public init(from decoder: any Decoder) throws {
        if let decoder = decoder as? ValueDecoder {
            self = decoder.value.propertyValue
            return
        }
        let container = try decoder.singleValueContainer()
        if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .double(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([PropertyValue].self) {
            self = .array(value)
        } else {
            self = .table(try container.decode([String: PropertyValue].self))
        }
    }
}

extension PropertyValue: CustomStringConvertible {
    /// The value on one line, written much as TOML would: `{hosts = ["a", "b"], timeout = 30}`, names in order.
    public var description: String {
        var text = ""
        // A list of what is still to be written takes the place of recursion, which a small stack could not bear.
        var open: [Piece] = [.value(self)]
        while let piece = open.popLast() {
            switch piece {
            case .text(let piece): text += piece
            case .value(.array(let values)):
                text += "["
                open.append(.text("]"))
                for index in values.indices.reversed() {
                    open.append(.value(values[index]))
                    if index > 0 { open.append(.text(", ")) }
                }
            case .value(.table(let members)):
                text += "{"
                open.append(.text("}"))
                for (index, member) in members.sorted(by: { $0.key < $1.key }).enumerated().reversed() {
                    open.append(.value(member.value))
                    open.append(.text((index > 0 ? ", " : "") + Quoted.name(member.key) + " = "))
                }
            case .value(let value): text += value.scalarDescription
            }
        }
        return text
    }

    private enum Piece {
        case text(String)
        case value(PropertyValue)
    }

    private var scalarDescription: String {
        switch self {
        case .bool(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .double(let value): "\(value)"
        case .string(let value): Quoted.string(value)
        case .data(let bytes): "<\(bytes.count) bytes>"
        case .offsetDateTime(let value): value.description
        case .localDateTime(let value): value.description
        case .localDate(let value): value.description
        case .localTime(let value): value.description
        case .array, .table: ""
        }
    }
}
