// compiler: error: type 'KeyPath<any FeatureContainer, Screen>' does not conform to the 'Sendable' protocol
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
