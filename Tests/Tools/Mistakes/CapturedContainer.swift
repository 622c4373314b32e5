// program: Fugu: Client reads \.timeout while it loads from a container that it captured, so it isn't recorded as an input.
// Cure: read through the handle that `load(in:)` is given.

import Fugu

extension ContainerKeys {
    var timeout: PropertyKey<Int> { .init(defaultValue: 30) }
}

let app = Container()

struct Client: Feature {
    static let family = Container()
    let timeout: Int
    static func load(in container: any FeatureContainer) -> Client { Client(timeout: family.timeout) }
}

_ = Client.family[Client.self]
