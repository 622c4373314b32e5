// compiler: error: invalid redeclaration of 'timeout'
// Cure: properties and features share one namespace: give one of the two another name.

import Fugu

extension ContainerKeys {
    var timeout: PropertyKey<Int> { .init(defaultValue: 30) }
    var timeout: FeatureKey<String> { .init { _ in "30 s" } }
}
