// compiler: error: cannot assign to property: 'timeout' is a get-only property
// Cure: declare the key in an extension of ContainerKeys, not of Container.

import Fugu

extension Container {
    var timeout: PropertyKey<Int> { .init(defaultValue: 30) }
}

func set(_ container: Container) { container.timeout = 5 }
