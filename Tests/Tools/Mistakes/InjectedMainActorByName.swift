// compiler: error: converting non-Sendable function value to '@Sendable (any FeatureContainer) -> Screen' may introduce data races
// Cure: write `@MainActorInjected(\.screen) var screen`.

import Fugu

@MainActor final class Screen: MainActorFeature {
    init() {}
    static func load(in container: any FeatureContainer) -> Screen { Screen() }
}

extension ContainerKeys {
    var screen: MainActorFeatureKey<Screen> { .init(Screen.self) }
}

@MainActor final class Window {
    @Injected(\.screen) var screen
}
