// compiler: error: type 'Greeter' does not conform to protocol 'Feature'
// Cure: the parameter is `any FeatureContainer`, the handle that records what is read.

import Fugu

struct Greeter: Feature {
    static func load(in container: Container) -> Greeter { Greeter() }
}
