import Fugu

/// A store of links.
///
/// Everything else is written against this protocol. A second store is one more type that conforms, and one more line in
/// ``Links``: PostgreSQL, for several machines behind a balancer.
package protocol LinkRepository: Sendable {
    /// Adds a link, and returns once it would survive the end of the process.
    ///
    /// - Returns: Whether the code was free.
    func add(_ link: Link) async throws -> Bool
    func link(_ code: String) async throws -> Link?
    /// Returns links, newest first.
    func links(limit: Int) async throws -> [Link]
    /// - Returns: Whether there was one.
    func delete(_ code: String) async throws -> Bool
    /// Adds hits to links. The hits of a deleted link are dropped.
    func add(_ hits: [Hit: Int]) async throws
    /// Returns the hits of a link by day, oldest first.
    func hits(of code: String) async throws -> [Hits]
}

/// The totals.
package struct Hit: Sendable, Hashable {
    package let code: String
    package let day: Int
}

/// The links of the program.
package enum Links: AsyncFeature {
    /// All requests share it: a store that depended on a request would be opened for each of them, which Fugu refuses.
    package static var home: Home { .shared }

    package static func load(in container: any FeatureContainer) async throws -> any LinkRepository {
        guard container.databaseURL != nil else { return SQLiteLinks(pool: try await container[Database.self]) }
        #if PostgreSQL
        return PostgresLinks(pool: try await container[Postgres.self])
        #else
        throw NoPostgres()
        #endif
    }

    struct NoPostgres: Error, CustomStringConvertible {
        var description: String {
            "database.url is set, but the program was built without PostgreSQL: swift build --traits PostgreSQL"
        }
    }
}
