// program: Fugu: Client changes \.timeout while it loads. The container that load(in:) receives can only be read until the load ends: change \.timeout before, or later through the container that was kept.
// Cure: set it before, or later through a container that was kept.

import Fugu

extension ContainerKeys {
    var timeout: PropertyKey<Int> { .init(defaultValue: 30) }
}

struct Client: Feature {
    static func load(in container: any FeatureContainer) -> Client {
        container.timeout = 5
        return Client()
    }
}

_ = Container()[Client.self]
