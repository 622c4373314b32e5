import Fugu
import FuguConfiguration
import FuguFoundation
import FuguInspection

extension ContainerKeys {
    var theme: PropertyKey<String> { .init(defaultValue: "light") }
}

func keepTheme(of container: Container) throws {
    let store = container.keyValueStore
    if let theme = try store.value(String.self, for: "theme") { container.theme = theme }
    container.observe(\.theme) { try? store.set($0, for: "theme") }
}

nonisolated protocol Plugin: Sendable {
    func apply(to text: String) -> String
}

extension ContainerKeys {
    var plugins: FeatureKey<[any Plugin]> { .init { _ in [] } }
}

struct Editor: Feature {
    let plugins: [any Plugin]

    static func load(in container: any FeatureContainer) -> Editor { Editor(plugins: container.plugins) }

    func save(_ text: String) -> String { plugins.reduce(text) { $1.apply(to: $0) } }
}

nonisolated struct Uppercase: Plugin {
    func apply(to text: String) -> String { text.uppercased() }
}

nonisolated protocol Payments: Sendable {
    func pay(_ cents: Int) -> String
}

nonisolated struct NoPayments: Payments {
    func pay(_ cents: Int) -> String { "" }
}

enum PaymentService: Feature, Required {
    typealias Instance = any Payments
    static var placeholder: any Payments { NoPayments() }
}

nonisolated struct CardPayments: Payments {
    func pay(_ cents: Int) -> String { "paid \(cents)" }
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
    let failed = app.graph.entries.filter { $0.state == .failed }.map(\.name)
    guard failed.isEmpty else { return "failed: \(failed.joined(separator: ", "))" }
    return app.ifLoaded(Etna.self) == nil ? "starting" : "ready"
}

extension ContainerKeys {
    var newCheckout: PropertyKey<Bool> { .init("flags.newCheckout", defaultValue: false) }
}

struct Checkout: Feature {
    static var reloadsWhenInputsChange: Bool { true }
    let title: String

    static func load(in container: any FeatureContainer) -> Checkout {
        Checkout(title: container.newCheckout ? "new checkout" : "old checkout")
    }
}

extension ContainerKeys {
    var job: PropertyKey<Int> { .init(defaultValue: 0) }
}

actor JobLog: Feature {
    static var home: Home { .local }
    private(set) var lines: [String] = []

    static func load(in container: any FeatureContainer) -> JobLog {
        let (job, log) = (container.job, JobLog())
        container.onClose { print("job \(job): \(await log.lines.joined(separator: ", "))") }
        return log
    }

    func add(_ line: String) { lines.append(line) }
}

nonisolated final class LegacyAccounts: Sendable {
    static let shared = LegacyAccounts()
}

enum Accounts: Feature {
    static func load(in container: any FeatureContainer) -> LegacyAccounts { .shared }
}
