/// A type that reads itself from a string: of a file, a variable or an argument.
///
///     struct Host: TextDecodable {
///         let name: String
///         init?(text: String) { … }
///     }
///
/// For a type that is `LosslessStringConvertible` the conformance is all it takes.
public protocol TextDecodable: Decodable {
    /// Reads the text; `nil` if it is none of this type.
    init?(text: String)

    /// What errors say is expected, the name of the type unless you say more: `Host, such as db.example.org:5432`.
    static var textForm: String { get }
}

extension TextDecodable {
    /// The name of the type.
    public static var textForm: String { "\(Self.self)" }

    /// Decodes the text, or says what was expected.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let located = (decoder as? ValueDecoder)?.value {
            guard let value = located.textOrNil.flatMap(Self.init(text:)) else {
                throw located.mismatch(Self.self, expected: Self.textForm)
            }
            self = value
            return
        }
        guard let value = Self(text: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "expected \(Self.textForm)")
        }
        self = value
    }
}

extension TextDecodable where Self: LosslessStringConvertible {
    /// Reads the text as the type's own initializer does.
    public init?(text: String) { self.init(text) }
}
