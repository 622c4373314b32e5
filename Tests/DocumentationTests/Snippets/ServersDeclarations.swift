import Fugu
import FuguKeyedChildren

/// A namespace: other pages have other connections.
struct ServersPage {
    final class Connection: Sendable {
        let url: String

        private init(url: String) { self.url = url }

        static func open(_ url: String) async throws -> Connection { Connection(url: url) }
        func close() async throws { print("\(url) is closed") }
    }

    struct DatabaseURL: Property {
        static var defaultValue: String { "db://localhost" }
    }

    struct Database: AsyncFeature, External {
        let connection: Connection

        static func load(in container: any FeatureContainer) async throws -> Database {
            let connection = try await Connection.open(container[DatabaseURL.self])
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
        try await container.warmUp { progress in
            print("\(progress.finished) of \(progress.total): \(progress.feature)")
        } _: {
            $0.load(Database.self)
            $0.load(Search.self)
        }
    }

    struct RequestID: Property {
        static var defaultValue: Int { 0 }
    }

    struct RequestLog: Feature {
        let id: Int

        static func load(in container: any FeatureContainer) -> RequestLog { RequestLog(id: container[RequestID.self]) }
    }

    func respond(to id: Int, in container: Container) async throws -> String {
        let request = container.child { $0[RequestID.self] = id }
        let search = try await request[Search.self]
        return "request \(request[RequestLog.self].id) asks \(search.database.connection.url)"
    }

    struct TenantDatabase: AsyncFeature, External {
        let connection: Connection

        static func load(in container: any FeatureContainer) async throws -> TenantDatabase {
            let connection = try await Connection.open("db://\(container.tenant)")
            container.onClose { try await connection.close() }
            return TenantDatabase(connection: connection)
        }
        static var home: Home { .with(\.tenant) }
    }

    func answer(for tenant: String, in tenants: KeyedChildren<String>) async throws -> String {
        try await tenants.withChild(for: tenant) { container in
            try await container.withChild {
                $0[RequestID.self] = 9
            } operation: { request in
                let connection = try await request[TenantDatabase.self].connection
                return "request \(request[RequestLog.self].id) asks \(connection.url)"
            }
        }
    }

    func stream(_ id: Int, in container: Container) -> AsyncStream<String> {
        let request = container.child { $0[RequestID.self] = id }
        return AsyncStream { body in
            let sending = Task {
                await Container.with(request) {
                    for part in 1...3 where !Task.isCancelled {
                        body.yield("part \(part) for request \(request[RequestLog.self].id)")
                        await Task.yield()
                    }
                }
                body.finish()
                try? await request.close()
            }
            body.onTermination = { _ in sending.cancel() }
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
    var tenant: PropertyKey<String> { .init(defaultValue: "nobody") }
}
