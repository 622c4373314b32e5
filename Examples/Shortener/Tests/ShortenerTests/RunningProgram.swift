import Foundation
import LoopbackClient
import Synchronization

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
