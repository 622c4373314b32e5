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

/// Reads the dates and times of RFC 3339 with the additions of TOML 1.1: `T`, `t`, or a space between date and time,
/// and optional seconds.
struct DateTimeScanner {
    enum Failure: Error {
        case malformed, month, day, hour, minute, second, offset
    }

    private let bytes: [UInt8]
    private var index: Int
    private let end: Int

    /// Returns the value of the whole text, or `nil` if it's malformed.
    static func value(of text: String) -> PropertyValue? {
        let bytes = Array(text.utf8)
        return try? value(in: bytes, 0..<bytes.count)
    }

    /// Returns the value of the whole range.
    static func value(in bytes: [UInt8], _ range: Range<Int>) throws(Failure) -> PropertyValue {
        var scanner = DateTimeScanner(bytes: bytes, index: range.lowerBound, end: range.upperBound)
        let value = try scanner.value()
        guard scanner.index == scanner.end else { throw .malformed }
        return value
    }

    private init(bytes: [UInt8], index: Int, end: Int) {
        self.bytes = bytes
        self.index = index
        self.end = end
    }

    private mutating func value() throws(Failure) -> PropertyValue {
        if peek(2) == UInt8(ascii: ":") { return .localTime(try time()) }
        let date = try date()
        guard index < end else { return .localDate(date) }
        guard take("T") || take("t") || take(" ") else { throw .malformed }
        let time = try time()
        guard index < end else { return .localDateTime(LocalDateTime(date: date, time: time)) }
        return .offsetDateTime(OffsetDateTime(date: date, time: time, offsetMinutes: try offset()))
    }

    private mutating func date() throws(Failure) -> LocalDate {
        let year = try number(4)
        try expect("-")
        let month = try number(2)
        try expect("-")
        let day = try number(2)
        guard (1...12).contains(month) else { throw .month }
        guard (1...LocalDate.days(inMonth: month, of: year)).contains(day) else { throw .day }
        return LocalDate(year: year, month: month, day: day)
    }

    private mutating func time() throws(Failure) -> LocalTime {
        let hour = try number(2)
        try expect(":")
        let minute = try number(2)
        var second = 0
        var nanosecond = 0
        if take(":") {
            second = try number(2)
            if take(".") { nanosecond = try fraction() }
        }
        guard hour < 24 else { throw .hour }
        guard minute < 60 else { throw .minute }
        guard second <= 60 else { throw .second }
        return LocalTime(hour: hour, minute: minute, second: second, nanosecond: nanosecond)
    }

    /// Digits beyond nanoseconds are cut off, as TOML requires.
    private mutating func fraction() throws(Failure) -> Int {
        let start = index
        var value = 0
        while index < end, ByteClass.isDigit(bytes[index]) {
            if index - start < 9 { value = value * 10 + Int(bytes[index] - 0x30) }
            index += 1
        }
        guard index > start else { throw .malformed }
        for _ in 0..<max(0, 9 - (index - start)) { value *= 10 }
        return value
    }

    private mutating func offset() throws(Failure) -> Int {
        if take("Z") || take("z") { return 0 }
        let isWest = take("-")
        if !isWest { try expect("+") }
        let hours = try number(2)
        try expect(":")
        let minutes = try number(2)
        guard hours < 24, minutes < 60 else { throw .offset }
        return (isWest ? -1 : 1) * (hours * 60 + minutes)
    }

    private mutating func number(_ width: Int) throws(Failure) -> Int {
        guard index + width <= end else { throw .malformed }
        var value = 0
        for _ in 0..<width {
            guard ByteClass.isDigit(bytes[index]) else { throw .malformed }
            value = value * 10 + Int(bytes[index] - 0x30)
            index += 1
        }
        return value
    }

    private func peek(_ distance: Int) -> UInt8? { index + distance < end ? bytes[index + distance] : nil }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard peek(0) == UInt8(ascii: character) else { return false }
        index += 1
        return true
    }

    private mutating func expect(_ character: Unicode.Scalar) throws(Failure) {
        guard take(character) else { throw .malformed }
    }
}
