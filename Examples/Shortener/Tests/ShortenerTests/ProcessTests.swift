import Foundation
import GRDB
import LoopbackClient
import Synchronization
import Testing

/// The program as its operators see it: a process that gets signals.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ProcessTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func codes() throws -> Set<String> {
        try DatabaseQueue(path: folder.path("links.sqlite")).read { database in
            Set(try String.fetchAll(database, sql: "SELECT code FROM link"))
        }
    }

    /// Creates links from several tasks until the program is gone, and gives the codes that were acknowledged.
    private func load(
        _ client: LoopbackClient, onReply: @escaping @Sendable (_ count: Int) -> Void
    ) async -> Set<String> {
        let acknowledged = Acknowledged()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    while let code = try? await client.create() { onReply(await acknowledged.add(code)) }
                }
            }
        }
        return await acknowledged.codes
    }

    @Test("SIGTERM under load: every request that was accepted has its reply, and the program exits with success")
    func terminate() async throws {
        let program = try RunningProgram(in: folder)
        let replies = await load(try await program.client()) { if $0 == 300 { program.signal(SIGTERM) } }
        #expect(await program.exit() == 0)
        #expect(replies.count >= 300)
        // Each link that was created was also acknowledged.
        #expect(try codes() == replies)
        #expect(program.log.last?.contains("Closed links.sqlite") == true)
    }

    @Test("Killed during writes, the program has lost no link that it had acknowledged")
    func killed() async throws {
        let program = try RunningProgram(in: folder)
        let replies = await load(try await program.client()) { if $0 == 300 { program.signal(SIGKILL) } }
        #expect(await program.exit() == SIGKILL)
        #expect(replies.count >= 300)
        #expect(try codes().isSuperset(of: replies))

        let again = try RunningProgram(in: folder)
        let client = try await again.client()
        for code in replies.prefix(10) { #expect(try await client.send("/\(code)").status == 302) }
        again.signal(SIGTERM)
        #expect(await again.exit() == 0)
    }

    @Test("SIGHUP changes the log's level; a file with a mistake changes nothing and is logged with its place")
    func reload() async throws {
        let path = folder.path("config.toml")
        func write(_ text: String) throws {
            // Only the signal is to count.
            try "config.look_interval = '1h'\n\(text)".write(toFile: path, atomically: true, encoding: .utf8)
        }
        try write("log.level = 'debug'")
        let program = try RunningProgram(in: folder, environment: ["SHORTENER_ADMIN_TOKEN": "hunter22"])
        let client = try await program.client()
        _ = try await program.line(containing: "SIGHUP reads the configuration again")
        _ = try await client.send("/healthz")
        _ = try await program.line(containing: "/healthz")

        try write("log.level = 'info'")
        program.signal(SIGHUP)
        _ = try await program.line(containing: "Reloaded the configuration")
        try write("log.level = 'loud'\nserver.patience = 3")
        program.signal(SIGHUP)
        _ = try await program.line(containing: "stays as it is: \(path):2:13: log.level: expected")
        _ = try await program.line(containing: "stays as it is: \(path):3:19: server.patience: expected Duration")

        _ = try await client.send("/healthz")
        _ = try await client.create()
        _ = try await program.line(containing: "Created")
        let metrics = try await client.send("/metrics", headers: LoopbackClient.admin)
        #expect(metrics.body.contains(#"http_route="/healthz""#))
        #expect(program.log.filter { $0.contains("/healthz") }.count == 1)
        program.signal(SIGTERM)
        #expect(await program.exit() == 0)
    }

    @Test("All mistakes of all sources are printed at once, with their places")
    func mistakes() async throws {
        try "[server]\nprot = 80\nport = 70000\n".write(
            toFile: folder.path("config.toml"), atomically: true, encoding: .utf8)
        let program = try RunningProgram(
            in: folder, arguments: ["--limits-tries-per-minute", "many"],
            environment: ["SHORTENER_SERVER_BASE_URL": "ftp://example.org"])
        #expect(await program.exit() == 78)
        let text = program.log.joined(separator: "\n")
        #expect(text.contains("config.toml:2:1: server.prot: unknown name; did you mean server.port?"))
        #expect(text.contains("environment variable SHORTENER_SERVER_BASE_URL: server.base_url: expected an address"))
        #expect(text.contains("argument --limits-tries-per-minute: limits.tries_per_minute: expected UInt"))
    }

    @Test("--print-config prints every value and its origin, and no secret")
    func printConfig() async throws {
        try "[server]\nhost = '::1'".write(toFile: folder.path("config.toml"), atomically: true, encoding: .utf8)
        let program = try RunningProgram(
            in: folder, arguments: ["--print-config"], environment: ["SHORTENER_ADMIN_TOKEN": "hunter22"])
        #expect(await program.exit() == 0)
        let text = program.log.joined(separator: "\n")
        #expect(text.contains("config.toml:2:8)"))
        #expect(text.contains("admin.token = (secret) (environment variable SHORTENER_ADMIN_TOKEN)"))
        #expect(text.contains("server.port = 0 (argument --server-port)"))
        #expect(text.contains("cache.asset_seconds = 3600 (default)"))
        #expect(!text.contains("hunter22"))
    }
}

/// The codes that clients received.
private actor Acknowledged {
    private(set) var codes: Set<String> = []

    /// Returns how many there are by now.
    func add(_ code: String) -> Int {
        codes.insert(code)
        return codes.count
    }
}

/// The built program in its own process.
final class RunningProgram: Sendable {
    struct NotStarted: Error, CustomStringConvertible {
        let description: String
    }

    /// Both its outputs, in a file: a pipe would have to be emptied all the time.
    private let output: URL
    private let exitCode: Task<Int32, Never>
    private let process: Mutex<Process>
    let pid: Int32

    /// Starts the program in a folder, with a free port and without the limits that a load test would meet.
    init(in folder: TemporaryFolder, arguments: [String] = [], environment: [String: String] = [:]) throws {
        let process = Process()
        process.executableURL = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
            .appending(path: "Shortener")
        process.currentDirectoryURL = folder.url
        process.environment = environment.merging(
            ProcessInfo.processInfo.environment.filter { ["PATH", "LD_LIBRARY_PATH"].contains($0.key) }
        ) { $1 }
        process.arguments =
            ["--server-port", "0", "--limits-creates-per-minute", "1000000"] + arguments
        output = folder.url.appending(path: "\(UUID()).log")
        try Data().write(to: output)
        let handle = try FileHandle(forUpdating: output)
        process.standardOutput = handle
        process.standardError = handle
        let (exits, exited) = AsyncStream.makeStream(of: Int32.self)
        process.terminationHandler = { exited.yield($0.terminationStatus) }
        exitCode = Task { await exits.first { _ in true } ?? -1 }
        try process.run()
        pid = process.processIdentifier
        self.process = Mutex(process)
    }

    deinit { if process.withLock(\.isRunning) { kill(pid, SIGKILL) } }

    /// The lines that it has printed so far.
    var log: [String] {
        let text = (try? String(contentsOf: output, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map(String.init)
    }

    func signal(_ signal: Int32) { kill(pid, signal) }

    func exit() async -> Int32 { await exitCode.value }

    /// Waits until a line says something.
    func line(containing text: String) async throws -> String {
        while true {
            let isRunning = process.withLock(\.isRunning)
            if let line = log.first(where: { $0.contains(text) }) { return line }
            guard isRunning else { throw NotStarted(description: log.joined(separator: "\n")) }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// A client, once the program listens.
    func client() async throws -> LoopbackClient {
        let line = try await line(containing: "Listening at")
        return LoopbackClient(port: Int(line.split(separator: ":").last ?? "") ?? 0)
    }
}
