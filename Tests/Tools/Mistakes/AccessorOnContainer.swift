// compiler: error: value of type 'any FeatureContainer' has no dynamic member 'greeter' using key path from root type 'ContainerKeys'
// Cure: write accessors in an extension of FeatureContainer, so that loads have them, too.

import Fugu

struct Greeter: Feature {
    static func load(in container: any FeatureContainer) -> Greeter { Greeter() }
}

extension Container {
    var greeter: Greeter { self[Greeter.self] }
}

struct Doorman: Feature {
    let greeter: Greeter
    static func load(in container: any FeatureContainer) -> Doorman { Doorman(greeter: container.greeter) }
}
