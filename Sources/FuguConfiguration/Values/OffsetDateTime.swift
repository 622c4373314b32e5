/// A moment: a date, a time of day and its offset from UTC: `1979-05-27T07:32:00+01:00`.
///
/// Two values are equal if they are written alike; compare `secondsSince1970` and the nanoseconds to compare moments.
public struct OffsetDateTime: Sendable, Hashable {
    /// The day at the place with this offset.
    public let date: LocalDate
    /// The time of day at the place with this offset.
    public let time: LocalTime
    /// Minutes east of UTC, -1439...1439.
    public let offsetMinutes: Int

    /// Traps if the offset is a day or more.
    public init(date: LocalDate, time: LocalTime, offsetMinutes: Int = 0) {
        precondition((-1439...1439).contains(offsetMinutes), "There is no offset of \(offsetMinutes) minutes")
        self.date = date
        self.time = time
        self.offsetMinutes = offsetMinutes
    }

    /// Whole seconds since 1970-01-01T00:00:00Z; the nanoseconds of `time` come on top.
    public var secondsSince1970: Int64 {
        Int64(date.daysSince1970) * 86_400 + Int64(time.secondsSinceMidnight - offsetMinutes * 60)
    }

    /// The moment in UTC; nil outside of the years 0...9999 or if `nanosecond` is not in 0...999,999,999.
    public init?(secondsSince1970: Int64, nanosecond: Int = 0) {
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

extension OffsetDateTime: LosslessStringConvertible, Codable {
    /// The moment that RFC 3339 text names, such as `1979-05-27T07:32:00Z`; nil if it is anything else.
    public init?(_ description: String) {
        guard case .offsetDateTime(let value)? = DateTimeScanner.value(of: description) else { return nil }
        self = value
    }

    /// RFC 3339: `1979-05-27T07:32:00+01:00`, with `Z` for UTC.
    public var description: String {
        guard offsetMinutes != 0 else { return "\(date)T\(time)Z" }
        let (hours, minutes) = abs(offsetMinutes).quotientAndRemainder(dividingBy: 60)
        return "\(date)T\(time)" + (offsetMinutes < 0 ? "-" : "+") + Digits.padded(hours, 2) + ":"
            + Digits.padded(minutes, 2)
    }

    /// Decodes a moment of the source, or RFC 3339 text.
    public init(from decoder: any Decoder) throws { self = try DateTimeCoding.decode(from: decoder) }

    /// Encodes RFC 3339 text.
    public func encode(to encoder: any Encoder) throws { try DateTimeCoding.encode(self, to: encoder) }
}
