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
