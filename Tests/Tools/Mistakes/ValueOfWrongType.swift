// compiler: error: cannot assign value of type 'String' to type 'Int'
// Cure: set a value of the type that the key declares.

import Fugu

extension ContainerKeys {
    var timeout: PropertyKey<Int> { .init(defaultValue: 30) }
}

func set(_ container: Container) { container.timeout = "5" }
