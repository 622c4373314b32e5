import Fugu
import FuguTesting
import Testing

extension Snippets {
    @Test("Coming from another library: code without its own container is given one")
    func withContainer() async throws {
        try await run {
            let line = try await Container.with {
                $0.weather = WeatherClient { _ in 21 }
                $0.timestamp = .constant(0)
            } operation: {
                try await Forecast().line(for: "Catania")
            }
            print(line)  // 0: Catania, 21.0 °C
        }
    }

    @Test("Coming from another library: a new instance for each read, with a parameter")
    func factories() async throws {
        try await run {
            let container = Container()
            container.weather = WeatherClient { _ in 21 }
            let launch = container[Launch.self]
            print(launch(in: "Catania").city)  // Catania
            print(launch(in: "Etna") === launch(in: "Etna"))  // false
        }
    }

    @Test("Coming from another library: shared as long as somebody holds it")
    func weakSharing() async throws {
        try await run {
            let container = Container()
            var balloon: Balloon? = container[SharedBalloon.self]()
            print(container[SharedBalloon.self]() === balloon)  // true
            weak let released = balloon
            balloon = nil
            print(released == nil)  // true
        }
    }

    @Test("Coming from another library: a container for a part of the program")
    func parts() async throws {
        try await run {
            let app = Container()
            app.weather = WeatherClient { _ in 21 }
            let preview = app.child { $0.timestamp = .constant(0) }
            print(try await preview.weather.temperature("Etna"))  // 21.0
        }
    }
}
