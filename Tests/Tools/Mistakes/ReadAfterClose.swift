// program: Fugu: Document can't be loaded: the container is closed.
// Cure: read it before `close()`, or use a container that is still open.

import Fugu

struct Document: ThrowingFeature {
    static func load(in container: any FeatureContainer) throws -> Document { Document() }
}

let container = Container()
try await container.close()
do {
    _ = try container[Document.self]
} catch {
    print(error)
}
