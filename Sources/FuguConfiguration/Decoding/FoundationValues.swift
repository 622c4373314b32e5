#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension LocatedValue {
    /// Decodes the Foundation types that configuration has its own forms for.
    func foundationValue<Value>(_ type: Value.Type) throws -> Value? {
        if type == URL.self { return try url() as? Value }
        if type == Date.self { return try date() as? Value }
        if type == UUID.self { return try uuid() as? Value }
        if type == Decimal.self { return try decimal() as? Value }
        if type == Data.self { return try data() as? Value }
        return nil
    }

    private func url() throws -> URL {
        // Without the second argument, Foundation would repair an invalid URL.
        if let text = textOrNil, let url = URL(string: text, encodingInvalidCharacters: false) { return url }
        throw mismatch(URL.self, expected: textOrNil.map { _ in ErrorText.url })
    }

    /// Returns a date-time of the source, or the date in RFC 3339 text with an offset.
    private func date() throws -> Date {
        guard let moment = nativeDateTime as? OffsetDateTime ?? textOrNil.flatMap(OffsetDateTime.init) else {
            throw mismatch(Date.self, expected: "Date with an offset, such as 1979-05-27T07:32:00Z")
        }
        let fraction = Double(moment.time.nanosecond) / 1_000_000_000
        return Date(timeIntervalSince1970: Double(moment.secondsSince1970) + fraction)
    }

    private func uuid() throws -> UUID {
        guard let uuid = textOrNil.flatMap(UUID.init(uuidString:)) else { throw mismatch(UUID.self) }
        return uuid
    }

    /// Decodes the digits as they were written, so that 0.1 is exactly a tenth.
    private func decimal() throws -> Decimal {
        let node = node
        let written: String? =
            switch node.kind {
            case .integer: "\(node.integer)"
            case .double: tree.store.numberText(at: node.offset) ?? "\(node.double)"
            default: textOrNil
            }
        guard let written, Self.isDecimal(written), let value = Decimal(string: written) else {
            throw mismatch(Decimal.self)
        }
        return value
    }

    /// Foundation stops at the first character that it doesn't know and drops excess digits; neither would be exact.
    private static func isDecimal(_ text: String) -> Bool {
        var bytes = Array(text.utf8)[...]
        if let sign = bytes.first, sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") { bytes = bytes.dropFirst() }
        let exponentStart = bytes.firstIndex { $0 | 0x20 == UInt8(ascii: "e") } ?? bytes.endIndex
        let mantissa = bytes[..<exponentStart].filter { $0 != UInt8(ascii: ".") }
        let exponent = bytes[exponentStart...].dropFirst()
        let significant = mantissa.drop { $0 == UInt8(ascii: "0") }
        return !mantissa.isEmpty && mantissa.allSatisfy(ByteClass.isDigit) && significant.count <= 38
            && bytes[..<exponentStart].count - mantissa.count <= 1
            && (exponentStart == bytes.endIndex
                || Int(String(decoding: exponent, as: UTF8.self)).map { abs($0) <= 80 } ?? false)
    }

    /// Returns the bytes of the source, or those of a Base64 string.
    private func data() throws -> Data {
        if let bytes = bytesOrNil { return Data(bytes) }
        guard let data = textOrNil.flatMap({ Data(base64Encoded: $0) }) else {
            throw mismatch(Data.self, expected: "data in Base64")
        }
        return data
    }
}

/// Returns the present environment of this process.
///
/// Foundation reads it under the lock that its own changes use.
func processEnvironment() -> [String: String] { ProcessInfo.processInfo.environment }

/// Returns the configuration value that decodes to a Foundation value, or `nil` for any other type.
package func foundationPropertyValue(of value: Any) -> PropertyValue? {
    switch value {
    case let value as URL: .string(value.absoluteString)
    case let value as UUID: .string(value.uuidString)
    case let value as Decimal: .string(value.description)
    case let value as Data: .data(Array(value))
    case let value as Date: OffsetDateTime(value).map { .offsetDateTime($0) }
    default: nil
    }
}

/// Returns a value of a Foundation type for when only the type matters, or `nil` for any other type.
func blankFoundationValue(of type: Any.Type) -> Any? {
    switch type {
    case is URL.Type: URL(string: "/")
    case is Date.Type: Date(timeIntervalSince1970: 0)
    case is UUID.Type: UUID()
    case is Decimal.Type: Decimal()
    case is Data.Type: Data()
    default: nil
    }
}

extension OffsetDateTime {
    /// Creates the moment in UTC, to the nanosecond, or returns `nil` outside the years 0 to 9999.
    init?(_ date: Date) {
        let seconds = date.timeIntervalSince1970.rounded(.down)
        guard let whole = Int64(exactly: seconds) else { return nil }
        let nanosecond = ((date.timeIntervalSince1970 - seconds) * 1_000_000_000).rounded()
        self.init(secondsSince1970: whole, nanosecond: min(Int(nanosecond), 999_999_999))
    }
}
