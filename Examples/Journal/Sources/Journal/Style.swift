import Fugu
import FuguFoundation

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
