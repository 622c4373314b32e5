import GRDB

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
    fileprivate init(_ row: Row) {
        self.init(code: row["code"], target: row["target"], created: row["created"])
    }
}
