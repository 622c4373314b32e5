// This example teaches what the README promises: override one value, and exactly what depends on it is created anew.
//
// Run it with `swift run QuickStart`.
import Fugu
import FuguInspection

extension ContainerKeys {
    var address: PropertyKey<String> { .init("api.address", defaultValue: "https://api.example.org") }
    var user: PropertyKey<String> { .init(defaultValue: "guest") }
}

/// Reaches outside the process.
struct OrderAPI: Feature, External {
    var orders: @Sendable (_ user: String) async throws -> [String]

    static func load(in container: any FeatureContainer) -> OrderAPI {
        let address = container.address
        return OrderAPI { user in try await download("\(address)/orders/\(user)") }
    }
    static var placeholder: OrderAPI { OrderAPI(orders: unimplemented("OrderAPI.orders")) }
}

/// Keeps each answer for a minute.
actor OrderCache: Feature {
    private let api: OrderAPI
    private let clock: ErasedClock
    private var answers: [String: (orders: [String], time: ErasedClock.Instant)] = [:]

    init(api: OrderAPI, clock: ErasedClock) {
        self.api = api
        self.clock = clock
    }

    static func load(in container: any FeatureContainer) -> OrderCache {
        OrderCache(api: container[OrderAPI.self], clock: container.clock)
    }

    func orders(of user: String) async throws -> [String] {
        if let answer = answers[user], answer.time.duration(to: clock.now) < .seconds(60) { return answer.orders }
        let orders = try await api.orders(user)
        answers[user] = (orders, clock.now)
        return orders
    }
}

/// The orders that one user sees.
struct OrderPage: Feature {
    let cache: OrderCache
    let user: String

    static func load(in container: any FeatureContainer) -> OrderPage {
        OrderPage(cache: container[OrderCache.self], user: container.user)
    }

    func text() async throws -> String { "\(user): \(try await cache.orders(of: user).joined(separator: ", "))" }
}

/// Stands for the network, and prints what a program would ask for.
func download(_ address: String) async throws -> [String] {
    print("   (GET \(address))")
    return ["tea", "honey"]
}

print("1. Nothing is registered: a read creates what's missing, once. The cache answers the second time.")
let app = Container()
for _ in 1...2 { print("   \(try await app[OrderPage.self].text())") }

print("\n2. A request overrides the user. It has its own page, and shares the cache.")
let request = app.child { $0.user = "ada" }
print("   \(try await request[OrderPage.self].text())")
print("   the cache is shared: \(request[OrderCache.self] === app[OrderCache.self])")

print("\n3. A child overrides the address. It has its own client, cache, and page, since these depend on it.")
print("   A debug build asks whether you want that of a client. By default, it asks on standard error:")
app.handleReports { report in
    for line in report.split(separator: "\n") { print("   | \(line)") }
}
let staging = app.child { $0.address = "https://staging.example.org" }
print("   \(try await staging[OrderPage.self].text())")
print("   the cache is shared: \(staging[OrderCache.self] === app[OrderCache.self])")

print("\n4. The graph shows which container has what, and what it was created from.")
for line in "\(app.graph)".split(separator: "\n") { print("   \(line)") }
