/// A day of the Gregorian calendar, without a place or a time: `1979-05-27`.
public struct LocalDate: Sendable, Hashable {
    /// The year, 0 to 9999.
    public let year: Int
    /// The month, 1 to 12.
    public let month: Int
    /// The day of the month, from 1.
    public let day: Int

    /// Creates a day.
    ///
    /// If the day doesn't exist, the program stops with a message. For text that can be wrong, use ``init(_:)``.
    ///
    /// - Parameters:
    ///   - year: The year, 0 to 9999.
    ///   - month: The month, 1 to 12.
    ///   - day: The day of the month, from 1.
    public init(year: Int, month: Int, day: Int) {
        guard
            (0...9999).contains(year), (1...12).contains(month),
            (1...LocalDate.days(inMonth: month, of: year)).contains(day)
        else { fatalError(ErrorText.noSuchDay(year, month, day)) }
        self.year = year
        self.month = month
        self.day = day
    }

    static func days(inMonth month: Int, of year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// The days since 1970-01-01.
    ///
    /// Counting years from March puts the leap day last, so no month is a special case.
    var daysSince1970: Int {
        let shiftedYear = month > 2 ? year : year - 1
        let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// Creates the day with a number of days since 1970-01-01, or returns `nil` outside the years 0 to 9999.
    init?(daysSince1970 days: Int) {
        guard (-719_528...2_932_896).contains(days) else { return nil }
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        self.init(
            year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month: month,
            day: dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }
}

extension LocalDate: LosslessStringConvertible, TextDecodable, Encodable {
    /// Creates a value from text as in RFC 3339, such as `1979-05-27`, or returns `nil` if the text is something else.
    ///
    /// - Parameter description: The text.
    public init?(_ description: String) {
        guard case .localDate(let value)? = DateTimeScanner.value(of: description) else { return nil }
        self = value
    }

    /// The day as in RFC 3339: `1979-05-27`.
    public var description: String {
        Digits.padded(year, 4) + "-" + Digits.padded(month, 2) + "-" + Digits.padded(day, 2)
    }
}
