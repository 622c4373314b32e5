import Fugu
import FuguInspection
import FuguTesting
import Synchronization
import Testing

// The rows of the table in "Coming from Swinject". A line that begins with `// |` names a row; the code below it, up to the next such
// line, is Fugu's side.

// | `container.register(Weather.self) { … }` |
private final class Engine: Feature, Sendable {
    static func load(in container: any FeatureContainer) -> Engine { Engine() }
}

extension ContainerKeys {
    fileprivate var engineName: FeatureKey<String> { .init { "engine of \($0[UserName.self])" } }
}

private struct Horn: Feature, External {
    var sound: @Sendable () -> String

    static func load(in container: any FeatureContainer) -> Horn { Horn { "live" } }
    static var placeholder: Horn { Horn(sound: unimplemented("Horn.sound", placeholder: "")) }
}

private final class Boat: Feature, Sendable {
    let engine: Engine
    init(engine: Engine) { self.engine = engine }

    static func load(in container: any FeatureContainer) -> Boat { Boat(engine: container[Engine.self]) }
}

// | `container.autoregister(Weather.self, initializer: Station.init)` |
nonisolated private final class Station: Sendable {
    let clock: AnyClock
    init(clock: AnyClock) { self.clock = clock }
}

extension ContainerKeys {
    fileprivate var station: FeatureKey<Station> { .init { Station(clock: $0.clock) } }
}

// What the page says of spies.
private final class SpyLinks: LinkRepository, Sendable {
    nonisolated(unsafe) var calls = 0
    func link(_ id: Int) -> String {
        calls += 1
        return "spied/\(id)"
    }
}

// | `name:` of a registration |
private enum Port: Feature {
    static func load(in container: any FeatureContainer) -> any LinkRepository { SavedLinks() }
}

private final class Ballast: Feature, Sendable {
    static func load(in container: any FeatureContainer) -> Ballast { Ballast() }
}

extension ContainerKeys {
    fileprivate var starboard: FeatureKey<any LinkRepository> { .init { _ in StubLinks() } }
    fileprivate var bowBallast: FeatureKey<Ballast> { .init { _ in Ballast() } }
    fileprivate var sternBallast: FeatureKey<Ballast> { .init(Ballast.self) }
    fileprivate var spareBallast: FeatureKey<Ballast> { .init(Ballast.self) }
}

// | a `name:` that the program makes when it runs |
private func radio(_ name: String) -> FeatureKey<any LinkRepository> {
    .init(id: name) { _ in name == "main" ? SavedLinks() as any LinkRepository : StubLinks() }
}

private func mainRadio(of container: Container) -> any LinkRepository { container[radio("main")] }

// | `.inObjectScope(.transient)` |
// | `resolve(_:argument:)` |
private struct Shipyard: Feature {
    static func load(in container: any FeatureContainer) -> Shipyard { Shipyard() }

    func callAsFunction(in city: String) -> Balloon { Balloon(city: city) }
}

// | `.inObjectScope(.graph)`, a custom scope |
private final class Logbook: Feature, Sendable {
    let owner: String
    init(owner: String) { self.owner = owner }

    static func load(in container: any FeatureContainer) -> Logbook { Logbook(owner: container[UserName.self]) }
}

private final class Cargo: Feature, Sendable {
    static var home: Home { .local }
    static func load(in container: any FeatureContainer) -> Cargo { Cargo() }
}

extension FeatureContainer {
    fileprivate var anyRepository: any LinkRepository { self[Port.self] }
}

// | a closure as a service: `register(Handler.self)` |
private typealias Handler = @Sendable (String) -> Void
extension ContainerKeys {
    fileprivate var handler: FeatureKey<Handler> { .init { _ in { _ in } } }
}

// | an `Assembly` for each module, `Assembler` |
extension ContainerKeys {
    fileprivate var anchor: PropertyKey<String> { .init(defaultValue: "iron") }
}

private func fitOut(_ container: Container) {
    container[Horn.self] = Horn { "double" }
}

// | a factory that can fail, or that waits |
private struct SeaChart: ThrowingFeature {
    struct Missing: Error {}
    static func load(in container: any FeatureContainer) throws -> SeaChart { throw Missing() }
}

private struct Tide: AsyncFeature {
    static func load(in container: any FeatureContainer) async throws -> Tide { Tide() }
}

@Suite("Rows: Swinject") struct SwinjectRows {
    @Test("Reads and lifetimes", .liveContainer)
    func lifetimes() {
        let container = Container()
        #expect(container.sternBallast === container.spareBallast)
        #expect(container.sternBallast !== container.bowBallast)

        // | `container.resolve(Weather.self)!` |
        _ = container.weather

        // | `.inObjectScope(.container)` |
        #expect(container[Boat.self].engine === container.child()[Engine.self])

        // | `.inObjectScope(.weak)` |
        let balloon = container[SharedBalloon.self]()
        #expect(container[SharedBalloon.self]() === balloon)

        #expect(container.engineName == "engine of guest")
        #expect(container[Port.self].link(1) != container.starboard.link(1))
        #expect(mainRadio(of: container).link(1) != container[radio("spare")].link(1))
        #expect(container[Shipyard.self](in: "Oslo") !== container[Shipyard.self](in: "Oslo"))
        #expect(container.anyRepository.link(1) == container[Port.self].link(1))
    }

    @Test("Children and resets")
    func children() {
        let container = Container()

        // | `Container(parent:)` |
        let child = container.child()
        child[UserName.self] = "Ada"
        #expect(child[Logbook.self].owner == "Ada" && container[Logbook.self].owner == "guest")

        #expect(child[Cargo.self] === child[Cargo.self] && child[Cargo.self] !== container[Cargo.self])

        // | `resetObjectScope(…)` |
        let engine = container[Engine.self]
        container.reset(Engine.self)
        #expect(container[Engine.self] !== engine)

        // | `removeAll()` |
        container.resetAll()

        // | `hasAnyRegistration(of:)` |
        #expect(container.ifLoaded(Boat.self) == nil)
    }

    @Test("Registering again, and assemblies")
    func registering() {
        let container = Container()

        // | `register(…) { … }` again, to replace |
        container.weather = WeatherClient { _ in 21 }
        container.replace(Greeter.self) { Greeter(text: "Ahoy, \($0[UserName.self])!") }
        #expect(container.greeter.text == "Ahoy, guest!")

        let spy = SpyLinks()
        container.starboard = spy
        #expect(container.starboard.link(1) == "spied/1" && spy.calls == 1)
        container.clock = .immediate
        _ = container.station.clock

        fitOut(container)
        #expect(container[Horn.self].sound() == "double")
    }

    @Test("Failures, waiting, and reports")
    func others() async throws {
        let container = Container()

        #expect(throws: SeaChart.Missing.self) { try container[SeaChart.self] }
        _ = try await container[Tide.self]

        // | `Container.loggingFunction` |
        let reports = Mutex<[String]>([])
        container.handleReports { text in reports.withLock { $0.append(text) } }
    }
}
