// compiler: error: generic parameter 'K' could not be inferred
// Cure: correct the name: keys are the members of ContainerKeys.

import Fugu

extension ContainerKeys {
    var timeout: PropertyKey<Int> { .init(defaultValue: 30) }
}

func observe(_ container: Container) {
    container.observe(\.tiemout) { print($0) }
}
