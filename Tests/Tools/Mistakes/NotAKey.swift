// compiler: error: 'subscript(_:)' is unavailable: the type must conform to Property, Feature, MainActorFeature, ThrowingFeature, or AsyncFeature
// Cure: ask for a type that conforms to Property, Feature, MainActorFeature, ThrowingFeature, or AsyncFeature.

import Fugu

struct Mail {}

func read(_ container: Container) -> Mail { container[Mail.self] }
