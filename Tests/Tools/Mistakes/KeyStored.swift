// compiler: error: extensions must not contain stored properties
// Cure: write a computed property with its type: `var timeout: PropertyKey<Int> { .init(defaultValue: 30) }`.

import Fugu

extension ContainerKeys {
    var timeout = PropertyKey(defaultValue: 30)
}
