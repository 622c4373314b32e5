#if PostgreSQL
import CPostgres
import Dispatch

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
