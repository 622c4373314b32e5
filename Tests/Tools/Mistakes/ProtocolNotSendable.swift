// compiler: error: type 'any Weather' does not conform to the 'Sendable' protocol
// Cure: let the protocol inherit from Sendable: `protocol Weather: Sendable`.

import Fugu

protocol Weather { func temperature() -> Double }

enum WeatherFeature: Feature {
    static func load(in container: any FeatureContainer) -> any Weather { fatalError() }
}
