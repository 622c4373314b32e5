/// The form of a `Duration` in configuration: a number and a unit, `30s`, `1.5m`, `250ms`, `2h`, `1d`, `-5s`.
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
        let digits = text.utf8.dropFirst(isNegative ? 1 : 0)
        guard let unitStart = digits.firstIndex(where: { !ByteClass.isDigit($0) && $0 != UInt8(ascii: ".") }),
            let unit = secondsPerUnit.first(where: { $0.unit == text[unitStart...] }),
            let attoseconds = scale(digits[..<unitStart], by: unit.attoseconds)
        else { return nil }
        let signed = isNegative ? -attoseconds : attoseconds
        let (seconds, rest) = signed.quotientAndRemainder(dividingBy: 1_000_000_000_000_000_000)
        guard let seconds = Int64(exactly: seconds) else { return nil }
        return Duration(secondsComponent: seconds, attosecondsComponent: Int64(rest))
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
