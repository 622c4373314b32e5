// compiler: error: 'loaded' is unavailable: a plain feature loads when it's read; use the subscript
// Cure: read a plain feature with `container[Greeter.self]`; it loads if needed.

import Fugu

struct Greeter: Feature {
    static func load(in container: any FeatureContainer) -> Greeter { Greeter() }
}

func read(_ container: Container) -> Greeter { container.loaded(Greeter.self) }
