import Fugu
import GRDB
import LoggingAdapter
import Synchronization

/// The SQLite file, which is opened, migrated, and closed at the end.
package enum Database: AsyncFeature, External {
    package static var home: Home { .shared }

    package static func load(in container: any FeatureContainer) async throws -> DatabasePool {
        let (path, logger) = (container.databasePath, container.logger)
        let pool = try open(path)
        container.onClose {
            try pool.close()
            logger.info("Closed \(path)")
        }
        logger.info("Opened \(path)")
        return pool
    }

    package static func open(_ path: String) throws -> DatabasePool {
        let pool = try DatabasePool(path: path, configuration: configuration)
        do {
            try migrations.migrate(pool)
        } catch {
            try? pool.close()
            throw error
        }
        return pool
    }

    private static var configuration: Configuration {
        var configuration = Configuration()
        configuration.prepareDatabase { database in
            // Acknowledged writes survive a power failure, too.
            try database.execute(sql: "PRAGMA synchronous = FULL")
        }
        return configuration
    }

    private static var migrations: DatabaseMigrator {
        var migrations = DatabaseMigrator()
        migrations.registerMigration("links and hits") { database in
            try database.execute(
                sql: """
                    CREATE TABLE link (code TEXT NOT NULL PRIMARY KEY, target TEXT NOT NULL, created INTEGER NOT NULL);
                    CREATE INDEX link_created ON link (created);
                    CREATE TABLE hit (
                        code TEXT NOT NULL REFERENCES link ON DELETE CASCADE, day INTEGER NOT NULL,
                        count INTEGER NOT NULL, PRIMARY KEY (code, day)) WITHOUT ROWID;
                    """)
        }
        return migrations
    }
}

/// Links in an SQLite file.
package struct SQLiteLinks: LinkRepository {
    private let pool: DatabasePool

    package init(pool: DatabasePool) { self.pool = pool }

    package func add(_ link: Link) async throws -> Bool {
        try await pool.write { database in
            try database.execute(
                sql: "INSERT OR IGNORE INTO link (code, target, created) VALUES (?, ?, ?)",
                arguments: [link.code, link.target, link.created])
            return database.changesCount == 1
        }
    }

    package func link(_ code: String) async throws -> Link? {
        try await pool.read { database in
            try Row.fetchOne(database, sql: "SELECT code, target, created FROM link WHERE code = ?", arguments: [code])
                .map(Link.init)
        }
    }

    package func links(limit: Int) async throws -> [Link] {
        try await pool.read { database in
            try Row.fetchAll(
                database, sql: "SELECT code, target, created FROM link ORDER BY created DESC, code LIMIT ?",
                arguments: [limit]
            ).map(Link.init)
        }
    }

    package func delete(_ code: String) async throws -> Bool {
        try await pool.write { database in
            try database.execute(sql: "DELETE FROM link WHERE code = ?", arguments: [code])
            return database.changesCount == 1
        }
    }

    package func add(_ hits: [Hit: Int]) async throws {
        try await pool.write { database in
            let statement = try database.makeStatement(
                sql: """
                    INSERT INTO hit (code, day, count) SELECT code, ?, ? FROM link WHERE code = ?
                    ON CONFLICT (code, day) DO UPDATE SET count = count + excluded.count
                    """)
            for (hit, count) in hits { try statement.execute(arguments: [hit.day, count, hit.code]) }
        }
    }

    package func hits(of code: String) async throws -> [Hits] {
        try await pool.read { database in
            try Row.fetchAll(
                database, sql: "SELECT day, count FROM hit WHERE code = ? ORDER BY day", arguments: [code]
            ).map { Hits(day: $0["day"], count: $0["count"]) }
        }
    }
}

extension Link {
    init(_ row: Row) {
        self.init(code: row["code"], target: row["target"], created: row["created"])
    }
}

/// Counts hits in memory, and writes them now and then, and at the end.
///
/// A redirect doesn't wait for a write. A process that is killed loses the hits since the last one.
package final class HitCounter: AsyncFeature, Sendable {
    package static var home: Home { .shared }

    private let links: any LinkRepository
    private let counts = Mutex<[Hit: Int]>([:])

    package init(links: any LinkRepository) { self.links = links }

    package static func load(in container: any FeatureContainer) async throws -> HitCounter {
        let counter = HitCounter(links: try await container[Links.self])
        // Runs before the closer of the database, which this was made from.
        container.onClose { try await counter.flush() }
        return counter
    }

    package func count(_ code: String, on day: Int) {
        counts.withLock { $0[Hit(code: code, day: day), default: 0] += 1 }
    }

    /// Writes the hits since the last time.
    ///
    /// If writing fails, the hits are kept for the next time.
    package func flush() async throws {
        let hits = counts.withLock { counts in
            defer { counts = [:] }
            return counts
        }
        guard !hits.isEmpty else { return }
        do {
            try await links.add(hits)
        } catch {
            counts.withLock { $0.merge(hits, uniquingKeysWith: +) }
            throw error
        }
    }
}
