// program: Fugu: Client reads \.timeout through the container of its load, after the load, and gets what its own container has, though the code that runs has another \.timeout in a child container (Container.current). Read it through `@Injected` or from Container.current to follow the caller, or while Client loads, so that the child gets a Client of its own.
// Cure: read it through `@Injected`, which follows the caller, or while the feature loads.

import Fugu

extension ContainerKeys {
    var timeout: PropertyKey<Int> { .init(defaultValue: 30) }
}

struct Client: Feature {
    let container: any FeatureContainer
    static func load(in container: any FeatureContainer) -> Client { Client(container: container) }
    var timeout: Int { container.timeout }
}

let app = Container()
let client = app[Client.self]
Container.with(app.child { $0.timeout = 5 }) { print(client.timeout) }
