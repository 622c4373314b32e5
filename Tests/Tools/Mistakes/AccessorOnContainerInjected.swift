// compiler: error: no exact matches in call to initializer
// Cure: write accessors in an extension of FeatureContainer.

import Fugu

struct Greeter: Feature {
    static func load(in container: any FeatureContainer) -> Greeter { Greeter() }
}

extension Container {
    var greeter: Greeter { self[Greeter.self] }
}

struct Doorman {
    @Injected(\.greeter) var greeter
}
