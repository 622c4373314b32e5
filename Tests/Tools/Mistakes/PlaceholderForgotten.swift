// compiler: error: type 'Mail' does not conform to protocol 'ExternalFeature'
// Cure: add `static var placeholder`: what strict containers give in tests.

import Fugu

struct Mail: ExternalFeature {
    static func load(in container: any FeatureContainer) -> Mail { Mail() }
}
