// compiler: error: main actor-isolated subscript 'subscript(dynamicMember:)' can not be referenced from a nonisolated context
// Cure: conform to MainActorFeature, too, or keep what the load needs in a plain feature.

import Fugu

@MainActor final class Screen: MainActorFeature {
    init() {}
    static func load(in container: any FeatureContainer) -> Screen { Screen() }
}

extension ContainerKeys {
    var screen: MainActorFeatureKey<Screen> { .init(Screen.self) }
}

struct Printer: Feature {
    static func load(in container: any FeatureContainer) -> Printer {
        _ = container.screen
        return Printer()
    }
}
