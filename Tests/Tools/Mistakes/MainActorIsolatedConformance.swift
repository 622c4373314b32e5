// compiler: error: cannot form main actor-isolated conformance of 'Screen' to SendableMetatype-inheriting protocol 'NonisolatedFeature' [#IsolatedConformances]
// Cure: conform to MainActorFeature.

import Fugu

@MainActor final class Screen { init() {} }

extension Screen: @MainActor Feature {
    static func load(in container: any FeatureContainer) -> Screen { Screen() }
}
