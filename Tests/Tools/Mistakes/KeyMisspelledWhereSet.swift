// compiler: error: value of type 'Container' has no dynamic member 'tiemout' using key path from root type 'ContainerKeys'
// Cure: correct the name: keys are the members of ContainerKeys.

import Fugu

extension ContainerKeys {
    var timeout: PropertyKey<Int> { .init(defaultValue: 30) }
}

func set(_ container: Container) { container.tiemout = 5 }
