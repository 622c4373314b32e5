// compiler: error: cannot call value of non-function type 'Int'
// Cure: a key is read as a property, without parentheses.

import Fugu

extension ContainerKeys {
    var timeout: PropertyKey<Int> { .init(defaultValue: 30) }
}

func read(_ container: Container) -> Int { container.timeout() }
