import Fugu

/// Where links are kept.
///
/// Everything else is written against this protocol. A second store is one more type that conforms, and one more line in
/// ``Links``: PostgreSQL, for several machines behind a balancer.
package protocol LinkRepository: Sendable {
    /// Adds a link, and returns once it would survive the end of the process.
    ///
    /// - Returns: Whether the code was free.
    func add(_ link: Link) async throws -> Bool
    func link(_ code: String) async throws -> Link?
    /// The newest links first.
    func links(limit: Int) async throws -> [Link]
    /// - Returns: Whether there was one.
    func delete(_ code: String) async throws -> Bool
    /// Adds to the hits of links. What belongs to a deleted link is dropped.
    func add(_ hits: [Hit: Int]) async throws
    /// The hits of a link by day, the oldest first.
    func hits(of code: String) async throws -> [Hits]
}

/// What is counted.
package struct Hit: Sendable, Hashable {
    package let code: String
    package let day: Int
}

/// The links of the program.
package enum Links: AsyncFeature {
    /// All requests share it; what depended on one of them would be opened for each, which Fugu refuses.
    package static var isShared: Bool { true }

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
