// compiler: error: cannot assign to property: 'timeout' is a get-only property
// Cure: set it in a container: `container.timeout = 5`.

import Fugu

extension ContainerKeys {
    var timeout: PropertyKey<Int> { .init(defaultValue: 30) }
}

struct Client {
    @Injected(\.timeout) var timeout
    mutating func shorten() { timeout = 5 }
}
