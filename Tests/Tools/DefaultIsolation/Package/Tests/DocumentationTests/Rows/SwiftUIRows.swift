import Fugu
import FuguTesting
import Observation
import Testing

#if canImport(SwiftUI)
import SwiftUI
#endif

// The rows of the table in "Coming from SwiftUI's environment". A line that begins with `// |` names a row; the code below it, up to
// the next such line, is Fugu's side.

// | `EnvironmentKey` with `defaultValue` |
private struct Tint: Property {
    static var defaultValue: String { "blue" }
}

// | `@Environment(\.accent)` in a view |
private struct AccentView: View {
    @Environment(ObservableContainer.self) private var container
    var body: some View { Text(container.accent) }
}

// | `@Environment(\.accent)` in a model (impossible) |
private struct AccentModel {
    @Injected(\.accent) var accent
}

// | `.environment(\.accent, "red")` on a subtree |
private struct Subtree: View {
    @State private var container = Container.shared.child { $0.accent = "red" }.observable
    var body: some View { AccentView().environment(container) }
}

// | `@Environment(Model.self)`, `.environment(model)` |
// | a service in the environment, made in `App` |
private final class Palette: Feature, Sendable {
    let accent: String
    let margin: Int
    init(accent: String, margin: Int) {
        self.accent = accent
        self.margin = margin
    }

    static func load(in container: any FeatureContainer) -> Palette {
        Palette(accent: container.accent, margin: container.margin)
    }
}

// | `@Bindable var model = model` |
private struct AccentField: View {
    @Environment(ObservableContainer.self) private var container
    var body: some View {
        @Bindable var container = container
        TextField("Accent", text: $container.accent)
    }
}

// | a preview with `.environment(…)` |
@MainActor private func accentPreview() -> some View {
    let container = Container()
    container.accent = "green"
    return AccentView().environment(container.observable)
}

private struct Swatches: Feature, External {
    var names: @Sendable () -> [String]

    static func load(in container: any FeatureContainer) -> Swatches { Swatches { [] } }
    static var placeholder: Swatches { Swatches(names: unimplemented("Swatches.names", placeholder: [])) }
    static var preview: Swatches { Swatches { ["blue"] } }
}

@Suite("Rows: SwiftUI's environment") struct SwiftUIRows {
    @Test("Values and services")
    func values() {
        let container = Container()
        #expect(container[Tint.self] == "blue" && container[Palette.self].accent == "blue")

        let subtree = container.child { $0.margin += 8 }
        #expect(subtree[Palette.self].margin == container.margin + 8)

        // | a default that is evaluated at each read |
        #expect(container[Tint.self] == container.child()[Tint.self])

        // | `onChange(of: accent)` |
        let token = container.observe(\.accent) { _ in }
        let accents = container.values(of: \.accent)
        token.cancel()
        _ = accents
    }

    // | a test of a view's model |
    @Test(.container { $0.accent = "red" })
    func model() {
        #expect(AccentModel().accent == "red")
    }
}
