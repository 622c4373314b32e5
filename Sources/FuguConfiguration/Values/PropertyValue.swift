/// A value of a source, regardless of its format.
///
/// You can write it with Swift literals: `["timeout": 30, "hosts": ["a", "b"]]`. There is no case for JSON's `null`: a
/// member of an object that is `null` is left out, and any other `null` is an empty table. (Decoding an optional from a
/// source distinguishes `null` from a missing name.)
public enum PropertyValue: Sendable, Hashable {
    /// A Boolean value, which is never converted from a number.
    case bool(Bool)
    /// An integer.
    case integer(Int128)
    /// A number with a fraction or an exponent. TOML has infinity and not-a-number, too.
    case double(Double)
    /// A string.
    case string(String)
    /// Bytes, as in a property list.
    case data([UInt8])
    /// A date, a time of day, or both, perhaps with an offset from UTC, as in RFC 3339: `1979-05-27`, `07:32:00.5`,
    /// `1979-05-27T07:32:00`, or `1979-05-27T07:32:00+01:00`.
    ///
    /// The sources of this library spell it with a `T`, with seconds, without zeros at the end of a fraction, and with
    /// `Z` for UTC. With an offset, it's read as a `Date`; in any form, as `DateComponents` or as text. If your text is
    /// something else, reading it is an error.
    case date(String)
    /// Values in order.
    case array([PropertyValue])
    /// Values by name.
    case table([String: PropertyValue])
}

extension PropertyValue {
    /// Parses JSON.
    ///
    /// Comments (`//` and `/* */`) and one trailing comma are allowed.
    ///
    /// - Parameters:
    ///   - json: The text as UTF-8, with or without a byte order mark.
    ///   - name: The name of the text in errors, such as the path of a file.
    /// - Throws: ``PropertyError`` with the line and column if the text isn't JSON, is nested deeper than 512 levels,
    ///   holds an integer outside of `Int64`, or gives a name twice.
    /// - Complexity: O(*n*) for *n* bytes.
    package init(json: [UInt8], name: String) throws(PropertyError) {
        self = try PropertyValue(exactly: JSONParser.parse(json, name: name))
    }

    /// Parses TOML 1.1.
    ///
    /// The value is always a table.
    ///
    /// - Parameters:
    ///   - toml: The text as UTF-8, with or without a byte order mark.
    ///   - name: The name of the text in errors, such as the path of a file.
    /// - Throws: ``PropertyError`` with the line and column if the text isn't TOML, is nested deeper than 512 levels, or
    ///   holds an integer outside of `Int64`.
    /// - Complexity: O(*n*) for *n* bytes.
    package init(toml: [UInt8], name: String) throws(PropertyError) {
        self = try PropertyValue(exactly: TOMLParser.parse(toml, name: name))
    }

    private init(exactly tree: PropertyTree) throws(PropertyError) {
        if let offset = tree.store.wideOffset {
            let failure = SyntaxFailure(problem: .integerTooLarge, offset: Int(offset))
            throw PropertyError(failure, in: tree.store, source: tree.source)
        }
        self = tree.root.propertyValue
    }
}

extension PropertyValue: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Creates a value from a Boolean literal.
    ///
    /// - Parameter value: The value.
    public init(booleanLiteral value: Bool) { self = .bool(value) }

    /// Creates a value from an integer literal.
    ///
    /// - Parameter value: The value.
    public init(integerLiteral value: Int64) { self = .integer(Int128(value)) }

    /// Creates a value from a floating-point literal.
    ///
    /// - Parameter value: The value.
    public init(floatLiteral value: Double) { self = .double(value) }

    /// Creates a value from a string literal.
    ///
    /// - Parameter value: The value.
    public init(stringLiteral value: String) { self = .string(value) }

    /// Creates a value from an array literal.
    ///
    /// - Parameter elements: The elements.
    public init(arrayLiteral elements: PropertyValue...) { self = .array(elements) }

    /// Creates a table from a dictionary literal.
    ///
    /// If a name appears twice, the program stops.
    ///
    /// - Parameter elements: The names and values.
    public init(dictionaryLiteral elements: (String, PropertyValue)...) {
        self = .table(Dictionary(uniqueKeysWithValues: elements))
    }
}

extension PropertyValue: Decodable {
    /// Creates a value from whatever a decoder holds.
    ///
    /// Decoders of other libraries give Boolean values, numbers, strings, arrays, and tables.
    ///
    /// - Parameter decoder: The decoder.
    /// - Throws: `DecodingError` if the decoder holds nothing of the kind.
    public init(from decoder: any Decoder) throws {
        if let decoder = decoder as? ValueDecoder {
            guard !decoder.value.holdsWideInteger else {
                throw decoder.value.mismatch(PropertyValue.self, expected: "integers of 64 bits")
            }
            self = decoder.value.propertyValue
            return
        }
        let container = try decoder.singleValueContainer()
        if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(Int128(value))
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
    /// The value on one line, much as in TOML: `{hosts = ["a", "b"], timeout = 30}`, with sorted names.
    public var description: String {
        var text = ""
        // A list of pending pieces replaces recursion, which could overflow a small stack.
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
        case .date(let text): Moment(text)?.description ?? Quoted.string(text)
        case .array, .table: ""
        }
    }
}
