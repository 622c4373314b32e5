/// A time of day without a place or a date: `07:32:00.5`.
public struct LocalTime: Sendable, Hashable {
    /// The hour, 0 to 23.
    public let hour: Int
    /// The minute, 0 to 59.
    public let minute: Int
    /// The second, 0 to 59, or 60 for a leap second.
    public let second: Int
    /// The nanosecond, 0 to 999,999,999.
    public let nanosecond: Int

    /// Creates a time of day.
    ///
    /// If the time doesn't exist, the program stops with a message. For text that can be wrong, use ``init(_:)``.
    ///
    /// - Parameters:
    ///   - hour: The hour, 0 to 23.
    ///   - minute: The minute, 0 to 59.
    ///   - second: The second, 0 to 60.
    ///   - nanosecond: The nanosecond, 0 to 999,999,999.
    public init(hour: Int, minute: Int, second: Int = 0, nanosecond: Int = 0) {
        guard
            (0...23).contains(hour), (0...59).contains(minute), (0...60).contains(second),
            (0...999_999_999).contains(nanosecond)
        else { fatalError(ErrorText.noSuchTime(hour, minute, second, nanosecond)) }
        self.hour = hour
        self.minute = minute
        self.second = second
        self.nanosecond = nanosecond
    }

    var secondsSinceMidnight: Int { hour * 3600 + minute * 60 + second }
}

extension LocalTime: LosslessStringConvertible, TextDecodable, Encodable {
    /// Creates a value from text as in RFC 3339, such as `07:32:00`, or returns `nil` if the text is something else.
    ///
    /// - Parameter description: The text.
    public init?(_ description: String) {
        guard case .localTime(let value)? = DateTimeScanner.value(of: description) else { return nil }
        self = value
    }

    /// The time as in RFC 3339: `07:32:00`, with as many fractional digits as needed.
    public var description: String {
        let time = Digits.padded(hour, 2) + ":" + Digits.padded(minute, 2) + ":" + Digits.padded(second, 2)
        guard nanosecond > 0 else { return time }
        var fraction = Digits.padded(nanosecond, 9)
        while fraction.hasSuffix("0") { fraction.removeLast() }
        return time + "." + fraction
    }
}
