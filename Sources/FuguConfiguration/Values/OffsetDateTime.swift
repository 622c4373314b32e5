/// A moment: a date, a time of day, and its offset from UTC: `1979-05-27T07:32:00+01:00`.
///
/// Two values are equal if they're written alike. To compare moments, compare ``secondsSince1970`` and the nanoseconds.
public struct OffsetDateTime: Sendable, Hashable {
    /// The day at the place with this offset.
    public let date: LocalDate
    /// The time of day at the place with this offset.
    public let time: LocalTime
    /// The offset in minutes east of UTC, -1439 to 1439.
    public let offsetMinutes: Int

    /// Creates a moment.
    ///
    /// If the offset is a day or more, the program stops with a message.
    ///
    /// - Parameters:
    ///   - date: The day at the place with this offset.
    ///   - time: The time of day at the place with this offset.
    ///   - offsetMinutes: The offset in minutes east of UTC.
    public init(date: LocalDate, time: LocalTime, offsetMinutes: Int = 0) {
        guard (-1439...1439).contains(offsetMinutes) else { fatalError(ErrorText.noSuchOffset(offsetMinutes)) }
        self.date = date
        self.time = time
        self.offsetMinutes = offsetMinutes
    }

    /// The whole seconds since 1970-01-01T00:00:00Z.
    ///
    /// The nanoseconds of ``time`` are not included.
    public var secondsSince1970: Int64 {
        Int64(date.daysSince1970) * 86_400 + Int64(time.secondsSinceMidnight - offsetMinutes * 60)
    }

    /// Creates a moment in UTC, or returns `nil` outside of the years 0 to 9999.
    ///
    /// - Parameters:
    ///   - secondsSince1970: The whole seconds since 1970-01-01T00:00:00Z.
    ///   - nanosecond: The nanosecond, 0 to 999,999,999.
    package init?(secondsSince1970: Int64, nanosecond: Int = 0) {
        let second = Int((secondsSince1970 % 86_400 + 86_400) % 86_400)
        let day = (secondsSince1970 / 86_400) - (secondsSince1970 % 86_400 < 0 ? 1 : 0)
        guard let day = Int(exactly: day), let date = LocalDate(daysSince1970: day),
            (0...999_999_999).contains(nanosecond)
        else { return nil }
        let time = LocalTime(
            hour: second / 3600, minute: second / 60 % 60, second: second % 60, nanosecond: nanosecond)
        self.init(date: date, time: time)
    }
}

extension OffsetDateTime: LosslessStringConvertible, TextDecodable, Encodable {
    /// Creates a value from text as in RFC 3339, such as `1979-05-27T07:32:00Z`, or returns `nil` if the text is
    /// something else.
    ///
    /// - Parameter description: The text.
    public init?(_ description: String) {
        guard case .offsetDateTime(let value)? = DateTimeScanner.value(of: description) else { return nil }
        self = value
    }

    /// The moment as in RFC 3339: `1979-05-27T07:32:00+01:00`, with `Z` for UTC.
    public var description: String {
        guard offsetMinutes != 0 else { return "\(date)T\(time)Z" }
        let (hours, minutes) = abs(offsetMinutes).quotientAndRemainder(dividingBy: 60)
        return "\(date)T\(time)" + (offsetMinutes < 0 ? "-" : "+") + Digits.padded(hours, 2) + ":"
            + Digits.padded(minutes, 2)
    }
}
