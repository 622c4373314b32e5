// compiler: error: main actor-isolated property 'text' can not be mutated from a Sendable closure
// Cure: follow `values(of:)` in a task.

import Fugu

extension ContainerKeys {
    var timeout: PropertyKey<Int> { .init(defaultValue: 30) }
}

@MainActor final class Label { var text = "" }

@MainActor func watch(_ container: Container, _ label: Label) {
    container.observe(\.timeout) { label.text = "\($0)" }
}
