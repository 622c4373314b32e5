// program: Fugu: Client reads \.timeout after its load, through the container of that load, so it ignores the \.timeout of Container.current, a child container. Read it with `@Injected` or from Container.current to follow the caller, or during the load, so that the child gets its own Client.
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
