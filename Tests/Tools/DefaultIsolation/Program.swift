import Fugu
import FuguInspection
import FuguLoadStates
import FuguScopes

// Every load, default, and observer that belongs to the main actor checks that it runs there, and one that suspends and belongs to no
// actor that it runs on none. What is used off the main actor and isn't a key says `nonisolated`, and nothing else does.

struct Volume: Property {
    static var defaultValue: Int { 5 }
}

struct Greeter: Feature, Equatable {
    let text: String

    static func load(in container: any FeatureContainer) -> Greeter { Greeter(text: "Hello, \(container.userName)") }
    static var reloadsWhenInputsChange: Bool { true }

    func greet() -> String { text }
}

struct Parsed: ThrowingFeature {
    let count: Int

    static func load(in container: any FeatureContainer) throws -> Parsed {
        Parsed(count: container.greeter.text.count)
    }
}

struct Database: AsyncFeature {
    let address: String

    static func load(in container: any FeatureContainer) async throws -> Database {
        precondition(#isolation == nil, "an async load belongs to no actor")
        return Database(address: "\(container.userName)@\(container.timeout)")
    }
    static var reloadsWhenInputsChange: Bool { true }
}

@MainActor final class Ledger: AsyncFeature {
    let lines: Int
    init(lines: Int) { self.lines = lines }

    @MainActor static func load(in container: any FeatureContainer) async throws -> Ledger {
        MainActor.preconditionIsolated()
        return Ledger(lines: container[Screen.self].count)
    }
}

final class Screen: MainActorFeature {
    let title: String
    var count = 0
    init(title: String) { self.title = title }

    static func load(in container: any FeatureContainer) -> Screen {
        MainActor.preconditionIsolated()
        return Screen(title: container.greeter.greet())
    }
    static var reloadsWhenInputsChange: Bool {
        MainActor.preconditionIsolated()
        return true
    }
}

// A protocol whose implementations belong to the main actor.
@MainActor protocol Speech: Sendable { func say() -> String }

@MainActor final class SystemSpeech: Speech {
    let name: String
    init(name: String) { self.name = name }
    func say() -> String { "I'm \(name)" }
}

// A pool for each tenant, a feature that another module supplies, and a list that modules add to.
struct Pool: Feature {
    let tenant: String
    static func load(in container: any FeatureContainer) -> Pool { Pool(tenant: container.tenant) }
    static var home: Home { .with(\.tenant) }
}

extension ContainerKeys {
    var payments: FeatureKey<@Sendable (Int) -> String> { .required { _ in { "placeholder for \($0)" } } }
    var pool: FeatureKey<Pool> { .init(Pool.self) }
    var tenant: PropertyKey<String> { .init(defaultValue: "nobody") }
    var routes: FeatureKey<[String]> { .init { _ in [] } }
}

extension ContainerKeys {
    var userName: PropertyKey<String> { .init(defaultValue: "guest") }
    var greeter: FeatureKey<Greeter> { .init(Greeter.self) }
    var screen: MainActorFeatureKey<Screen> { .init(Screen.self) }
    var speech: MainActorFeatureKey<any Speech> { .init { SystemSpeech(name: $0.userName) } }
    var timeout: PropertyKey<Int> { .init(defaultValue: 30) }
    var farewell: FeatureKey<String> { .init { "Goodbye, \($0.userName)" } }
}

nonisolated extension FeatureContainer {
    var host: Greeter {
        get { self[Greeter.self] }
        set { self[Greeter.self] = newValue }
    }
}

nonisolated struct Doorman {
    @Injected(\.greeter) var greeter
    @Injected(\.host) var host
    @Injected(\.timeout) var timeout
}

@MainActor final class Window {
    private let container = Container.current
    var screen: Screen { container.screen }
    var speech: any Speech { container.speech }
    var titles: [String] = []

    func follow(_ container: Container) -> Task<Void, Never> {
        let screens = container.values(of: \.screen)
        return Task { [weak self] in
            for await screen in screens {
                MainActor.preconditionIsolated()
                self?.titles.append(screen.title)
            }
        }
    }
}

// Everything that doesn't belong to the main actor, off it.
nonisolated func off(_ container: Container) async throws {
    await Task.detached {
        container.userName = "Ada"
        precondition(container.greeter.greet() == "Hello, Ada" && container[Greeter.self] == container.greeter)
        precondition(Container.with(container) { Doorman().greeter.text } == "Hello, Ada")
        precondition(Container.with(container) { Doorman().host.text } == container.host.text)
        precondition(container.farewell == "Goodbye, Ada" && container.timeout == 30 && container[Volume.self] == 5)
        container.observe(\.greeter) { precondition(!$0.text.isEmpty) }
        container.observe(\.timeout) { precondition($0 > 0) }
        container.timeout = 5
        container.userName = "Grace"
        container.reset(\.greeter)
    }.value
    try await container.warmUp { $0.load(Database.self) }
    let (parsed, ledger) = (try container[Parsed.self], try await container[Ledger.self])
    var database = try await container[Database.self]
    precondition(parsed.count == 12 && ledger.lines == 0 && database.address == "Grace@5")
    container.timeout = 6
    for await newer in container.values(of: Database.self) {
        database = newer
        if newer.address != "Grace@5" { break }
    }
    precondition(database.address == "Grace@6")
}

// Each ability, from the main actor and off it.
@MainActor func abilities() async throws {
    let container = Container()
    container.decorate(\.greeter) { greeter, _ in Greeter(text: greeter.text + "!") }
    container.decorate(\.screen) { screen, _ in
        MainActor.preconditionIsolated()
        return Screen(title: "[\(screen.title)]")
    }
    container.decorate(Database.self) { database, _ in
        precondition(#isolation == nil, "an async decoration belongs to no actor")
        return Database(address: "pooled \(database.address)")
    }
    container.contribute(to: \.routes) { "/users/\($0.userName)" }
    container.replace(\.payments) { container in
        let name = container.userName
        return { "\(name) pays \($0)" }
    }
    let check = await container.check(overriding: \.tenant) {
        $0.load(\.pool)
        $0.load(\.screen)
        $0.load(\.payments)
    }
    precondition(!check.hasProblems && check.overriding.map(\.name) == ["Pool"], "\(check)")
    precondition(container.screen.title == "[Hello, guest!]" && container.routes == ["/users/guest"])
    precondition(container.payments(5) == "guest pays 5")
    try await offAbilities(container)
    precondition(container.screen.title == "[Hello, Ada!]")
    container.reset(\.screen)
    for await screen in container.values(of: \.screen) {
        precondition(screen.title == "Hello, Ada!")
        break
    }
    try await container.close()
}

nonisolated func offAbilities(_ container: Container) async throws {
    container.contribute(to: \.routes) { _ in "/health" }
    container.userName = "Ada"
    container.reset(\.payments)
    container.payments = { "free, not \($0)" }
    precondition(container.routes == ["/users/Ada", "/health"] && container.payments(5) == "free, not 5")
    let tenants = container.children(by: \.tenant, capacity: 1)
    for tenant in ["acme", "zoo"] {
        let name = await tenants.withChild(for: tenant) { $0.pool.tenant }
        precondition(name == tenant)
    }
    var address: String?
    for await state in container.states(of: Database.self) {
        address = state.instance?.address
        if !state.isLoading { break }
    }
    precondition(address == "pooled Ada@30", address ?? "nothing")
}

@main struct Program {
    @MainActor static func main() async throws {
        try await abilities()
        let container = Container()
        let window = Container.with(container) { Window() }
        window.screen.count += 1
        precondition(container.screen.title == "Hello, guest" && container[Screen.self].count == 1)
        try await off(container)
        precondition(window.screen.title == "Hello, Grace" && window.screen.count == 0)
        precondition(
            window.speech.say() == "I'm Grace" && Container.with(container) { Window() }.speech.say() == "I'm Grace")
        let following = window.follow(container)
        while window.titles.isEmpty { await Task.yield() }
        await Task.detached { container.userName = "Eve" }.value
        while window.titles.count < 2 { await Task.yield() }
        precondition(window.titles == ["Hello, Grace", "Hello, Eve"] && container.ifLoaded(\.screen) === window.screen)
        following.cancel()
        try await container.close()
        print("everything ran where it belongs")
    }
}
