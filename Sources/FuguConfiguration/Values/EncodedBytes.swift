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

/// Bytes that are written as hexadecimal digits, with or without `0x`: `c0ffee`.
public struct Hexadecimal: TextDecodable, EncodedText, Sendable, Hashable, CustomStringConvertible {
    /// The bytes.
    public let bytes: [UInt8]

    /// Creates a value from bytes.
    ///
    /// - Parameter bytes: The bytes.
    public init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Creates a value from hexadecimal digits, or returns `nil` if the text is something else.
    ///
    /// - Parameter text: The text.
    public init?(text: String) {
        let digits = text.hasPrefix("0x") ? text.utf8.dropFirst(2) : text.utf8[...]
        guard digits.count % 2 == 0 else { return nil }
        var bytes: [UInt8] = []
        var high: UInt32?
        for digit in digits {
            guard let value = ByteClass.hexValue(digit) else { return nil }
            if let first = high {
                bytes.append(UInt8(first << 4 | value))
                high = nil
            } else {
                high = value
            }
        }
        self.bytes = bytes
    }

    var encodedText: String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// The expected form in errors, `bytes as hexadecimal digits`.
    public static var textForm: String { "bytes as hexadecimal digits" }

    /// The number of bytes.
    public var description: String { "<\(bytes.count) bytes>" }
}
