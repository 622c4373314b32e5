import Foundation
import Fugu
import FuguFoundation
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
    @Injected(\.date.now) var now

    func line(for city: String) async throws -> String {
        "\(Int(now.timeIntervalSince1970)): \(city), \(try await weather.temperature(city)) °C"
    }
}

@Test(
    .container {
        $0.weather.temperature = { _ in 21 }
        $0.date.now = Date(timeIntervalSince1970: 0)
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

extension Snippets {
    @Test("Coming from another library: code without its own container is given one")
    func withContainer() async throws {
        try await run {
            let line = try await Container.with {
                $0.weather = WeatherClient { _ in 21 }
                $0.date.now = Date(timeIntervalSince1970: 0)
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
            let preview = app.child { $0.date.now = Date(timeIntervalSince1970: 0) }
            print(try await preview.weather.temperature("Etna"))  // 21.0
        }
    }
}

struct Diary {
    @Injected(\.date.now) var now
    @Injected(\.uuid) var uuid
    @Injected(WeatherClient.self) var weather
}

nonisolated struct RowModel {
    @Injected(\.timeout) var timeout
}

final class ListModel: Sendable {
    private let container = Container.current

    func row() -> RowModel { Container.with(container) { RowModel() } }
}

func prepare() {
    Container.shared.weather = WeatherClient { _ in 21 }
}

extension WeatherClient {
    static var preview: WeatherClient { WeatherClient { _ in 21 } }
}

extension ContainerKeys {
    var mainLinks: FeatureKey<any LinkRepository> { .init { _ in SavedLinks() } }
    var spareLinks: FeatureKey<any LinkRepository> { .init { _ in StubLinks() } }
}

extension ContainerKeys {
    var spoken: PropertyKey<(any LinkRepository)?> { .init() }
}

// | `initCompleted` and circular dependencies |
final class Owner: Feature, Sendable {
    let pet: Pet
    init(pet: Pet) { self.pet = pet }

    static func load(in container: any FeatureContainer) -> Owner { Owner(pet: container[Pet.self]) }
}

final class Pet: Feature, Sendable {
    private let container: any FeatureContainer
    init(_ container: any FeatureContainer) { self.container = container }

    static func load(in container: any FeatureContainer) -> Pet { Pet(container) }

    var owner: Owner { container[Owner.self] }
}

func assemble(_ container: Container) {
    container.mainLinks = StubLinks()
    container.replace(Greeter.self) { Greeter(text: "Good day, \($0[UserName.self])!") }
}

extension Snippets {
    @Test("Coming from swift-dependencies: the date is set where it is bound")
    func dates() async throws {
        try await run {
            let seconds = Container.with {
                $0.date = .constant(Date(timeIntervalSince1970: 60))
            } operation: {
                Diary().now.timeIntervalSince1970
            }
            print(seconds)  // 60.0
        }
    }

    @Test("Coming from swift-dependencies: child models have their parent's container")
    func childModels() async throws {
        try await run {
            let list = Container.with {
                $0.timeout = 5
            } operation: {
                ListModel()
            }
            print(list.row().timeout)  // 5
        }
    }

    @Test("Coming from swift-dependencies: an escaping closure takes the container along")
    func escapingClosures() async throws {
        try await Container.with(Container()) {
            try await run {
                let container = Container.current
                let later: @Sendable () -> Int = { Container.with(container) { RowModel().timeout } }
                print(await Task.detached { later() }.value)  // 30
            }
        }
    }

    @Test("Coming from Factory: a decorator, and a session")
    func decorators() async throws {
        try await run {
            let app = Container()
            app.weather = WeatherClient { _ in 20.6 }
            let session = app.child { $0[UserName.self] = "Ada" }
            session.decorate(\.weather) { plain, _ in WeatherClient { try await plain.temperature($0).rounded() } }
            print(session.greeter.text)  // Hello, Ada!
            print(try await session.weather.temperature("Etna"))  // 21.0
            print(app.greeter.text)  // Hello, guest!
        }
    }

    @Test("Coming from Factory: what may be missing is an optional")
    func missingServices() async throws {
        try await run {
            let container = Container()
            print(container.spoken == nil)  // true
            container.spoken = StubLinks()
            print(container.spoken?.link(1) ?? "none")  // stub/1
        }
    }

    @Test("Coming from Swinject: two of one type, and a circle")
    func namesAndCircles() async throws {
        try await run {
            let container = Container()
            print(container.mainLinks.link(1))  // saved/1
            print(container.spareLinks.link(1))  // stub/1
            let owner = container[Owner.self]
            print(owner.pet.owner === owner)  // true
        }
    }

    @Test("Coming from Swinject: an assembly is a function")
    func assemblies() async throws {
        try await run {
            let container = Container()
            assemble(container)
            print(container.mainLinks.link(1))  // stub/1
            print(container.greeter.text)  // Good day, guest!
        }
    }
}
