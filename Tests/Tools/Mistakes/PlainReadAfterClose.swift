// program: Fugu: Greeter was read after its container was closed. It was loaded for this read alone and isn't kept.
// Cure: read it before `close()`, or use a container that is still open.

import Fugu

struct Greeter: Feature {
    static func load(in container: any FeatureContainer) -> Greeter { Greeter() }
}

let container = Container()
try await container.close()
_ = container[Greeter.self]
