import Fugu
import GRDB
import LoggingAdapter

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
