// compiler: error: type 'Settings' does not conform to the 'Sendable' protocol
// Cure: hold a value that is Sendable: a struct, an actor, or a final class with a lock.

import Fugu

final class Settings { var volume = 1 }

extension ContainerKeys {
    var settings: PropertyKey<Settings> { .init(defaultValue: Settings()) }
}
