// compiler: error: type 'Cache' does not conform to the 'Sendable' protocol
// Cure: make the class Sendable: `final class … : Sendable`, with constants or a lock, or make it an actor.

import Fugu

final class Cache: Feature {
    var entries: [String: String] = [:]
    static func load(in container: any FeatureContainer) -> Cache { Cache() }
}
