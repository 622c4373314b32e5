#if PostgreSQL
import CPostgres
import Dispatch
import Fugu
import LoggingAdapter

/// A pool of connections to a PostgreSQL server, which creates the tables and is closed at the end.
package enum Postgres: AsyncFeature, External {
    package static var home: Home { .shared }

    package static func load(in container: any FeatureContainer) async throws -> PostgresPool {
        let logger = container.logger
        let pool = try await PostgresPool(url: container.databaseURL ?? "", count: Int(container.databaseConnections))
        container.onClose {
            await pool.close()
            logger.info("Closed the connections to PostgreSQL")
        }
        _ = try await pool.rows(tables)
        logger.info("Connected to PostgreSQL")
        return pool
    }

    /// Several machines may begin at once, so they wait for one another.
    private static var tables: String {
        """
        DO $$ BEGIN
            PERFORM pg_advisory_xact_lock(7461), set_config('client_min_messages', 'warning', true);
            CREATE TABLE IF NOT EXISTS link (code text PRIMARY KEY, target text NOT NULL, created bigint NOT NULL);
            CREATE INDEX IF NOT EXISTS link_created ON link (created);
            CREATE TABLE IF NOT EXISTS hit (
                code text REFERENCES link ON DELETE CASCADE, day integer, count bigint NOT NULL, PRIMARY KEY (code, day));
        END $$
        """
    }
}

/// Links in PostgreSQL, for several machines behind a balancer.
package struct PostgresLinks: LinkRepository {
    let pool: PostgresPool

    package func add(_ link: Link) async throws -> Bool {
        try await !pool.rows(
            "INSERT INTO link VALUES ($1, $2, $3) ON CONFLICT DO NOTHING RETURNING code",
            [link.code, link.target, "\(link.created)"]
        ).isEmpty
    }

    package func link(_ code: String) async throws -> Link? {
        try await pool.rows("SELECT code, target, created FROM link WHERE code = $1", [code]).first.map(Link.init)
    }

    package func links(limit: Int) async throws -> [Link] {
        try await pool.rows(
            "SELECT code, target, created FROM link ORDER BY created DESC, code LIMIT $1", ["\(limit)"]
        ).map(Link.init)
    }

    package func delete(_ code: String) async throws -> Bool {
        try await !pool.rows("DELETE FROM link WHERE code = $1 RETURNING code", [code]).isEmpty
    }

    /// One statement, and so all or nothing; in order, so that two machines can't wait for one another.
    package func add(_ hits: [Hit: Int]) async throws {
        let hits = hits.sorted { ($0.key.code, $0.key.day) < ($1.key.code, $1.key.day) }
        func list(_ elements: [some CustomStringConvertible]) -> String {
            "{\(elements.map(\.description).joined(separator: ","))}"
        }
        _ = try await pool.rows(
            """
            INSERT INTO hit (code, day, count)
            SELECT code, day, count FROM unnest($1::text[], $2::integer[], $3::bigint[]) AS new (code, day, count)
            JOIN link USING (code) ORDER BY code, day
            ON CONFLICT (code, day) DO UPDATE SET count = hit.count + excluded.count
            """,
            [list(hits.map(\.key.code)), list(hits.map(\.key.day)), list(hits.map(\.value))])
    }

    package func hits(of code: String) async throws -> [Hits] {
        try await pool.rows("SELECT day, count FROM hit WHERE code = $1 ORDER BY day", [code])
            .map { Hits(day: Int($0[0]) ?? 0, count: Int($0[1]) ?? 0) }
    }
}

extension Link {
    fileprivate init(_ row: [String]) {
        self.init(code: row[0], target: row[1], created: Int(row[2]) ?? 0)
    }
}

/// An error of PostgreSQL, with its message.
package struct PostgresError: Error, CustomStringConvertible {
    package let description: String

    fileprivate init(_ connection: OpaquePointer?) {
        description = String(cString: PQerrorMessage(connection)).split(separator: "\n").joined(separator: " ")
    }
}

/// A few connections to a PostgreSQL server, by its own C library.
///
/// A caller that finds no idle connection waits for the next one. A broken connection is opened again at its next use.
package actor PostgresPool {
    private let all: [PostgresConnection]
    private var idle: [PostgresConnection]
    private var waiters: [CheckedContinuation<PostgresConnection, Never>] = []

    /// Connects.
    ///
    /// - Parameters:
    ///   - url: An address, such as `postgres://user@host/database`, as libpq takes it.
    ///   - count: The number of connections.
    /// - Throws: `PostgresError` if the server can't be reached.
    package init(url: String, count: Int) async throws {
        all = (0..<count).map { PostgresConnection(url: url, number: $0) }
        idle = all
        for connection in all { try await connection.open() }
    }

    /// Runs a statement with strings as parameters, and returns the rows as strings.
    package func rows(_ statement: String, _ parameters: [String] = []) async throws -> [[String]] {
        let connection = await take()
        defer { giveBack(connection) }
        return try await connection.rows(statement, parameters)
    }

    /// Waits for statements in progress, and closes all connections.
    package func close() async { for connection in all { await connection.close() } }

    private func take() async -> PostgresConnection {
        if let connection = idle.popLast() { return connection }
        return await withCheckedContinuation { waiters.append($0) }
    }

    private func giveBack(_ connection: PostgresConnection) {
        if waiters.isEmpty { idle.append(connection) } else { waiters.removeFirst().resume(returning: connection) }
    }
}

/// A connection with its own queue, since libpq blocks the thread that waits for an answer.
private actor PostgresConnection {
    private final class Queue: SerialExecutor {
        let queue: DispatchQueue

        init(_ label: String) { queue = DispatchQueue(label: label) }

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
        }
    }

    private let queue: Queue
    private let url: String
    private var connection: OpaquePointer?
    private var isClosed = false

    nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

    init(url: String, number: Int) {
        self.url = url
        queue = Queue("postgres \(number)")
    }

    isolated deinit { PQfinish(connection) }

    func open() throws {
        connection = PQconnectdb(url)
        guard PQstatus(connection) == CONNECTION_OK else { throw PostgresError(connection) }
    }

    func close() {
        isClosed = true
        PQfinish(connection)
        connection = nil
    }

    func rows(_ statement: String, _ parameters: [String]) throws -> [[String]] {
        if !isClosed, PQstatus(connection) != CONNECTION_OK { PQreset(connection) }
        let result = withTexts(parameters[...], []) { texts in
            PQexecParams(connection, statement, Int32(texts.count), nil, texts, nil, nil, 0)
        }
        defer { PQclear(result) }
        guard [PGRES_COMMAND_OK, PGRES_TUPLES_OK].contains(PQresultStatus(result)) else {
            throw PostgresError(connection)
        }
        return (0..<PQntuples(result)).map { row in
            (0..<PQnfields(result)).map { String(cString: PQgetvalue(result, row, $0)) }
        }
    }

    /// Calls a closure with pointers to texts that end with zero.
    private func withTexts<Result>(
        _ texts: ArraySlice<String>, _ pointers: [UnsafePointer<CChar>?], _ body: ([UnsafePointer<CChar>?]) -> Result
    ) -> Result {
        guard let text = texts.first else { return body(pointers) }
        return text.withCString { withTexts(texts.dropFirst(), pointers + [$0], body) }
    }
}
#endif
