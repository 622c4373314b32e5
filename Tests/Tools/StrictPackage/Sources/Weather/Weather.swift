package import Fugu

/// An app's client, as a struct of closures.
package struct WeatherClient: Feature, External, Sendable {
    package var degrees: @Sendable (_ city: String) -> Int
    package var warn: @Sendable (_ city: String) throws -> Void
    package var refresh: @Sendable (_ city: String) async throws -> Int

    package static func load(in container: any FeatureContainer) -> WeatherClient {
        WeatherClient(degrees: { _ in 99 }, warn: { _ in }, refresh: { _ in 99 })
    }

    package static var placeholder: WeatherClient {
        WeatherClient(
            degrees: unimplemented("WeatherClient.degrees", placeholder: -1), warn: unimplemented("WeatherClient.warn"),
            refresh: unimplemented("WeatherClient.refresh"))
    }
}

/// A feature that is not external itself, made from the client.
package struct Forecast: Feature, Sendable {
    let client: WeatherClient

    package var text: String { "\(client.degrees("Oslo"))°" }
    package func warn() throws { try client.warn("Oslo") }
    package func refresh() async throws -> Int { try await client.refresh("Oslo") }

    package static func load(in container: any FeatureContainer) -> Forecast {
        Forecast(client: container[WeatherClient.self])
    }
}

/// The forecasts that an app keeps, in a file; tests have their own.
package enum Archive: Feature, External {
    package static func load(in container: any FeatureContainer) -> [String] { ["99°"] }
    package static func testValue(in container: any FeatureContainer) -> [String] { ["0° in \(container[City.self])"] }
}

/// A server that makes its own container.
package func serve() -> String { Container()[Forecast.self].text }

/// Set where the process starts.
package enum City: Property {
    package static var defaultValue: String { "nowhere" }
}

/// Set by tests.
package enum Note: Property {
    package static var defaultValue: String { "" }
}

/// Called before anything else of the process runs.
@_cdecl("weather_begin")
package func begin() {
    Container.shared[City.self] = "Oslo"
    // A real instance that was loaded before any test must not stay for the tests.
    _ = Container.shared[Forecast.self]
}
