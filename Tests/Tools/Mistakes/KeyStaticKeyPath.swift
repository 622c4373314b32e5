// compiler: error: static member 'timeout' cannot be used on instance of type 'ContainerKeys'
// Cure: leave out `static`: keys are instance members of ContainerKeys.

import Fugu

extension ContainerKeys {
    static var timeout: PropertyKey<Int> { .init(defaultValue: 30) }
}

func reset(_ container: Container) { container.reset(\.timeout) }
