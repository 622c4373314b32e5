// compiler: error: main actor-isolated subscript 'subscript(_:_:_:)' can not be referenced from a nonisolated context
// Cure: read it on the main actor: mark the function `@MainActor`.

import Fugu

@MainActor final class Screen: MainActorFeature {
    init() {}
    static func load(in container: any FeatureContainer) -> Screen { Screen() }
}

func show(_ container: Container) { _ = container[Screen.self] }
