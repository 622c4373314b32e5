import Fugu
import FuguConfiguration
import FuguInspection
import FuguScopes
import FuguTesting
import Testing

/// A namespace: other pages have other connections.
struct ServersPage {
    final class Connection: Sendable {
        let url: String

        private init(url: String) { self.url = url }

        static func open(_ url: String) async throws -> Connection { Connection(url: url) }
        func close() async throws { print("\(url) is closed") }
    }

    struct Database: AsyncFeature, External {
        let connection: Connection

        static func load(in container: any FeatureContainer) async throws -> Database {
            let connection = try await Connection.open(container.storeURL)
            container.onClose { try await connection.close() }
            return Database(connection: connection)
        }
    }

    struct Search: AsyncFeature {
        let database: Database

        static func load(in container: any FeatureContainer) async throws -> Search {
            Search(database: try await container[Database.self])
        }
    }

    func start(_ container: Container) async throws {
        try await container.warmUp { feature, _, finished, total in
            print("\(finished) of \(total): \(feature)")
        } _: {
            $0.load(Database.self)
            $0.load(Search.self)
        }
    }

    struct RequestLog: Feature {
        let id: Int

        static func load(in container: any FeatureContainer) -> RequestLog { RequestLog(id: container.requestID) }
    }

    actor Cart: Feature {
        static var home: Home { .local }
        static func load(in container: any FeatureContainer) -> Cart { Cart() }
    }

    func respond(to id: Int, in container: Container) async throws -> String {
        try await container.withChild {
            $0.requestID = id
        } operation: { request in
            let search = try await request[Search.self]
            return "request \(request[RequestLog.self].id) asks \(search.database.connection.url)"
        }
    }

    struct TenantDatabase: AsyncFeature, External {
        let connection: Connection

        static func load(in container: any FeatureContainer) async throws -> TenantDatabase {
            let connection = try await Connection.open("db://\(container.require(\.tenant))")
            container.onClose { try await connection.close() }
            return TenantDatabase(connection: connection)
        }
        static var home: Home { .with(\.tenant) }
    }

    func answer(for tenant: String, in tenants: KeyedChildren<String>) async throws -> String {
        try await Container.current.withChild {
            $0.requestID = 9
        } operation: { _ in
            try await tenants.withChild(for: tenant) { container in
                let connection = try await container[TenantDatabase.self].connection
                return "request \(container[RequestLog.self].id) asks \(connection.url)"
            }
        }
    }

    func export(
        for tenant: String, in tenants: KeyedChildren<String>
    ) async throws -> @Sendable () async throws -> String {
        let held = await tenants.hold(tenant)
        let connection = try await held.container[TenantDatabase.self].connection
        return {
            let text = "all of \(connection.url)"
            await held.close()
            return text
        }
    }

    func run(_ container: Container, serve: @Sendable (Container) async throws -> Void) async throws {
        do {
            try await start(container)
            try await serve(container)
        } catch {
            try? await container.close(deadline: .seconds(5))
            throw error
        }
        try await container.close(deadline: .seconds(5))
    }
}

extension ContainerKeys {
    var storeURL: PropertyKey<String> { .init(defaultValue: "db://localhost") }
}

extension ContainerKeys {
    var requestID: PropertyKey<Int> { .init(defaultValue: 0) }
}

extension ContainerKeys {
    var tenant: PropertyKey<String> { .required() }
}

extension ServersPage {
    @Test(.container) func sharesNoState() async {
        let check = await Container.current.check(overriding: \.requestID) { $0.load(RequestLog.self) }
        #expect(check.shared.isEmpty)
    }
}

extension Snippets {
    private typealias Page = ServersPage

    @Test("Servers: from the warm-up through requests to the end", .liveContainer)
    func server() async throws {
        let page = Page()
        let container = Container()
        try await page.run(container) { container in
            #expect(container.ifLoaded(Page.Search.self) != nil)
            let response = try await page.respond(to: 7, in: container)
            #expect(response == "request 7 asks db://localhost")
            let connection = container.ifLoaded(Page.Database.self)?.connection
            let request = container.child { $0.requestID = 8 }
            #expect(request[Page.RequestLog.self].id == 8)
            let shared = try await request[Page.Database.self].connection
            #expect(shared === connection)
        }
        #expect(transcriptSoFar.last == "db://localhost is closed")
        #expect(container.storeURL == "db://localhost")
        await #expect(throws: LoadError.self) { try await container[Page.Search.self] }
    }

    @Test("Servers: what fails while serving is thrown after the container was closed", .liveContainer)
    func failingServer() async throws {
        struct Stopped: Error {}
        let container = Container()
        await #expect(throws: Stopped.self) { try await Page().run(container) { _ in throw Stopped() } }
        #expect(transcriptSoFar.last == "db://localhost is closed")
        await #expect(throws: LoadError.self) { try await container[Page.Search.self] }
    }

    @Test("Servers: each tenant has a child that is kept while it's used", .liveContainer)
    func tenants() async throws {
        func answer(for tenant: String, in tenants: KeyedChildren<String>) async throws -> String {
            try await Page().answer(for: tenant, in: tenants)
        }
        try await Container.with {
            $0.clock = AnyClock(ManualClock())
        } operation: {
            try await run {
                let tenants = Container().children(by: \.tenant, capacity: 100)
                print(try await answer(for: "acme", in: tenants))  // request 9 asks db://acme
                await tenants.evictAll()  // db://acme is closed
            }
        }
    }

    @Test("Servers: the requests of a tenant share one connection, which no other tenant has", .liveContainer)
    func connectionOfTenant() async throws {
        let root = Container()
        root.handleReports { Issue.record("\($0)") }
        let tenants = root.children(by: \.tenant)
        func connection(of tenant: String) async throws -> Page.Connection {
            try await tenants.withChild(for: tenant) { container in
                container.requestID = 1
                return try await container[Page.TenantDatabase.self].connection
            }
        }
        let (first, second, other) = try await (connection(of: "acme"), connection(of: "acme"), connection(of: "zoo"))
        #expect(first === second && first !== other && other.url == "db://zoo")
        await tenants.evict("zoo")
        #expect(transcriptSoFar.last == "db://zoo is closed")
        await tenants.evictAll()
        #expect(transcriptSoFar.last == "db://acme is closed")
    }

    @Test("Servers: a stream holds its tenant's child, and where no tenant is set, nothing is opened", .liveContainer)
    func streamOfTenant() async throws {
        let root = Container()
        root.handleReports { Issue.record("\($0)") }
        let tenants = root.children(by: \.tenant)
        let write = try await Page().export(for: "streams", in: tenants)
        async let evicted: Void = tenants.evict("streams")
        while await !tenants.values.isEmpty { await Task.yield() }
        #expect(transcriptSoFar.last != "db://streams is closed")
        #expect(try await write() == "all of db://streams")
        await evicted
        #expect(transcriptSoFar.last == "db://streams is closed")
        await #expect(throws: PropertyError.self) { try await root[Page.TenantDatabase.self] }
    }
}
