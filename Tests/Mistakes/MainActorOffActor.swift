// compiler: error: main actor-isolated conformance of 'Screen' to 'Feature' cannot be used in nonisolated context [#IsolatedConformances]
// Cure: read it on the main actor: mark the function `@MainActor`.

import Fugu

@MainActor final class Screen { init() {} }

extension Screen: @MainActor Feature {
    static func load(in container: any FeatureContainer) -> Screen { Screen() }
}

func show(_ container: Container) { _ = container[Screen.self] }
