import Foundation
import LoopbackClient
import Synchronization

/// The built program as a process of its own.
final class RunningProgram: Sendable {
    struct NotStarted: Error, CustomStringConvertible {
        let description: String
    }

    private let process: Mutex<Process>
    private let lines: Mutex<[String]> = Mutex([])
    private let exitCode: Task<Int32, Never>
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
        let (output, errors) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = errors
        // It has ended once it has exited and both its outputs have been read to their ends, in whatever order.
        let (ends, ended) = AsyncStream.makeStream(of: Int32?.self)
        process.terminationHandler = { ended.yield($0.terminationStatus) }
        exitCode = Task { await ends.prefix(3).reduce(nil) { $0 ?? $1 } ?? -1 }
        try process.run()
        pid = process.processIdentifier
        self.process = Mutex(process)
        for pipe in [output, errors] {
            pipe.fileHandleForReading.readabilityHandler = { [weak self] handle in
                let text = String(decoding: handle.availableData, as: UTF8.self)
                guard !text.isEmpty else {
                    handle.readabilityHandler = nil
                    ended.yield(nil)
                    return
                }
                self?.lines.withLock { $0 += text.split(separator: "\n").map(String.init) }
            }
        }
    }

    deinit { kill(pid, SIGKILL) }

    var log: [String] { lines.withLock { $0 } }

    func signal(_ signal: Int32) { kill(pid, signal) }

    func exit() async -> Int32 { await exitCode.value }

    /// Waits until a line says something.
    func line(containing text: String) async throws -> String {
        while true {
            if let line = log.first(where: { $0.contains(text) }) { return line }
            if !process.withLock({ $0.isRunning }) { throw NotStarted(description: log.joined(separator: "\n")) }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// A client, once the program listens.
    func client() async throws -> LoopbackClient {
        let line = try await line(containing: "Listening at")
        return LoopbackClient(port: Int(line.split(separator: ":").last ?? "") ?? 0)
    }
}
