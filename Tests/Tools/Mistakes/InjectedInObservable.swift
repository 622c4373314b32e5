// compiler: error: ambiguous reference to member '_timeout'
// Cure: write `@ObservationIgnored @Injected(\.timeout) var timeout`.

import Fugu
import Observation

extension ContainerKeys {
    var timeout: PropertyKey<Int> { .init(defaultValue: 30) }
}

@MainActor @Observable final class Model {
    @Injected(\.timeout) var timeout
}
