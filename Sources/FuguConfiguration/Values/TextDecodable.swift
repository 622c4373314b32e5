/// A type that decodes from a string in a file, a variable, or an argument.
///
///     struct Host: TextDecodable {
///         let name: String
///         init?(text: String) { … }
///     }
///
/// A type that is `LosslessStringConvertible` only has to declare the conformance.
public protocol TextDecodable: Decodable {
    /// Creates a value from text, or returns `nil` if the text is something else.
    ///
    /// - Parameter text: The text.
    init?(text: String)

    /// The expected form in errors, such as `Host, such as db.example.org:5432`.
    ///
    /// The default is the name of the type.
    static var textForm: String { get }
}

extension TextDecodable {
    /// The name of the type.
    public static var textForm: String { "\(Self.self)" }

    /// Creates a value from the text in a decoder.
    ///
    /// - Parameter decoder: The decoder.
    /// - Throws: `DecodingError` that names ``textForm`` if the text is something else.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let located = (decoder as? ValueDecoder)?.value {
            // TOML has dates and times that aren't text.
            guard let value = located.nativeDateTime as? Self ?? located.textOrNil.flatMap(Self.init(text:)) else {
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
    /// Creates a value from text with the type's own initializer.
    ///
    /// - Parameter text: The text.
    public init?(text: String) { self.init(text) }
}

extension TextDecodable where Self: LosslessStringConvertible & Encodable {
    /// Encodes the value as the text from which it's decoded.
    ///
    /// - Parameter encoder: The encoder.
    /// - Throws: What the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
