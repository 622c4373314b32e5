// compiler: error: conformance of 'Screen' to protocol 'Feature' crosses into main actor-isolated code and can cause data races [#ConformanceIsolation]
// Cure: conform to MainActorFeature.

import Fugu

@MainActor final class Screen { init() {} }

extension Screen: Feature {
    static func load(in container: any FeatureContainer) -> Screen { Screen() }
}
