// program: Fugu: Pool was read after its container was released.
// Cure: keep the container as long as what it made is used.

import Fugu

struct Pool: Feature {
    static func load(in container: any FeatureContainer) -> Pool { Pool() }
}

struct Client: Feature {
    let container: any FeatureContainer
    static func load(in container: any FeatureContainer) -> Client { Client(container: container) }
    var pool: Pool { container[Pool.self] }
}

func makeClient() -> Client { Container()[Client.self] }

_ = makeClient().pool
