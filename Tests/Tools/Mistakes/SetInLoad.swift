// program: Fugu: Client changes \.timeout while it loads, when its container can only be read.
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
