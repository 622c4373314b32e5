// program: Fugu: Client ignored the child's override of \.timeout, because it reads \.timeout after its load, through the container of that load.
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
