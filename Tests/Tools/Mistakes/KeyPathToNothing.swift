// compiler: error: instance method 'observe(_:while:observer:)' requires that 'KeyPath<Root, Value>' conform to 'ValueKey'
// Cure: correct the name: keys are the members of ContainerKeys.

import Fugu

extension ContainerKeys {
    var timeout: PropertyKey<Int> { .init(defaultValue: 30) }
}

func observe(_ container: Container) {
    container.observe(\.tiemout) { print($0) }
}
