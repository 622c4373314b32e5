// compiler: error: 'subscript(_:_:)' is unavailable: use set(_:to:)
// Cure: write `container.set(Document.self, to: Document())`.

import Fugu

struct Document: ThrowingFeature {
    static func load(in container: any FeatureContainer) throws -> Document { Document() }
}

func set(_ container: Container) { container[Document.self] = Document() }
