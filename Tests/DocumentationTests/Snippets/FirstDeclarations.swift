import Fugu

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

// Declarations that the page leaves to its reader, and that other pages share.

extension ContainerKeys {
    var city: PropertyKey<String> { .init(defaultValue: "Oslo") }
}

nonisolated private func download(_ address: String) async throws -> [String] { [address] }
