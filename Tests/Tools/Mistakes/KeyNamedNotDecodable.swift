// compiler: error: 'init(_:defaultValue:isSecret:help:)' is unavailable: the value of a key with a name must be Decodable, so that sources can supply it
// Cure: let the type of the value conform to Decodable.

import Fugu

struct Limit: Sendable { var count = 3 }

extension ContainerKeys {
    var limit: PropertyKey<Limit> { .init("api.limit", defaultValue: Limit()) }
}
