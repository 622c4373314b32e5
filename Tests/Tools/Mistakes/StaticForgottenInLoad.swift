// compiler: error: type 'Greeter' does not conform to protocol 'Feature'
// Cure: write `static func load(in:)`.

import Fugu

struct Greeter: Feature {
    func load(in container: any FeatureContainer) -> Greeter { Greeter() }
}
