import Foundation
package import Testing

/// The operating system's figures for this process.
package enum ThisProcess {
    /// The bytes of memory in use, where they're known.
    package static var residentBytes: Int? {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return nil }
        return text.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map {
            $0 * Int(sysconf(Int32(_SC_PAGESIZE)))
        }
    }

    /// The time for which the calling thread has run on a processor.
    package static var threadTime: Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(Int(time.tv_sec)) + .nanoseconds(Int(time.tv_nsec))
    }

    /// Whether the thread sanitizer runs, with which memory and times mean little.
    package static var isThreadSanitized: Bool { dlsym(dlopen(nil, RTLD_NOW), "__tsan_init") != nil }

    /// For exit tests: ends the process with success, which they take for a failure, unless it stops in good time.
    package static func mustStopSoon() {
        startThread {
            Thread.sleep(forTimeInterval: 30)
            exit(EXIT_SUCCESS)
        }
    }

    /// For exit tests: ends the process with failure unless it ends in good time.
    package static func mustEndSoon() {
        startThread {
            Thread.sleep(forTimeInterval: 30)
            fatalError("the process hangs")
        }
    }
}

/// Expects that a process that stopped has said all of `parts` on standard error.
package func expectMessage(
    of result: ExitTest.Result?, _ parts: String..., sourceLocation: SourceLocation = #_sourceLocation
) {
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    for part in parts {
        #expect(text.contains(part), "standard error was: \(text)", sourceLocation: sourceLocation)
    }
}

/// The compiler's messages for sources that use Fugu.
package enum Compiler {
    /// The flags of a module whose default isolation is the main actor.
    package static let mainActorModule = [
        "-default-isolation", "MainActor", "-enable-upcoming-feature", "NonisolatedNonsendingByDefault",
        "-enable-upcoming-feature", "InferIsolatedConformances",
    ]

    /// Whether `source` compiles, and what the compiler said; nil where there is no compiler or no built module.
    package static func check(_ source: String, _ flags: [String] = []) throws -> (isRight: Bool, output: String)? {
        let products = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        let modules = [products.appending(path: "Modules"), products].first {
            FileManager.default.fileExists(atPath: $0.appending(path: "Fugu.swiftmodule").path)
        }
        let compiler = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
            .map { "\($0)/swiftc" }.first { FileManager.default.isExecutableFile(atPath: $0) }
        guard let modules, let compiler else { return nil }
        let file = FileManager.default.temporaryDirectory.appending(path: "fugu-\(UUID()).swift")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(source.utf8).write(to: file)
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: compiler)
        process.arguments = ["-typecheck", "-swift-version", "6", "-I", modules.path] + flags + [file.path]
        process.standardError = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus == 0, text)
    }
}

/// Runs `body` on a new thread and returns its result.
///
/// If it never ends, this throws when the time limit of the test is over, so that a hang is a failure and nothing more.
package func finishing<R: Sendable>(
    stackSize: Int = 8 << 20, _ body: @escaping @Sendable () -> R
) async throws -> R {
    let result = Log<R>()
    try await startThread(stackSize: stackSize) { result.add(body()) }.openedUnlessCancelled()
    return result.all[0]
}

/// Runs `body` in a new task and returns its result, or throws when the time limit of the test is over.
package func finishing<R: Sendable>(
    task body: @escaping @concurrent @Sendable () async throws -> R
) async throws -> R {
    let ended = Gate()
    let task = Task {
        defer { ended.open() }
        return try await body()
    }
    try await ended.openedUnlessCancelled()
    return try await task.value
}
