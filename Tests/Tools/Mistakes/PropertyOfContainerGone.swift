// program: Fugu: \.timeout was read after its container was released, so it gave its default.
// Cure: keep the container as long as what it made is used.

import Fugu

extension ContainerKeys {
    var timeout: PropertyKey<Int> { .init(defaultValue: 30) }
}

struct Client: Feature {
    let container: any FeatureContainer
    static func load(in container: any FeatureContainer) -> Client { Client(container: container) }
}

func makeClient() -> Client { Container()[Client.self] }

print(makeClient().container.timeout)
