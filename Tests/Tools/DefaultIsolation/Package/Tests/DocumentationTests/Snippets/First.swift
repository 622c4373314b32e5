import Fugu
import FuguTesting
import Synchronization
import Testing

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

@Test(
    .container {
        $0.user = "ada"
        $0.clock = .immediate
        $0[OrderAPI.self] = OrderAPI { _ in ["tea", "honey"] }
    })
func page() async throws {
    #expect(try await Container.current[OrderPage.self].text() == "ada: tea, honey")
}

extension Snippets {
    @Test("README: overriding one value makes anew exactly what depends on it", .liveContainer)
    func first() async throws {
        try await run {
            let app = Container()
            let request = app.child { $0.user = "ada" }
            let staging = app.child { $0.address = "https://staging.example.org" }
            print(request[OrderPage.self].user)  // ada
            print(request[OrderCache.self] === app[OrderCache.self])  // true
            print(staging[OrderCache.self] === app[OrderCache.self])  // false
        }
    }

    @Test("README: the cache of the first example asks again after a minute")
    func cache() async throws {
        let container = Container()
        let clock = ManualClock()
        container.clock = ErasedClock(clock)
        let asked = Mutex(0)
        container[OrderAPI.self] = OrderAPI { user in
            asked.withLock { $0 += 1 }
            return [user]
        }
        for seconds in [0, 59, 1] {
            clock.move(by: .seconds(seconds))
            #expect(try await container[OrderPage.self].text() == "guest: guest")
        }
        #expect(asked.withLock { $0 } == 2)
    }

    @Test("README: a detached task takes the container along")
    func carry() async throws {
        try await Container.with(Container()) {
            try await run {
                let container = Container.current
                await Task.detached {
                    Container.with(container) { print(Container.current === container) }  // true
                }.value
            }
        }
    }
}

protocol LinkRepository: Sendable {
    func link(_ id: Int) -> String
}

nonisolated struct SavedLinks: LinkRepository {
    func link(_ id: Int) -> String { "saved/\(id)" }
}

enum Links: Feature {
    static func load(in container: any FeatureContainer) -> any LinkRepository { SavedLinks() }
}

nonisolated struct StubLinks: LinkRepository {
    func link(_ id: Int) -> String { "stub/\(id)" }
}

extension Snippets {
    @Test("One page: an instance of another type, and setting what suspends")
    func otherTypes() async throws {
        try await run {
            let container = Container()
            container[Links.self] = StubLinks()
            print(container[Links.self].link(7))  // stub/7
            container.set(Connection.self, to: Connection(address: Address(text: "eve@example.org")))
            print(try await container[Connection.self].address.text)  // eve@example.org
        }
    }
}
