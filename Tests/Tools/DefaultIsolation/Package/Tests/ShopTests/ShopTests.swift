import Fugu
import FuguInspection
import FuguLoadStates
import FuguScopes
import FuguTesting
import Observation
import ShopApp
import ShopInterface
import Synchronization
import Testing

@Suite("An app whose modules have the main actor as default") struct ShopTests {
    @Test("A plain or throwing load, a default, and a reload run off the main thread if something there asks first")
    func offTheMainThread() async throws {
        let container = Container()
        try await Task.detached {
            #expect(!container[DefaultOnMain.self] && !container.greeter.loadedOnMain)
            let catalog = try container[Catalog.self]
            #expect(!catalog.loadedOnMain)
            container.observe(\.greeter) { _ in }
            container.userName = "Ada"
            #expect(container.greeter.text == "Hello, Ada" && !container.greeter.loadedOnMain)
        }.value
        #expect(Here.isOnMainActor && Container()[DefaultOnMain.self] && Container().greeter.loadedOnMain)
        #expect(try Container()[Catalog.self].loadedOnMain)
    }

    @Test("What belongs to the main actor loads, reloads, and is observed there, whoever changes its inputs")
    func onTheMainActor() async throws {
        let container = Container()
        let window = Container.with(container) { Window() }
        window.screen.visits += 1
        #expect(container.screen.title == "Hello, guest" && container.screen.visits == 1)
        let following = window.follow(container)
        while window.titles.isEmpty { await Task.yield() }
        await Task.detached { container.userName = "Ada" }.value
        while window.titles.count < 2 { await Task.yield() }
        #expect(window.titles == ["Hello, guest", "Hello, Ada"] && window.greeter.text == "Hello, Ada")
        following.cancel()
        let basket = try await Task.detached { try await container[Basket.self] }.value
        #expect(basket.screen === container.screen)
        container.reset(\.screen)
        for await screen in container.values(of: \.screen) {
            #expect(screen !== basket.screen && screen === container.ifLoaded(\.screen))
            break
        }
    }

    @Test("Values are modified and updated together", .container { $0.userName = "Ada" })
    func changes() {
        let container = Container.current
        let heard = Mutex<[String]>([])
        container.observe(\.userName) { name in heard.withLock { $0.append(name) } }
        container.modify(\.userName) { $0 += "!" }
        container.screen = Screen(title: container.screen.title + "?")
        #expect(container.screen.title == "Hello, Ada!?")
        container.update {
            $0.userName = "Grace"
            $0.tenant = "acme"
        }
        #expect(heard.withLock { $0 } == ["Ada!", "Grace"] && container.greeter.text == "Hello, Grace")
    }

    @Test("A view follows the values and the state of a load", .container)
    func observable() async throws {
        let observable = Container.current.observable
        #expect(observable.greeter.text == "Hello, guest" && observable.screen.title == "Hello, guest")
        Container.current.tenant = "missing"
        while observable.state(of: Catalog.self).isLoading { await Task.yield() }
        await confirmation { changes in
            withObservationTracking {
                #expect(observable.state(of: Catalog.self).error is Catalog.Missing)
            } onChange: {
                changes()
            }
            Container.current.tenant = "acme"
        }
        while observable.state(of: Catalog.self).isLoading { await Task.yield() }
        #expect(observable.state(of: Catalog.self).instance?.titles == ["tea of acme"])
    }

    // MARK: The abilities

    @Test(
        "The app supplies what another module declares, and a forgotten one fails the test",
        .container { start($0) })
    func required() async throws {
        #expect(try await Container.current.payments.pay(5) == "guest pays 5")
        await withKnownIssue {
            await #expect(throws: NoPayments.Unpaid.self) { try await Container.strict().payments.pay(5) }
        } matching: { issue in
            issue.comments.first?.rawValue.hasPrefix("Fugu: \\.payments has to be supplied") == true
        }
    }

    @Test("A check loads the whole program, and names what nothing supplies")
    func check() async {
        let roots: (inout WarmUpList) -> Void = {
            $0.load(\.screen)
            $0.load(Connection.self)
            $0.load(\.payments)
        }
        let container = Container()
        let forgotten = await container.check(loading: roots)
        #expect(forgotten.missing.map(\.name) == ["\\.payments"])
        start(container)
        let check = await container.check(overriding: \.tenant, loading: roots)
        #expect(!check.hasProblems && check.overriding.map(\.name) == ["Connection"], "\(check)")
    }

    @Test("Modules and children add to a list", .container { start($0) })
    func contributions() async {
        let child = Container.current.child { $0.userName = "Ada" }
        await Task.detached { child.contribute(to: \.routes) { _ in "/own" } }.value
        #expect(child.routes == ["/users/Ada", "/health", "/own"])
        #expect(Container.current.routes == ["/users/guest", "/health"])
    }

    @Test("Features of every kind are decorated, those of the main actor on it", .container)
    func decorations() async throws {
        let container = Container.current
        container.decorate(\.greeter) { greeter, _ in Greeter(text: greeter.text + "!") }
        container.decorate(\.screen) { screen, _ in
            MainActor.preconditionIsolated()
            return Screen(title: "[\(screen.title)]")
        }
        container.set(Stock.self, to: Stock { _ in 3 })
        container.decorate(Stock.self) { stock, _ in
            precondition(#isolation == nil, "an async decoration belongs to no actor")
            return Stock { try await stock.count($0) + 1 }
        }
        #expect(container.screen.title == "[Hello, guest!]")
        #expect(try await container[Stock.self].count("tea") == 4)
    }

    @Test("Each tenant has a child and a connection", .container)
    func children() async throws {
        let tenants = Container.current.children(by: \.tenant, capacity: 1)
        for tenant in ["acme", "zoo", "acme"] {
            let name = try await tenants.withChild(for: tenant) { try await $0[Connection.self].tenant }
            #expect(name == tenant)
        }
        await tenants.evictAll()
    }

    @Test("The states of a load are followed", .container { $0.set(Stock.self, to: Stock { _ in 7 }) })
    func states() async throws {
        for await state in Container.current.states(of: Stock.self) where !state.isLoading {
            #expect(try await state.instance?.count("tea") == 7)
            break
        }
        for await state in Container.current.states(of: Connection.self) where !state.isLoading {
            #expect(state.instance?.tenant == "nobody")
            break
        }
    }
}
