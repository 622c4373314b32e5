public import Fugu

/// An app's client, as a struct of closures.
public struct WeatherClient: ExternalFeature, Sendable {
    public var degrees: @Sendable (_ city: String) -> Int
    public var warn: @Sendable (_ city: String) throws -> Void
    public var refresh: @Sendable (_ city: String) async throws -> Int

    public static func load(in container: any FeatureContainer) -> WeatherClient {
        WeatherClient(degrees: { _ in 99 }, warn: { _ in }, refresh: { _ in 99 })
    }

    public static var placeholder: WeatherClient {
        WeatherClient(
            degrees: unimplemented("WeatherClient.degrees", placeholder: -1), warn: unimplemented("WeatherClient.warn"),
            refresh: unimplemented("WeatherClient.refresh"))
    }
}

/// A feature that is not external itself.
public struct Forecast: Feature, Sendable {
    let client: WeatherClient

    public var text: String { "\(client.degrees("Oslo"))°" }
    public func warn() throws { try client.warn("Oslo") }
    public func refresh() async throws -> Int { try await client.refresh("Oslo") }

    public static func load(in container: any FeatureContainer) -> Forecast {
        Forecast(client: container[WeatherClient.self])
    }
}

/// Set where the process starts.
public enum City: Property { public static var defaultValue: String { "nowhere" } }

/// Called before anything else of the process runs.
@_cdecl("weather_begin")
public func begin() {
    Container.shared[City.self] = "Oslo"
    // What is real and was loaded too early for any test must not stay for the tests.
    _ = Container.shared[Forecast.self]
}
