/// A date, a time of day, or both, of which a source has written at least one.
struct Moment: CustomStringConvertible {
    /// The day: a year from 0 to 9999, a month from 1, and a day of the month from 1.
    var date: (year: Int, month: Int, day: Int)?
    /// The time of day, whose second is 60 for a leap second.
    var time: (hour: Int, minute: Int, second: Int, nanosecond: Int)?
    /// The offset in minutes east of UTC, -1439 to 1439, of a day with a time.
    var offset: Int?

    /// What TOML calls a value like this one.
    var kind: String {
        guard time != nil else { return "local date" }
        return offset != nil ? "offset date-time" : date != nil ? "local date-time" : "local time"
    }

    /// The text as in RFC 3339, with as many fractional digits as needed, and with `Z` for UTC.
    var description: String {
        let day = date.map { Self.padded($0.year, 4) + "-" + Self.padded($0.month, 2) + "-" + Self.padded($0.day, 2) }
        let parts = [day, time.map(Self.text(ofTime:))].compactMap(\.self)
        return parts.joined(separator: "T") + (offset.map(Self.text(ofOffset:)) ?? "")
    }

    private static func text(ofTime time: (hour: Int, minute: Int, second: Int, nanosecond: Int)) -> String {
        let text = padded(time.hour, 2) + ":" + padded(time.minute, 2) + ":" + padded(time.second, 2)
        guard time.nanosecond != 0 else { return text }
        var fraction = padded(time.nanosecond, 9)
        while fraction.hasSuffix("0") { fraction.removeLast() }
        return text + "." + fraction
    }

    private static func text(ofOffset offset: Int) -> String {
        guard offset != 0 else { return "Z" }
        let (hours, minutes) = abs(offset).quotientAndRemainder(dividingBy: 60)
        return (offset < 0 ? "-" : "+") + padded(hours, 2) + ":" + padded(minutes, 2)
    }

    private static func padded(_ value: Int, _ width: Int) -> String {
        let digits = String(value)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    static func days(inMonth month: Int, of year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

extension Moment {
    /// Creates a moment from text as in RFC 3339, or returns `nil` if the text is something else.
    init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard let moment = try? DateTimeScanner.moment(in: bytes, 0..<bytes.count) else { return nil }
        self = moment
    }

    /// Creates a moment in UTC, or returns `nil` outside the years 0 to 9999.
    init?(secondsSince1970 seconds: Int64, nanosecond: Int) {
        guard (-62_167_219_200...253_402_300_799).contains(seconds) else { return nil }
        let second = Int((seconds % 86_400 + 86_400) % 86_400)
        date = Self.date(daysSince1970: (Int(seconds) - second) / 86_400)
        time = (second / 3600, second / 60 % 60, second % 60, nanosecond)
        offset = 0
    }

    /// The whole seconds since 1970-01-01T00:00:00Z, or `nil` without an offset.
    var secondsSince1970: Int64? {
        guard let date, let time, let offset else { return nil }
        let minutes = Self.daysSince1970(date) * 1440 + time.hour * 60 + time.minute - offset
        return Int64(minutes) * 60 + Int64(time.second)
    }

    /// Counting years from March puts the leap day last, so no month is a special case.
    private static func daysSince1970(_ date: (year: Int, month: Int, day: Int)) -> Int {
        let shiftedYear = date.month > 2 ? date.year : date.year - 1
        let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (date.month > 2 ? date.month - 3 : date.month + 9) + 2) / 5 + date.day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func date(daysSince1970 days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
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

    /// Returns what the whole range writes.
    static func moment(in bytes: [UInt8], _ range: Range<Int>) throws(Failure) -> Moment {
        var scanner = DateTimeScanner(bytes: bytes, index: range.lowerBound, end: range.upperBound)
        let moment = try scanner.moment()
        guard scanner.index == scanner.end else { throw .malformed }
        return moment
    }

    private init(bytes: [UInt8], index: Int, end: Int) {
        self.bytes = bytes
        self.index = index
        self.end = end
    }

    private mutating func moment() throws(Failure) -> Moment {
        if peek(2) == UInt8(ascii: ":") { return Moment(time: try time()) }
        let date = try date()
        guard index < end else { return Moment(date: date) }
        guard take("T") || take("t") || take(" ") else { throw .malformed }
        let time = try time()
        return Moment(date: date, time: time, offset: index < end ? try offset() : nil)
    }

    private mutating func date() throws(Failure) -> (year: Int, month: Int, day: Int) {
        let year = try number(4)
        try expect("-")
        let month = try number(2)
        try expect("-")
        let day = try number(2)
        guard (1...12).contains(month) else { throw .month }
        guard (1...Moment.days(inMonth: month, of: year)).contains(day) else { throw .day }
        return (year, month, day)
    }

    private mutating func time() throws(Failure) -> (hour: Int, minute: Int, second: Int, nanosecond: Int) {
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
        return (hour, minute, second, nanosecond)
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
