import Fugu
import FuguConfiguration
import FuguScopes
import Synchronization

// Nothing declares a scope: where an instance lives follows from what its load reads.

extension ContainerKeys {
    var requestID: PropertyKey<String> { .init("request.id", defaultValue: "none") }
    var user: PropertyKey<String> { .init("user", defaultValue: "guest") }
    var tenant: PropertyKey<String> { .init(defaultValue: "nobody") }
    var poolSize: PropertyKey<Int> { .init("database.pool-size", defaultValue: 4) }
    var headers: PropertyKey<[String: String]> { .init(defaultValue: ["Accept": "application/json"]) }
    var healthChecks: FeatureKey<[String]> { .init { _ in [] } }
}

/// Numbers instances, so that the output distinguishes them.
private let numbers = Mutex<[String: Int]>([:])

func numbered(_ name: String) -> String {
    numbers.withLock { numbers in
        numbers[name, default: 0] += 1
        return "\(name) \(numbers[name] ?? 0)"
    }
}

/// Reads a value of the service, so all requests share one.
struct Pool: Feature {
    var name: String

    static func load(in container: any FeatureContainer) -> Pool {
        Pool(name: "\(numbered("pool")) (\(container.poolSize) connections)")
    }
}

/// Reads the request's identifier, so each request has its own.
struct RequestLog: Feature {
    let name: String

    static func load(in container: any FeatureContainer) -> RequestLog {
        RequestLog(name: "\(numbered("log")) (\(container.requestID))")
    }
}

/// Reads the pool and the user, so requests that override neither share one.
struct Account: Feature {
    let name: String

    static func load(in container: any FeatureContainer) -> Account {
        Account(name: "\(numbered("account")) (\(container.user), \(container[Pool.self].name))")
    }
}

/// Keeps connections to another service open.
struct Connections: Feature {
    let name: String

    static func load(in container: any FeatureContainer) -> Connections {
        Connections(name: "\(numbered("connections")) (\(container.timeout))")
    }
}

/// Lives in the nearest container that sets the tenant, and is torn down with it.
struct TenantStore: Feature {
    let name: String

    static var home: Home { .with(\.tenant) }

    static func load(in container: any FeatureContainer) -> TenantStore {
        let store = TenantStore(name: "\(numbered("store")) (\(container.tenant))")
        container.onClose { _ = numbered("closed store") }
        return store
    }
}

func request(_ id: String, of service: Container, _ configure: (Container) -> Void = { _ in }) -> Container {
    service.child {
        $0.requestID = id
        configure($0)
    }
}

func showRequests() {
    func show(_ request: Container) {
        print("   \(request.requestID): \(request[RequestLog.self].name), \(request[Account.self].name)")
    }
    let service = Container()
    heading("4. Two requests of guests share what doesn't read the request. One has a user, another a larger pool.")
    show(request("a", of: service))
    show(request("b", of: service))
    let ada = request("c", of: service) { $0.user = "ada" }
    show(ada)
    show(request("d", of: service) { $0.poolSize = 8 })
    ada.reset(\.user)
    print("   without her name, request c shares \(ada[Account.self].name)")

    heading("5. A decorated pool, and a list that the service and a request add to.")
    service.decorate(Pool.self) { pool, container in Pool(name: "\(pool.name), logged for \(container.requestID)") }
    service.contribute(to: \.healthChecks) { "\($0[Pool.self].name) answers" }
    let logged = request("e", of: service)
    logged.contribute(to: \.healthChecks) { "\($0.user) is known" }
    for check in logged.healthChecks { print("   \(check)") }
}

func showPaths() {
    heading("6. Scopes by path share connections, unless a rule sets another timeout.")
    let api = Container()
    api.configureScopes("/volcanos/*/image") { $0.headers["Accept"] = "image/png" }
    api.configureScopes("/reports/**") { $0.timeout = .seconds(300) }
    for path in ["/volcanos/3", "/volcanos/3/image?size=2", "/reports/2025"] {
        let scope = api.scope(path)
        print("   \(path): \(scope[Connections.self].name), accepts \(scope.headers["Accept"] ?? "all")")
    }
}

func showTenants() async {
    heading("7. A child for each tenant, kept while it's used, at most two.")
    let service = Container()
    let tenants = service.children(by: \.tenant, capacity: 2)
    for tenant in ["acme", "globex", "acme", "initech"] {
        await tenants.withChild(for: tenant) { print("   \($0[TenantStore.self].name)") }
    }
    await tenants.evictAll()
    let (closed, all) = numbers.withLock { ($0["closed store"] ?? 0, $0["store"] ?? 0) }
    print("   closed \(closed) of \(all) stores")
}
