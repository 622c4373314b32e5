/// A date and a time of day with no offset, so not yet a moment: `1979-05-27T07:32:00`.
public struct LocalDateTime: Sendable, Hashable {
    /// The day.
    public let date: LocalDate
    /// The time of day.
    public let time: LocalTime

    /// A date and a time of day together.
    public init(date: LocalDate, time: LocalTime) {
        self.date = date
        self.time = time
    }
}

extension LocalDateTime: LosslessStringConvertible, Codable {
    /// The date and time that RFC 3339 text without an offset names; nil if it is anything else.
    public init?(_ description: String) {
        guard case .localDateTime(let value)? = DateTimeScanner.value(of: description) else { return nil }
        self = value
    }

    /// RFC 3339 without an offset: `1979-05-27T07:32:00`.
    public var description: String { "\(date)T\(time)" }

    /// Decodes a date and time of the source, or RFC 3339 text.
    public init(from decoder: any Decoder) throws { self = try DateTimeCoding.decode(from: decoder) }

    /// Encodes RFC 3339 text.
    public func encode(to encoder: any Encoder) throws { try DateTimeCoding.encode(self, to: encoder) }
}
