#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension LocatedValue {
    /// Decodes the Foundation types that configuration has its own forms for.
    func foundationValue<Value>(_ type: Value.Type) throws -> Value? {
        if type == URL.self { return try url() as? Value }
        if type == Date.self { return try date() as? Value }
        if type == DateComponents.self { return try dateComponents() as? Value }
        if type == UUID.self { return try uuid() as? Value }
        if type == Decimal.self { return try decimal() as? Value }
        if type == Data.self { return try data() as? Value }
        if type == URLComponents.self { return try urlComponents() as? Value }
        if type == Locale.self { return try locale() as? Value }
        if type == TimeZone.self { return try timeZone() as? Value }
        if type == Calendar.Identifier.self { return try calendar(type) as? Value }
        if type == Calendar.self { return try Calendar(identifier: calendar(type)) as? Value }
        return nil
    }

    private func url() throws -> URL {
        if let text = textOrNil, let url = URL(string: text, encodingInvalidCharacters: Self.isInternational(text)) {
            return url
        }
        throw mismatch(URL.self, expected: textOrNil.map { _ in ErrorText.url })
    }

    private func urlComponents() throws -> URLComponents {
        if let text = textOrNil,
            let value = URLComponents(string: text, encodingInvalidCharacters: Self.isInternational(text))
        {
            return value
        }
        throw mismatch(URLComponents.self, expected: textOrNil.map { _ in ErrorText.url })
    }

    /// Whether only letters and signs beyond ASCII must be encoded, as in `http://münchen.de/`.
    ///
    /// Anything else that Foundation would repair is a mistake.
    private static func isInternational(_ text: String) -> Bool {
        let plain = String(text.unicodeScalars.map { $0.isASCII || $0.properties.isWhitespace ? Character($0) : "a" })
        return plain != text && URL(string: plain, encodingInvalidCharacters: false) != nil
    }

    /// Returns the locale, whose own form, a table, nobody writes.
    private func locale() throws -> Locale {
        if let text = textOrNil, LocaleIdentifier(text)?.exists == true {
            let locale = Locale(identifier: text)
            // Without the data of locales, every text gives the same one.
            if locale.identifier == text { return locale }
        }
        throw mismatch(Locale.self, expected: "Locale, such as de_DE or zh-Hant-TW" + LocaleData.advice)
    }

    private func timeZone() throws -> TimeZone {
        guard let zone = textOrNil.flatMap(TimeZone.init(identifier:)) else {
            throw mismatch(TimeZone.self, expected: "TimeZone, such as Europe/Berlin or UTC" + LocaleData.advice)
        }
        return zone
    }

    private func calendar(_ type: Any.Type) throws -> Calendar.Identifier {
        let calendars = CalendarNames.available
        guard let text = textOrNil, let calendar = calendars.first(where: { $0.name == text }) else {
            let names = calendars.map(\.name).joined(separator: ", ")
            throw mismatch(type, expected: "\(type) (\(names))" + LocaleData.advice)
        }
        return calendar.identifier
    }

    /// Returns a date-time of the source, or the date in RFC 3339 text with an offset.
    private func date() throws -> Date {
        guard let moment = moment ?? textOrNil.flatMap(Moment.init), let seconds = moment.secondsSince1970 else {
            throw mismatch(Date.self, expected: "Date with an offset, such as 1979-05-27T07:32:00Z")
        }
        let fraction = Double(moment.time?.nanosecond ?? 0) / 1_000_000_000
        return Date(timeIntervalSince1970: Double(seconds) + fraction)
    }

    /// Returns what is written of a date and a time; the own form of components, a table, nobody writes.
    private func dateComponents() throws -> DateComponents {
        guard let moment = moment ?? textOrNil.flatMap(Moment.init) else {
            throw mismatch(
                DateComponents.self, expected: "DateComponents, such as 1979-05-27, 07:32:00, or 1979-05-27T07:32:00Z")
        }
        guard let components = moment.components else {
            throw mismatch(DateComponents.self, expected: "DateComponents with an offset of at most 18 hours")
        }
        return components
    }

    private func uuid() throws -> UUID {
        guard let uuid = textOrNil.flatMap(UUID.init(uuidString:)) else { throw mismatch(UUID.self) }
        return uuid
    }

    /// Decodes the digits as they were written, so that 0.1 is exactly a tenth.
    private func decimal() throws -> Decimal {
        let node = node
        let written: String? =
            switch node.kind {
            case .integer: "\(node.integer)"
            case .double: tree.store.numberText(at: node.offset) ?? "\(node.double)"
            case .other: wideInteger.map { "\($0)" }
            default: textOrNil
            }
        let whole: Int128? = textOrNil.flatMap(NumberText.integer)
        guard let written = whole.map({ "\($0)" }) ?? written.flatMap(NumberText.plain), Self.isDecimal(written),
            let value = Decimal(string: written)
        else { throw mismatch(Decimal.self, expected: leadingZero(Decimal.self)) }
        return value
    }

    /// Foundation stops at the first character that it doesn't know and drops excess digits; neither would be exact.
    private static func isDecimal(_ text: String) -> Bool {
        var bytes = Array(text.utf8)[...]
        if let sign = bytes.first, sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") { bytes = bytes.dropFirst() }
        let exponentStart = bytes.firstIndex { $0 | 0x20 == UInt8(ascii: "e") } ?? bytes.endIndex
        let mantissa = bytes[..<exponentStart].filter { $0 != UInt8(ascii: ".") }
        let exponent = bytes[exponentStart...].dropFirst()
        let significant = mantissa.drop { $0 == UInt8(ascii: "0") }
        return !mantissa.isEmpty && mantissa.allSatisfy(ByteClass.isDigit) && significant.count <= 38
            && bytes[..<exponentStart].count - mantissa.count <= 1
            && (exponentStart == bytes.endIndex
                || Int(String(decoding: exponent, as: UTF8.self)).map { abs($0) <= 80 } ?? false)
    }

    /// Returns the bytes of the source, or those of a Base64 string.
    private func data() throws -> Data {
        guard let data = bytesOrNil.map({ Data($0) }) ?? textOrNil.flatMap(Base64.data(of:)) else {
            throw mismatch(Data.self, expected: "data in Base64")
        }
        return data
    }
}

/// Base64 with or without the `=` at the end, in the standard or the URL alphabet.
enum Base64 {
    static func data(of text: String) -> Data? {
        // Tools break long lines.
        var text = text.filter { !$0.isWhitespace }.replacing("-", with: "+").replacing("_", with: "/")
        while text.utf8.count % 4 != 0 { text += "=" }
        return Data(base64Encoded: text)
    }

    static func text(of bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }
}

/// The parts of a locale's identifier, since `Locale` takes any text.
private struct LocaleIdentifier {
    let language: Substring
    private(set) var script: Substring?
    private(set) var region: Substring?

    /// Creates the parts, or returns `nil` unless the text is a language, a script, a region, variants, and extensions or
    /// keywords, each of which but the first may be left out.
    init?(_ text: String) {
        let body = text.prefix { $0 != "@" }
        guard body.utf8.allSatisfy({ ByteClass.isBareKey($0) }) else { return nil }
        var parts = body.split(omittingEmptySubsequences: false) { $0 == "-" || $0 == "_" }[...]
        guard let language = parts.popFirst(), 2...3 ~= language.count, language.allSatisfy(\.isLetter) else {
            return nil
        }
        self.language = language
        if let part = parts.first, part.count == 4, part.allSatisfy(\.isLetter) { script = parts.popFirst() }
        if let part = parts.first,
            part.count == 2 && part.allSatisfy(\.isLetter) || part.count == 3 && UInt(part) != nil
        {
            region = parts.popFirst()
        }
        let rest = parts.firstIndex { $0.count == 1 } ?? parts.endIndex
        guard parts[..<rest].allSatisfy({ 5...8 ~= $0.count || $0.count == 4 && $0.first?.isNumber == true }),
            parts[rest...].allSatisfy({ 1...8 ~= $0.count }), parts.last?.count != 1
        else { return nil }
    }

    /// Whether the language, the script, and the region have names, as far as there's data of locales.
    var exists: Bool {
        guard LocaleData.isThere else { return true }
        let english = Locale(identifier: "en_US")
        return english.localizedString(forLanguageCode: String(language)) != nil
            && script.map { english.localizedString(forScriptCode: String($0)) != nil } ?? true
            && region.map { english.localizedString(forRegionCode: String($0)) != nil } ?? true
    }
}

/// The data of locales, which a program doesn't have that only imports FoundationEssentials.
private enum LocaleData {
    static let isThere = Locale(identifier: "de_DE").decimalSeparator == ","

    static var advice: String { isThere ? "" : ErrorText.noLocaleData }
}

/// The names of calendars.
private enum CalendarNames {
    /// Without the data of locales, most calendars would stop the program.
    static let available = LocaleData.isThere ? all : Array(all.prefix(2))

    private static let all: [(name: String, identifier: Calendar.Identifier)] = [
        ("gregorian", .gregorian), ("iso8601", .iso8601), ("buddhist", .buddhist), ("chinese", .chinese),
        ("coptic", .coptic), ("ethiopicAmeteAlem", .ethiopicAmeteAlem), ("ethiopicAmeteMihret", .ethiopicAmeteMihret),
        ("hebrew", .hebrew), ("indian", .indian), ("islamic", .islamic), ("islamicCivil", .islamicCivil),
        ("islamicTabular", .islamicTabular), ("islamicUmmAlQura", .islamicUmmAlQura), ("japanese", .japanese),
        ("persian", .persian), ("republicOfChina", .republicOfChina),
    ]

    static func name(of identifier: Calendar.Identifier) -> String? { all.first { $0.identifier == identifier }?.name }
}

/// Returns the present environment of this process.
///
/// Foundation reads it under the lock that its own changes use.
func processEnvironment() -> [String: String] { ProcessInfo.processInfo.environment }

/// Returns the configuration value that decodes to a Foundation value, or `nil` for any other type.
package func foundationPropertyValue(of value: Any) -> PropertyValue? {
    switch value {
    case let value as Data: .data(Array(value))
    case let value as Date: Moment(value).map { .date($0.description) }
    case let value as DateComponents: Moment(value).map { .date($0.description) }
    default: foundationText(of: value).map { .string($0) }
    }
}

/// Returns the text of a Foundation value that's written as one.
private func foundationText(of value: Any) -> String? {
    switch value {
    case let value as URL: return value.absoluteString
    case let value as UUID: return value.uuidString
    case let value as Decimal: return value.description
    case let value as URLComponents: return value.string
    case let value as Locale: return value.identifier
    case let value as TimeZone: return value.identifier
    case let value as Calendar.Identifier: return CalendarNames.name(of: value)
    case let value as Calendar:
        // A calendar with other settings isn't written by its name.
        return value == Calendar(identifier: value.identifier) ? CalendarNames.name(of: value.identifier) : nil
    default: return nil
    }
}

/// Returns what people write for a value of a Foundation type, or `nil` for any other type.
func foundationWords(of type: Any.Type) -> String? {
    switch type {
    case is URL.Type, is URLComponents.Type: "URL"
    case is Date.Type, is DateComponents.Type: "date and time"
    case is UUID.Type: "UUID"
    case is Decimal.Type: "number"
    case is Data.Type: "bytes in Base64"
    case is Locale.Type: "locale"
    case is TimeZone.Type: "time zone"
    case is Calendar.Identifier.Type, is Calendar.Type: "calendar"
    default: nil
    }
}

/// Returns a value of a Foundation type for when only the type matters, or `nil` for any other type.
func blankFoundationValue(of type: Any.Type) -> Any? {
    switch type {
    case is URL.Type: return URL(string: "/")
    case is Date.Type: return Date(timeIntervalSince1970: 0)
    case is DateComponents.Type: return DateComponents()
    case is UUID.Type: return UUID()
    case is Decimal.Type: return Decimal()
    case is Data.Type: return Data()
    case is URLComponents.Type: return URLComponents()
    case is Locale.Type: return Locale(identifier: "en")
    case is TimeZone.Type: return TimeZone(secondsFromGMT: 0)
    case is Calendar.Identifier.Type: return Calendar.Identifier.gregorian
    case is Calendar.Type: return Calendar(identifier: .gregorian)
    default: return nil
    }
}

extension Moment {
    /// Creates the moment in UTC, to the nanosecond, or returns `nil` outside the years 0 to 9999.
    init?(_ date: Date) {
        let seconds = date.timeIntervalSince1970.rounded(.down)
        guard let whole = Int64(exactly: seconds) else { return nil }
        let nanosecond = ((date.timeIntervalSince1970 - seconds) * 1_000_000_000).rounded()
        self.init(secondsSince1970: whole, nanosecond: min(Int(nanosecond), 999_999_999))
    }

    /// Creates the moment of which the components are, or returns `nil` if there's none, or they say more than it does.
    init?(_ components: DateComponents) {
        var (whole, moment) = (components, Moment())
        if let year = whole.year, let month = whole.month, let day = whole.day { moment.date = (year, month, day) }
        if let hour = whole.hour, let minute = whole.minute {
            whole.second = whole.second ?? 0
            if whole.nanosecond == 0 { whole.nanosecond = nil }
            moment.time = (hour, minute, whole.second ?? 0, whole.nanosecond ?? 0)
        }
        moment.offset = whole.timeZone.map { $0.secondsFromGMT(for: Date(timeIntervalSince1970: 0)) / 60 }
        // What doesn't exist has no text, and what isn't a part of a moment, as a zone with summer time, isn't read again.
        guard let read = Moment(moment.description), read.components == whole else { return nil }
        self = read
    }

    /// What is written of the moment, or `nil` with an offset that no `TimeZone` has.
    var components: DateComponents? {
        var components = DateComponents()
        if let date { (components.year, components.month, components.day) = (date.year, date.month, date.day) }
        if let time {
            (components.hour, components.minute, components.second) = (time.hour, time.minute, time.second)
            if time.nanosecond != 0 { components.nanosecond = time.nanosecond }
        }
        guard let offset else { return components }
        components.timeZone = TimeZone(secondsFromGMT: offset * 60)
        return components.timeZone == nil ? nil : components
    }
}
