#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Bytes that are written in Base64, with or without the `=` at the end, in the alphabet of files or of URLs.
public struct Base64: TextDecodable, Sendable, Hashable, CustomStringConvertible {
    /// The bytes.
    public let bytes: [UInt8]

    /// Creates a value of bytes.
    public init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Reads Base64.
    public init?(text: String) {
        var text = text.replacing("-", with: "+").replacing("_", with: "/")
        while text.utf8.count % 4 != 0 { text += "=" }
        guard let data = Data(base64Encoded: text) else { return nil }
        bytes = Array(data)
    }

    /// `bytes in Base64`.
    public static var textForm: String { "bytes in Base64" }

    /// How many bytes there are.
    public var description: String { "<\(bytes.count) bytes>" }
}

/// Bytes that are written as pairs of hexadecimal digits, `0x` before them or not: `c0ffee`.
public struct Hexadecimal: TextDecodable, Sendable, Hashable, CustomStringConvertible {
    /// The bytes.
    public let bytes: [UInt8]

    /// Creates a value of bytes.
    public init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Reads hexadecimal digits.
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

    /// `bytes as hexadecimal digits`.
    public static var textForm: String { "bytes as hexadecimal digits" }

    /// How many bytes there are.
    public var description: String { "<\(bytes.count) bytes>" }
}
