// compiler: error: 'init(_:)' is unavailable: it belongs to the main actor; write @MainActorInjected
// Cure: write `@MainActorInjected(Screen.self) var screen`.

import Fugu

@MainActor final class Screen: MainActorFeature {
    init() {}
    static func load(in container: any FeatureContainer) -> Screen { Screen() }
}

@MainActor final class Window {
    @Injected(Screen.self) var screen
}
