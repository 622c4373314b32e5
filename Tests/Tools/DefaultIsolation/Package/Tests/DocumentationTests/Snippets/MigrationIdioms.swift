import Foundation
import Fugu
import FuguFoundation
import FuguTesting
import Testing

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
