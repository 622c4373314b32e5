import Fugu
import FuguTesting
import Synchronization
import Testing

struct WeatherClient: Feature, External {
    var temperature: @Sendable (_ city: String) async throws -> Double

    static func load(in container: any FeatureContainer) -> WeatherClient {
        WeatherClient { city in try await download(city) }
    }
    static var placeholder: WeatherClient {
        WeatherClient(temperature: unimplemented("WeatherClient.temperature"))
    }
}

extension ContainerKeys {
    var weather: FeatureKey<WeatherClient> { .init(WeatherClient.self) }
}

struct Forecast {
    @Injected(\.weather) var weather
    @Injected(\.timestamp) var timestamp

    func line(for city: String) async throws -> String {
        "\(Int(timestamp.now)): \(city), \(try await weather.temperature(city)) °C"
    }
}

@Test(
    .container {
        $0.weather.temperature = { _ in 21 }
        $0.timestamp = .constant(0)
    })
func forecast() async throws {
    #expect(try await Forecast().line(for: "Catania") == "0: Catania, 21.0 °C")
}

nonisolated final class Balloon: Sendable {
    let city: String
    init(city: String) { self.city = city }
}

struct Launch: Feature {
    let weather: WeatherClient

    static func load(in container: any FeatureContainer) -> Launch { Launch(weather: container.weather) }

    /// A new balloon at each call.
    func callAsFunction(in city: String) -> Balloon { Balloon(city: city) }
}

final class SharedBalloon: Feature, Sendable {
    private struct Weak: Sendable { weak var balloon: Balloon? }
    private let weak = Mutex(Weak())

    static func load(in container: any FeatureContainer) -> SharedBalloon { SharedBalloon() }

    /// The balloon that somebody still holds, or a new one.
    func callAsFunction() -> Balloon {
        weak.withLock { weak in
            let balloon = weak.balloon ?? Balloon(city: "Catania")
            weak.balloon = balloon
            return balloon
        }
    }
}

// Declarations that the pages leave to their readers.

nonisolated private func download(_ city: String) async throws -> Double { 20 }
