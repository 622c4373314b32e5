// compiler: error: stored property '_timeout' of 'Sendable'-conforming class 'Client' is mutable
// Cure: keep the container in a constant and read from it; or use a struct, an actor, or a main-actor class.

import Fugu

extension ContainerKeys {
    var timeout: PropertyKey<Int> { .init(defaultValue: 30) }
}

final class Client: Sendable {
    @Injected(\.timeout) var timeout
}
