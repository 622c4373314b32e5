// compiler: error: mutation of captured var 'count' in concurrently-executing code [#SendableClosureCaptures]
// Cure: keep the count in an actor, a lock, or an atomic: observers are called on any thread.

import Fugu

extension ContainerKeys {
    var timeout: PropertyKey<Int> { .init(defaultValue: 30) }
}

func watch(_ container: Container) {
    var count = 0
    container.observe(\.timeout) { _ in count += 1 }
}
