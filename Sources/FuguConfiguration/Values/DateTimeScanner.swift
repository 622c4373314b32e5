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
