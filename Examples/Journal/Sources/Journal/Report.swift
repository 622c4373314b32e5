import Foundation
import Fugu
import FuguFoundation

/// Entries as text, in the user's language and time zone.
struct Report {
    let locale: Locale
    let timeZone: TimeZone
    let calendar: Calendar
    let style: Style

    /// Further lines of an entry stand below its first one.
    private static let continuation = "\n" + String(repeating: " ", count: "2025-01-01 00:00:00  ".count)

    init(container: some FeatureContainer) {
        locale = container.locale
        timeZone = container.timeZone
        calendar = container.calendar
        style = container.style
    }

    func list(_ entries: [Entry]) -> String {
        let format = Date.ISO8601FormatStyle(dateTimeSeparator: .space, timeZone: timeZone)
            .year().month().day().time(includingFractionalSeconds: false)
        var text = ""
        for entry in entries {
            let date = format.format(entry.date)
            text += "\(style.faint(date))  \(entry.text.replacingOccurrences(of: "\n", with: Self.continuation))\n"
        }
        return text
    }

    func contains(_ word: String, in entry: Entry) -> Bool {
        entry.text.range(of: word, options: [.caseInsensitive], locale: locale) != nil
    }

    func statistics(_ entries: [Entry]) -> String {
        guard let first = entries.map(\.date).min(), let last = entries.map(\.date).max() else {
            return "No entries.\n"
        }
        let words = entries.reduce(0) { $0 + $1.text.split(whereSeparator: \.isWhitespace).count }
        let days = Dictionary(grouping: entries) { calendar.startOfDay(for: $0.date) }.mapValues(\.count)
        // The first of equally busy days.
        let busiest = days.max { ($0.value, $1.key) < ($1.value, $0.key) }
        return """
            Entries      \(number(entries.count))
            Words        \(number(words))
            Days         \(number(days.count))
            First        \(day(first))
            Last         \(day(last))
            Busiest day  \(busiest.map { "\(style.bold(day($0.key))) (\(number($0.value)))" } ?? "")

            """
    }

    private func number(_ value: Int) -> String {
        value.formatted(.number.locale(locale))
    }

    private func day(_ date: Date) -> String {
        date.formatted(
            Date.FormatStyle(date: .long, time: .omitted, locale: locale, calendar: calendar, timeZone: timeZone))
    }
}
