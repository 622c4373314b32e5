// compiler: error: type 'Mail' does not conform to protocol 'External'
// Cure: add `static var placeholder`: what strict containers give in tests.

import Fugu

struct Mail: Feature, External {
    static func load(in container: any FeatureContainer) -> Mail { Mail() }
}
