// compiler: error: 'init(isSecret:)' is unavailable: give a default: .init(defaultValue: …), or make the value an optional
// Cure: give a default, or make the value an optional.

import Fugu

extension ContainerKeys {
    var timeout: PropertyKey<Int> { .init() }
}
