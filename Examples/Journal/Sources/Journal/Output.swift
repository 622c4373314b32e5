import Foundation
import Fugu
import FuguFoundation

/// The program's output: its results and its reports.
struct Console: Feature, External, Sendable {
    var write: @Sendable (String) throws -> Void
    var report: @Sendable (String) -> Void
    var writesToTerminal = false
    var reportsToTerminal = false

    static let standard = Console(
        write: { text in
            do {
                try FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
            } catch {
                throw FileAccessError(.append, URL(filePath: "/dev/stdout"), cause: error)
            }
        },
        report: { try? FileHandle.standardError.write(contentsOf: Data($0.utf8)) },  // No place is left to report to.
        writesToTerminal: isatty(STDOUT_FILENO) == 1, reportsToTerminal: isatty(STDERR_FILENO) == 1)

    static func load(in container: any FeatureContainer) -> Console { .standard }

    /// Says nothing, and fails the test that makes it speak.
    static var placeholder: Console {
        Console(write: unimplemented("Console.write"), report: unimplemented("Console.report"))
    }
}

extension ContainerKeys {
    var console: FeatureKey<Console> { .init(Console.self) }
}

extension ContainerKeys {
    /// Whether the output has colours; `nil` if it has them on a terminal only.
    var usesColours: PropertyKey<Bool?> { .init() }

    /// It reloads when the choice changes.
    var style: FeatureKey<Style> {
        .init(reloadsWhenInputsChange: true) { container in
            // NO_COLOR counts if it's there and not empty: see no-color.org.
            let environment = container.environment
            let isPlain = environment["NO_COLOR"]?.isEmpty == false || environment["TERM"] == "dumb"
            return Style(isOn: container.usesColours ?? (container.console.writesToTerminal && !isPlain))
        }
    }
}

/// The style of text on a terminal.
struct Style: Sendable {
    let isOn: Bool

    func faint(_ text: String) -> String { wrapped(text, "2") }
    func bold(_ text: String) -> String { wrapped(text, "1") }

    private func wrapped(_ text: String, _ code: String) -> String {
        isOn ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}

/// A progress bar for long work, on a terminal only.
///
/// It hides the cursor while it is there. Its closer shows it again, however the work ends.
struct ProgressBar: Feature, Sendable {
    private static let width = 40

    private let console: Console

    static func load(in container: any FeatureContainer) -> ProgressBar {
        let console = container.console
        if console.reportsToTerminal {
            console.report("\u{1B}[?25l")
            container.onClose { console.report("\r\u{1B}[K\u{1B}[?25h") }
        }
        return ProgressBar(console: console)
    }

    func show(_ done: Int, of total: Int) {
        guard console.reportsToTerminal else { return }
        let filled = Self.width * done / total
        let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: Self.width - filled)
        console.report("\r\(bar) \(100 * done / total) % of \(total)")
    }
}

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
