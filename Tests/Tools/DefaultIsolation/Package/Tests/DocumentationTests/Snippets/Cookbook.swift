import Fugu
import FuguConfiguration
import FuguFoundation
import FuguInspection
import FuguTesting
import Observation
import Synchronization
import Testing

extension ContainerKeys {
    var theme: PropertyKey<String> { .init(defaultValue: "light") }
}

func keepTheme(of container: Container) throws {
    let store = container.keyValueStore
    if let theme = try store.value(String.self, for: "theme") { container.theme = theme }
    container.observe(\.theme) { try? store.set($0, for: "theme") }
}

struct Etna: AsyncFeature {
    let temperature: Double

    static func load(in container: any FeatureContainer) async throws -> Etna {
        let (weather, clock) = (container.weather, container.clock)
        for pause in [1, 2, 4] {
            if let temperature = try? await weather.temperature("Etna") { return Etna(temperature: temperature) }
            try await clock.sleep(for: .seconds(pause))
        }
        return Etna(temperature: try await weather.temperature("Etna"))
    }
}

func health(of app: Container) -> String {
    app.ifLoaded(Etna.self) == nil ? "starting" : "ready"
}

extension ContainerKeys {
    var minute: PropertyKey<Int> { .init(defaultValue: 0) }
}

func countMinutes(of container: Container) async throws {
    while true {
        try await container.clock.sleep(for: .seconds(60))
        container.minute += 1
    }
}

// What the page leaves to its readers: a rate that differs at each download, and a cart.

struct Euro: AsyncFeature {
    static var reloadsWhenInputsChange: Bool { true }
    let dollars: Double

    static func load(in container: any FeatureContainer) async throws -> Euro {
        _ = container.minute
        return Euro(dollars: try await downloadEuro())
    }
}

nonisolated private func downloadEuro() async throws -> Double {
    downloads.withLock {
        $0 += 1
        return Double($0)
    }
}
nonisolated private let downloads = Mutex(0)

final class Cart: Feature, Sendable {
    static var home: Home { .with(\.user) }
    let lines = Mutex<[String]>([])

    static func load(in container: any FeatureContainer) -> Cart { Cart() }
}

@MainActor @Observable final class Login {
    private let app = Container.current
    private(set) var session: Container?

    func logIn(as user: String) { session = app.child { $0.user = user } }

    func logOut() async throws {
        let ended = session
        session = nil
        try await ended?.close()
    }
}

nonisolated final class LegacyAccounts: Sendable {
    static let shared = LegacyAccounts()
}

enum Accounts: Feature {
    static func load(in container: any FeatureContainer) -> LegacyAccounts { .shared }
}

extension Snippets {
    @Test("Cookbook: a setting that is changed is stored, and read at the next start")
    func persistedSettings() throws {
        let store = KeyValueStore.inMemory
        for expected in ["light", "dark"] {
            let container = Container()
            container.keyValueStore = store
            try keepTheme(of: container)
            #expect(container.theme == expected)
            container.theme = "dark"
        }
    }

    @Test("Cookbook: a load tries again after a pause, and health says how far it is")
    func retryAndHealth() async throws {
        struct Offline: Error {}
        let app = Container()
        app.clock = .immediate
        let failures = Mutex(6)
        app.weather = WeatherClient { _ in
            guard
                failures.withLock({
                    $0 -= 1; return $0 < 0
                })
            else { throw Offline() }
            return 21
        }
        #expect(health(of: app) == "starting")
        await #expect(throws: Offline.self) { try await app[Etna.self] }
        #expect(health(of: app) == "starting")
        #expect(try await app[Etna.self].temperature == 21)
        #expect(health(of: app) == "ready")
    }

    @Test("Cookbook: a value expires after a minute, and is downloaded again at the next read")
    func expiry() async throws {
        let app = Container()
        let clock = ManualClock()
        app.clock = AnyClock(clock)
        let counting = Task { try await countMinutes(of: app) }
        let first = try await app[Euro.self].dollars
        #expect(try await app.child()[Euro.self].dollars == first)
        await clock.advance(by: .seconds(59))
        #expect(try await app[Euro.self].dollars == first)
        await clock.advance(by: .seconds(1))
        let second = try await app[Euro.self].dollars
        #expect(second == first + 1)
        app.set(Euro.self, to: Euro(dollars: 7))
        await clock.advance(by: .seconds(60))
        #expect(try await app[Euro.self].dollars == 7)
        counting.cancel()
        await #expect(throws: CancellationError.self) { try await counting.value }
    }

    @Test("Cookbook: a session has its own cart until the user logs out")
    @MainActor func sessions() async throws {
        let login = Container.with(Container()) { Login() }
        login.logIn(as: "ada")
        let ada = try #require(login.session)
        ada[Cart.self].lines.withLock { $0.append("tea") }
        #expect(ada.child()[Cart.self] === ada[Cart.self])
        let closed = Mutex(false)
        ada.onClose { closed.withLock { $0 = true } }
        try await login.logOut()
        #expect(login.session == nil && closed.withLock { $0 })
        login.logIn(as: "ada")
        #expect(login.session?[Cart.self].lines.withLock { $0.isEmpty } == true)
        try await login.logOut()
        try await login.logOut()
    }

    @Test("Cookbook: a feature gives what was a singleton")
    func migration() {
        #expect(Container()[Accounts.self] === LegacyAccounts.shared)
    }
}
