import Fugu

// As one who comes from swift-dependencies writes it: a struct of functions. The lines between the marks are the wiring.

// wiring
package struct TideClient: Feature, External {
    package var height: @Sendable (_ port: String) async throws -> Double
    // end

    private static func measure(_ port: String) async throws -> Double { throw Unreachable() }

    // wiring
    package static func load(in container: any FeatureContainer) -> TideClient { TideClient(height: measure) }
    package static var placeholder: TideClient { TideClient(height: unimplemented("TideClient.height")) }
    package static var preview: TideClient { TideClient { _ in 2.5 } }
}

extension ContainerKeys {
    package var tides: FeatureKey<TideClient> { .init(TideClient.self) }
    package var port: PropertyKey<String> { .init(defaultValue: "Bergen") }
    package var requestID: PropertyKey<Int> { .init(defaultValue: 0) }
}
// end
