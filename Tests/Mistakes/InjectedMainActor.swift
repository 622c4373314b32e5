// compiler: error: 'init(_:)' is unavailable: it belongs to the main actor; write @MainActorInjected
// Cure: write `@MainActorInjected(\.screen) var screen`.

import Fugu

@MainActor final class Screen: MainActorFeature {
    init() {}
    static func load(in container: any FeatureContainer) -> Screen { Screen() }
}

extension ContainerKeys {
    var screen: Screen.Type { Screen.self }
}

@MainActor final class Window {
    @Injected(\.screen) var screen
}
