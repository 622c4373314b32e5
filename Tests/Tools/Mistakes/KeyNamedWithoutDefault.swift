// compiler: error: 'init(_:isSecret:help:)' is unavailable: give a default: .init(name, defaultValue: …), or make the value an optional
// Cure: give a default, or make the value an optional.

import Fugu

extension ContainerKeys {
    var timeout: PropertyKey<Int> { .init("api.timeout") }
}
