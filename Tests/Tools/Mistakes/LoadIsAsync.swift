// compiler: error: type 'Greeter' does not conform to protocol 'Feature'
// Cure: conform to AsyncFeature.

import Fugu

struct Greeter: Feature {
    static func load(in container: any FeatureContainer) async -> Greeter { Greeter() }
}
