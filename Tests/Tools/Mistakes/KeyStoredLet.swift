// compiler: error: extensions must not contain stored properties
// Cure: write a computed property with its type: `var timeout: PropertyKey<Int> { .init(defaultValue: 30) }`.

import Fugu

extension ContainerKeys {
    let timeout: PropertyKey<Int> = .init(defaultValue: 30)
}
