import Fugu
import FuguKeyedChildren

// Abilities built on homes: wrappers, lists that many add to, children for each tenant, features that another module supplies,
// and the state of a load.

extension ContainerKeys {
    var healthChecks: FeatureKey<[String]> { .init { _ in [] } }
    var tenant: PropertyKey<String> { .init(defaultValue: "nobody") }
    var city: PropertyKey<String?> { .init() }
    var payments: FeatureKey<String> { .required(placeholder: "no payments") }
    var invoices: FeatureKey<String> { .required(placeholder: "no invoices") }
    var checkout: FeatureKey<String> { .init { "\($0.payments), \($0.invoices)" } }
}

/// Lives in the child that sets the tenant.
struct TenantPool: Feature {
    static let numbers = Number()
    static let closed = Number()
    let name: String

    static var home: Home { .with(\.tenant) }

    static func load(in container: any FeatureContainer) -> TenantPool {
        container.onClose { _ = closed.next() }
        return TenantPool(name: "tenant pool \(numbers.next()) (\(container.tenant))")
    }
}

/// Fails as long as nobody says for which city.
struct Forecast: AsyncFeature {
    struct NoCity: Error, CustomStringConvertible { let description = "no city is set" }
    let text: String

    static func load(in container: any FeatureContainer) async throws -> Forecast {
        guard let city = container.city else { throw NoCity() }
        return Forecast(text: "Sun in \(city)")
    }
}

func showWrappersAndLists() {
    heading("9. A decorated pool: each request has its own wrapper around the same pool.")
    let server = Server(container: Container())
    server.container.decorate(Pool.self) { pool, container in
        Pool(name: "\(pool.name), logged for \(container.requestID)")
    }
    for request in ["request 6", "request 7"] { print("   \(server.request(request)[Pool.self].name)") }

    heading("10. A list: the server and a request add to it, and what reads an override is the request's own.")
    server.container.contribute(to: \.healthChecks) { "\($0.database) answers" }
    server.container.contribute(to: \.healthChecks) { _ in "the disk has room" }
    let request = server.request("request 8") { $0.database = "copy.db" }
    request.contribute(to: \.healthChecks) { "\($0.user) is known" }
    print("   server     \(server.container.healthChecks.joined(separator: ", "))")
    print("   request 8  \(request.healthChecks.joined(separator: ", "))")
}

func showTenants() async {
    heading("11. Children for each tenant: kept while they're used, at most two.")
    let server = Container()
    let tenants = server.children(by: \.tenant, capacity: 2)
    for tenant in ["acme", "globex", "acme", "initech", "acme"] {
        await tenants.withChild(for: tenant) { print("   \($0[TenantPool.self].name)") }
    }
    await tenants.evictAll()
    print("   opened \(TenantPool.numbers.count), closed \(TenantPool.closed.count)")
}

func showStates() async {
    heading("12. The state of a load: a failed one is tried again when something changes that it had read.")
    let container = Container()
    for await state in container.states(of: Forecast.self) {
        switch state {
        case .failed(let error, _):
            print("   failed: \(error)")
            container.city = "Oslo"
        case .loaded(let forecast):
            print("   loaded: \(forecast.text)")
            return
        case .idle, .loading: break
        }
    }
}

func showRequired() async {
    heading("13. A program that forgot to supply a feature finds out when it starts.")
    let container = Container()
    do {
        try await container.warmUp { $0.load(\.checkout) }
    } catch {
        for failure in (error as? WarmUpError)?.failures ?? [] { print("   \(failure.path.joined(separator: " → "))") }
    }
    container.payments = "cards"
    container.replace(\.invoices) { "invoices of \($0.user)" }
    print("   \(container.checkout)")
}
