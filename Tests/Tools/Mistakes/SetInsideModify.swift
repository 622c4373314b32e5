// program: Fugu: \.timeout is written while modify changes it, and modify waits for this write.
// Cure: change the value that the body is given.

import Fugu

extension ContainerKeys {
    var timeout: PropertyKey<Int> { .init(defaultValue: 30) }
}

let container = Container()
container.modify(\.timeout) { _ in container.timeout = 5 }
