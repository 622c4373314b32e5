// compiler: error: no exact matches in call to subscript
// Cure: leave out the `!`: a read always gives an instance.

import Fugu

struct Greeter: Feature {
    static func load(in container: any FeatureContainer) -> Greeter { Greeter() }
}

func read(_ container: Container) -> Greeter { container[Greeter.self]! }
