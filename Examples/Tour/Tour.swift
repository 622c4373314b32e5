// This example teaches what a service adds to QuickStart: settings in layers, children for requests, paths, and tenants, and looking
// inside.
//
// Run it with `swift run Tour`.
import Fugu
import FuguConfiguration
import FuguInspection
import FuguScopes
import Synchronization

@main enum Tour {
    static func main() async throws {
        try showSettings()
        showRequests()
        showPaths()
        await showTenants()
        await showInside()
    }
}

func heading(_ text: String) { print("\n\(text)\n") }

// MARK: Settings

// The values that the service reads from outside: each has a name, and a form that bounds it.

enum LogLevel: String, Decodable, Sendable, CaseIterable {
    case debug, info, warning, error
}

/// How often a client may ask.
struct RateLimit: Codable, Sendable {
    var requests = 100
    var burst = 20
}

extension ContainerKeys {
    var port: PropertyKey<UInt16> {
        .init("server.port", defaultValue: 8080, form: .range(1...), help: "The port to listen on.")
    }
    var timeout: PropertyKey<Duration> {
        .init("server.timeout", defaultValue: .seconds(30), help: "How long a request may take.")
    }
    var databaseURL: PropertyKey<String> { .required("database.url", isSecret: true, help: "Where the database is.") }
    var password: PropertyKey<String?> { .init("database.password", isSecret: true) }
    var retries: PropertyKey<Int> { .init("http.retries", defaultValue: 3, form: .range(0...10)) }
    var rateLimit: PropertyKey<RateLimit> { .init("limits", defaultValue: RateLimit(), form: .merged) }
    var logLevel: PropertyKey<LogLevel> { .init("log.level", defaultValue: .info) }
    var region: PropertyKey<String> {
        .init("region", defaultValue: "eu", form: .checked("two letters") { $0.count == 2 })
    }
}

func declareSettings(in container: Container) {
    container.declare(\.port, \.timeout, \.databaseURL, \.password, \.retries, \.rateLimit, \.logLevel, \.region)
}

/// Returns a container with four sources.
///
/// The source that is applied last wins.
private func container(
    _ file: TOMLSource, variables: [String: String] = [:], arguments: [String] = []
) throws -> Container {
    let container = Container()
    declareSettings(in: container)
    try container.apply(file)
    try container.apply(DotEnvSource(text: "CONFIG_DATABASE_PASSWORD=hunter2\n", name: ".env", prefix: "CONFIG"))
    try container.apply(EnvironmentSource(prefix: "CONFIG", environment: variables))
    try container.apply(ArgumentsSource(arguments))
    return container
}

func showSettings() throws {
    print("1. The settings, as --help prints them.\n")
    let declared = Container()
    declareSettings(in: declared)
    print(declared.reference(prefix: "CONFIG").helpText, terminator: "")

    heading("2. Five mistakes in a file and in the arguments, at once.")
    let wrong = TOMLSource(
        text: """
            region = "Europe"

            [server]
            timeout = 30

            [http]
            retries = 99
            """, name: "wrong.toml")
    do {
        try container(wrong, arguments: ["--log-levl", "debug"]).validate()
    } catch {
        print(error)
    }

    heading("3. Each value, where it comes from, and what it hides.")
    let right = TOMLSource(
        text: """
            region = "no"

            [server]
            host = "example.org"
            port = 80

            [database]
            url = "postgres://db.example.org"

            [limits]
            requests = 500
            """, name: "app.toml")
    let variables = ["CONFIG_SERVER_PORT": "8500", "CONFIG_LIMITS_BURST": "50"]
    let container = try container(right, variables: variables, arguments: ["--server-port", "9000"])
    for explanation in container.explain() { print(explanation) }
}

// MARK: Requests, paths, and tenants

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

// MARK: Inside

// See what a program holds, why it is where it is, and what would fail.

struct Refused: Error, CustomStringConvertible {
    let description: String
}

struct Payments: ThrowingFeature {
    static func load(in container: any FeatureContainer) throws -> Payments {
        throw Refused(description: "the bank refuses \(container.user)")
    }
}

struct Checkout: ThrowingFeature {
    static func load(in container: any FeatureContainer) throws -> Checkout {
        _ = container[Account.self]
        _ = try container[Payments.self]
        return Checkout()
    }
}

func showInside() async {
    heading("8. The graph of a service with a request.")
    let service = Container()
    let guest = request("a", of: service) { $0.containerName = "request a" }
    let ada = request("b", of: service) {
        $0.containerName = "request b"
        $0.user = "ada"
    }
    _ = (guest[RequestLog.self], guest[Account.self])
    _ = ada[Account.self]
    let graph = service.graph.withoutDurations()
    print(graph)

    heading("9. Why each account is where it is.")
    for explanation in [guest.explain(Account.self), ada.explain(Account.self)] {
        print(explanation.name)
        // The time of a load would differ in each run.
        for sentence in explanation.sentences {
            print("   " + sentence.replacing(#/ in [0-9.e-]+ (ns|µs|ms|s)/#, with: ""))
        }
    }

    heading("10. A check of everything before anything runs: a test compares this text.")
    print(await Container().check(overriding: \.requestID, \.user) { $0.load(Checkout.self) })
}
