import Fugu
import FuguTesting
import Synchronization
import Testing

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
    @Test("README: overriding one value makes anew exactly what depends on it")
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
            clock.advance(by: .seconds(seconds))
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
