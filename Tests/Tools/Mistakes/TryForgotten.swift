// compiler: error: subscript access can throw, but it is not marked with 'try' and the error is not handled
// Cure: write `try container[Document.self]`.

import Fugu

struct Document: ThrowingFeature {
    static func load(in container: any FeatureContainer) throws -> Document { Document() }
}

func open(_ container: Container) -> Document { container[Document.self] }
