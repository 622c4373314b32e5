/// A time of day with no place and no date: `07:32:00.5`.
public struct LocalTime: Sendable, Hashable {
    /// 0...23.
    public let hour: Int
    /// 0...59.
    public let minute: Int
    /// 0...59, or 60 for a leap second.
    public let second: Int
    /// 0...999,999,999.
    public let nanosecond: Int

    /// Traps if there is no such time; use `init(_:)` for text that may be wrong.
    public init(hour: Int, minute: Int, second: Int = 0, nanosecond: Int = 0) {
        precondition(
            (0...23).contains(hour) && (0...59).contains(minute) && (0...60).contains(second)
                && (0...999_999_999).contains(nanosecond),
            "There is no time \(hour):\(minute):\(second) and \(nanosecond) ns")
        self.hour = hour
        self.minute = minute
        self.second = second
        self.nanosecond = nanosecond
    }

    var secondsSinceMidnight: Int { hour * 3600 + minute * 60 + second }
}

extension LocalTime: LosslessStringConvertible, Codable {
    /// The time that RFC 3339 text names, such as `07:32:00` or `07:32`; nil if it is anything else.
    public init?(_ description: String) {
        guard case .localTime(let value)? = DateTimeScanner.value(of: description) else { return nil }
        self = value
    }

    /// RFC 3339: `07:32:00`, with as many digits of a second as are needed.
    public var description: String {
        let time = Digits.padded(hour, 2) + ":" + Digits.padded(minute, 2) + ":" + Digits.padded(second, 2)
        guard nanosecond > 0 else { return time }
        var fraction = Digits.padded(nanosecond, 9)
        while fraction.hasSuffix("0") { fraction.removeLast() }
        return time + "." + fraction
    }

    /// Decodes a time of the source, or RFC 3339 text.
    public init(from decoder: any Decoder) throws { self = try DateTimeCoding.decode(from: decoder) }

    /// Encodes RFC 3339 text.
    public func encode(to encoder: any Encoder) throws { try DateTimeCoding.encode(self, to: encoder) }
}
