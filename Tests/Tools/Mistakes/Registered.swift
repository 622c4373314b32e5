// compiler: error: generic parameter 'Value' could not be inferred
// Cure: conform the type to Feature and write how it is made in `load(in:)`; there is nothing to register.

import Fugu

struct Greeter: Feature {
    static func load(in container: any FeatureContainer) -> Greeter { Greeter() }
}

func begin(_ container: Container) { container.register(Greeter.self) { _ in Greeter() } }
