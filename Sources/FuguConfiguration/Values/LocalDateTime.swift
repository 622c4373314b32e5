/// A date and a time of day without an offset from UTC: `1979-05-27T07:32:00`.
public struct LocalDateTime: Sendable, Hashable {
    /// The day.
    public let date: LocalDate
    /// The time of day.
    public let time: LocalTime

    /// Creates a value from a date and a time of day.
    ///
    /// - Parameters:
    ///   - date: The day.
    ///   - time: The time of day.
    public init(date: LocalDate, time: LocalTime) {
        self.date = date
        self.time = time
    }
}

extension LocalDateTime: LosslessStringConvertible, TextDecodable, Encodable {
    /// Creates a value from text as in RFC 3339, such as `1979-05-27T07:32:00`, or returns `nil` if the text is
    /// something else.
    ///
    /// - Parameter description: The text.
    public init?(_ description: String) {
        guard case .localDateTime(let value)? = DateTimeScanner.value(of: description) else { return nil }
        self = value
    }

    /// The date and time as in RFC 3339, without an offset: `1979-05-27T07:32:00`.
    public var description: String { "\(date)T\(time)" }
}
