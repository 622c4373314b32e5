// compiler: error: 'init(_:)' is unavailable: its load can throw; keep the container and write try container[…] where you need it
// Cure: keep the container and read where you can fail: `try container[Document.self]`.

import Fugu

struct Document: ThrowingFeature {
    static func load(in container: any FeatureContainer) throws -> Document { Document() }
}

struct Editor {
    @Injected(Document.self) var document
}
