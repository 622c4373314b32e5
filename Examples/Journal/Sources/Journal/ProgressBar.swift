import Fugu

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
