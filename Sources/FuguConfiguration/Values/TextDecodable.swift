/// A type that decodes from a string in a file, a variable, or an argument, or from the text of a date in TOML.
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
            guard let value = (located.moment?.description ?? located.textOrNil).flatMap(Self.init(text:)) else {
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

/// The form of a `Duration` in configuration: a number and a unit, `30s`, `1.5m`, `250ms`, `2h`, `1d`, `-5s`, or several
/// with the largest unit first, each once, `1h30m`.
///
/// The units are `ns`, `us` (or `µs`), `ms`, `s`, `m` (minutes), `h`, and `d` (24 hours). A duration without a unit
/// is an error.
enum DurationText {
    private static let secondsPerUnit: [(unit: String, attoseconds: Int128)] = [
        ("ns", 1_000_000_000), ("us", 1_000_000_000_000), ("µs", 1_000_000_000_000), ("μs", 1_000_000_000_000),
        ("ms", 1_000_000_000_000_000), ("s", 1_000_000_000_000_000_000), ("m", 60 * 1_000_000_000_000_000_000),
        ("h", 3600 * 1_000_000_000_000_000_000), ("d", 86_400 * 1_000_000_000_000_000_000),
    ]

    /// Returns the exact duration of the text, or `nil` if it's malformed, too large, or finer than an attosecond.
    static func value(of text: String) -> Duration? {
        let isNegative = text.utf8.first == UInt8(ascii: "-")
        var rest = text.utf8.dropFirst(isNegative ? 1 : 0)
        var (sum, previous) = (Int128(0), Int128.max)
        repeat {
            guard let unitStart = rest.firstIndex(where: { !ByteClass.isDigit($0) && $0 != UInt8(ascii: ".") }) else {
                return nil
            }
            let next = rest[unitStart...].firstIndex(where: ByteClass.isDigit) ?? rest.endIndex
            let number = rest[..<unitStart]
            // Only the last number may have a fraction.
            guard next == rest.endIndex || !number.contains(UInt8(ascii: ".")),
                let unit = secondsPerUnit.first(where: { $0.unit == Substring(rest[unitStart..<next]) }),
                unit.attoseconds < previous, let part = scale(number, by: unit.attoseconds)
            else { return nil }
            let (total, overflow) = sum.addingReportingOverflow(part)
            guard !overflow else { return nil }
            (sum, previous, rest) = (total, unit.attoseconds, rest[next...])
        } while !rest.isEmpty
        let (seconds, fraction) = (isNegative ? -sum : sum).quotientAndRemainder(dividingBy: 1_000_000_000_000_000_000)
        guard let seconds = Int64(exactly: seconds) else { return nil }
        return Duration(secondsComponent: seconds, attosecondsComponent: Int64(fraction))
    }

    /// Returns the number times `unit`, or `nil` if it's malformed or too large, or if the product has a fraction.
    private static func scale(_ digits: Substring.UTF8View, by unit: Int128) -> Int128? {
        let parts = digits.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count <= 2, parts.allSatisfy({ !$0.isEmpty }) else { return nil }
        // Zeros at the ends don't count.
        let whole = parts[0].drop { $0 == UInt8(ascii: "0") }
        let fraction = parts.count == 2 ? parts[1].prefix(upTo: endOfFraction(parts[1])) : whole.prefix(0)
        guard whole.count <= 37, fraction.count <= 37 else { return nil }
        // Divide powers of ten out first, so that the multiplication rarely overflows.
        var (rest, divisor) = (unit, fraction.reduce(Int128(1)) { power, _ in power * 10 })
        while divisor > 1, rest % 10 == 0 { (rest, divisor) = (rest / 10, divisor / 10) }
        let product = number(fraction).multipliedReportingOverflow(by: rest)
        let units = number(whole).multipliedReportingOverflow(by: unit)
        guard !units.overflow, !product.overflow, product.partialValue % divisor == 0 else { return nil }
        let sum = units.partialValue.addingReportingOverflow(product.partialValue / divisor)
        return sum.overflow ? nil : sum.partialValue
    }

    private static func endOfFraction(_ digits: Substring.UTF8View.SubSequence) -> Substring.UTF8View.Index {
        digits.lastIndex { $0 != UInt8(ascii: "0") }.map { digits.index(after: $0) } ?? digits.startIndex
    }

    private static func number(_ digits: Substring.UTF8View.SubSequence) -> Int128 {
        digits.reduce(0) { $0 * 10 + Int128($1 - 0x30) }
    }
}
