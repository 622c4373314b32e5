#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Bytes that are written in Base64, with or without the `=` at the end, in the standard or the URL alphabet.
public struct Base64: TextDecodable, EncodedText, Sendable, Hashable, CustomStringConvertible {
    /// The bytes.
    public let bytes: [UInt8]

    /// Creates a value from bytes.
    ///
    /// - Parameter bytes: The bytes.
    public init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Creates a value from Base64, or returns `nil` if the text is something else.
    ///
    /// - Parameter text: The text.
    public init?(text: String) {
        var text = text.replacing("-", with: "+").replacing("_", with: "/")
        while text.utf8.count % 4 != 0 { text += "=" }
        guard let data = Data(base64Encoded: text) else { return nil }
        bytes = Array(data)
    }

    var encodedText: String { Data(bytes).base64EncodedString() }

    /// The expected form in errors, `bytes in Base64`.
    public static var textForm: String { "bytes in Base64" }

    /// The number of bytes.
    public var description: String { "<\(bytes.count) bytes>" }
}
