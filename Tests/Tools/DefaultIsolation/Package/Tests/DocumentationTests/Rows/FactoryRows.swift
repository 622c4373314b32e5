import Fugu
import FuguInspection
import FuguScopes
import FuguTesting
import Observation
import Synchronization
import Testing

#if canImport(SwiftUI)
import SwiftUI
#endif

// The rows of the table in "Coming from Factory". A line that begins with `// |` names a row; the code below it, up to the next such
// line, is Fugu's side.

// | `var weather: Factory<WeatherClient> { self { … } }` |
private final class Lantern: Feature, Sendable {
    static func load(in container: any FeatureContainer) -> Lantern { Lantern() }
}

extension ContainerKeys {
    fileprivate var lamp: FeatureKey<Lantern> { .init { $0[Lantern.self] } }
}

// | `var weather: Factory<WeatherClient> { self { … } }` |
private struct Siren: Feature, External {
    var sound: @Sendable () -> String

    static func load(in container: any FeatureContainer) -> Siren { Siren { "live" } }

    static var placeholder: Siren { Siren(sound: unimplemented("Siren.sound", placeholder: "")) }
    static var preview: Siren { Siren { "preview" } }
}

// | `@MainActor var speech: Factory<any Speech> { self { @MainActor in … } }` |
@MainActor private protocol Speech: Sendable {
    func say(_ text: String) -> String
}

@MainActor private final class SystemSpeech: Speech {
    let prefix: String
    init(prefix: String) { self.prefix = prefix }
    func say(_ text: String) -> String { prefix + text }
}

extension ContainerKeys {
    fileprivate var speech: MainActorFeatureKey<any Speech> { .init { _ in SystemSpeech(prefix: "") } }
    fileprivate var secondSpeech: MainActorFeatureKey<any Speech> { .init { SystemSpeech(prefix: $0[UserName.self]) } }
}

@MainActor private final class Talker {
    var speech: any Speech { Container.current.speech }
}

extension ContainerKeys {
    // | `.onTest { … }`, `.onPreview { … }`, `.onDebug { … }` |
    fileprivate var horn: FeatureKey<String> {
        .init(preview: { _ in "preview" }, testValue: { _ in "test" }) { _ in "live" }
    }
}

// | `@Injected(\.weather)`, `@LazyInjected`, `@DynamicInjected` |
private struct Keeper {
    @Injected(\.weather) var weather
}

// | `.unique` for a part of another service: `self { self.settings().theme }` |
private final class Settings: Feature, Sendable {
    let theme = Mutex("light")
    static func load(in container: any FeatureContainer) -> Settings { Settings() }
}

extension FeatureContainer {
    nonisolated fileprivate var settings: Settings { self[Settings.self] }
    nonisolated fileprivate var theme: String { settings.theme.withLock { $0 } }
}

// | `self { self.baseStore() }`, one instance with two types |
private protocol Store: Sendable {}
nonisolated private final class BaseStore: Store {}

extension ContainerKeys {
    fileprivate var baseStore: FeatureKey<BaseStore> { .init { _ in BaseStore() } }
    fileprivate var store: FeatureKey<any Store> { .init { $0.baseStore } }
}

// | `.onArg("extension") { … }` |
private nonisolated struct Log {
    let module: String
}

extension ContainerKeys {
    fileprivate var appModule: PropertyKey<String> { .init(defaultValue: "app") }
    fileprivate var log: FeatureKey<Log> { .init { Log(module: $0.appModule) } }
}

private func startExtension() { Container.shared.appModule = "extension" }

// | `.unique`, the default |
// | `ParameterFactory` |
private struct Matches: Feature {
    static func load(in container: any FeatureContainer) -> Matches { Matches() }

    func callAsFunction(for city: String) -> Balloon { Balloon(city: city) }
}

// | `.graph` |
private final class Passage: Feature, Sendable {
    static var home: Home { .local }
    static func load(in container: any FeatureContainer) -> Passage { Passage() }
}

// | `.timeToLive(60)` |
private final class Wick: Feature, Sendable {
    static var reloadsWhenInputsChange: Bool { true }
    static func load(in container: any FeatureContainer) -> Wick {
        _ = container.hour
        return Wick()
    }
}

extension ContainerKeys {
    fileprivate var hour: PropertyKey<Int> { .init(defaultValue: 0) }
}

// | `SharedContainer`, a container of your own |
extension ContainerKeys {
    fileprivate var harborLights: PropertyKey<Int> { .init(defaultValue: 2) }
}

// | `promised()`, `self { fatalError() }`, `Factory<Service?>` |
extension ContainerKeys {
    fileprivate var foghorn: FeatureKey<String> { .required(placeholder: "") }
    fileprivate var spareSiren: PropertyKey<Siren?> { .init() }
}

// | `autoRegister()` of an `AutoRegistering` container |
extension Trait where Self == ContainerTrait {
    fileprivate static var mildWeather: Self { .container { $0.weather.temperature = { _ in 21 } } }
}

@Suite("Rows: Factory") struct FactoryRows {
    @MainActor @Test("Services of the main actor, two of one protocol", .container)
    func mainActor() {
        #expect(Talker().speech.say("Ahoy") == "Ahoy" && Container.current.secondSpeech.say("!") == "guest!")
    }

    @MainActor @Test("A binding to a container")
    func bindings() {
        let container = Container()
        @Bindable var settings = container.observable
        $settings.timeout.wrappedValue = 5
        #expect(container.timeout == 5)
    }

    @Test("Reads and lifetimes", .liveContainer)
    func lifetimes() {
        let container = Container()

        // | `container.weather()`, `container.weather.resolve()` |
        _ = container.weather

        // | `.singleton`, `.cached` |
        #expect(container[Lantern.self] === container.child()[Lantern.self])
        #expect(container.lamp === container[Lantern.self])

        // | `manager.defaultScope = .shared`, `.shared` |
        var balloon: Balloon? = container[SharedBalloon.self]()
        #expect(container[SharedBalloon.self]() === balloon)
        weak let released = balloon
        balloon = nil
        #expect(released == nil)

        container[Settings.self].theme.withLock { $0 = "dark" }
        #expect(container.theme == "dark" && container.store as AnyObject === container.baseStore)
        #expect(container.log.module == "app")
        #expect(container[Matches.self](for: "Oslo") !== container[Matches.self](for: "Oslo"))
        let graph = container.child()
        #expect(graph[Passage.self] === graph[Passage.self] && graph[Passage.self] !== container[Passage.self])
    }

    @Test("Scopes and resets")
    func scopes() {
        let container = Container()

        // | a custom scope, such as `.session` |
        var session: Container? = container.child { $0[UserName.self] = "Ada" }
        #expect(session?.greeter.text == "Hello, Ada!")
        session = nil
        _ = container.children(by: \.user)

        let passage = container[Wick.self]
        container.hour += 1
        #expect(container[Wick.self] !== passage)

        // | `container.reset()`, `container.weather.reset()` |
        container.reset(WeatherClient.self)
        container.resetAll()

        container.child { $0.harborLights = 9 }.harborLights += 1
        #expect(container.harborLights == 2)
        #expect(container.spareSiren == nil && Siren.preview.sound() == "preview")
    }

    @Test("Registering and decorating")
    func registering() async throws {
        let container = Container()

        // | `container.weather.register { … }` |
        container.weather = WeatherClient { _ in 20.6 }
        container.replace(Greeter.self) { Greeter(text: "Ahoy, \($0[UserName.self])!") }
        #expect(container.greeter.text == "Ahoy, guest!")

        // | `.decorator { … }` |
        container.decorate(\.weather) { plain, _ in WeatherClient { try await plain.temperature($0).rounded() } }
        #expect(try await container.weather.temperature("Etna") == 21)
    }

    // | `.context(.arg("mock")) { … }` |
    func start() {
        if CommandLine.arguments.contains("mock") { Container.shared.weather = WeatherClient { _ in 21 } }
    }

    // | `autoRegister()` of an `AutoRegistering` container |
    func setUp() {
        Container.shared.weather = WeatherClient { _ in 21 }
    }

    @Test(.mildWeather) func ownTrait() async throws {
        #expect(try await Container.current.weather.temperature("Etna") == 21)
    }

    // | `@Test(.container)` |
    @Test(.container { $0.harborLights = 4 })
    func trait() {
        #expect(Container.current.harborLights == 4)
    }
}
