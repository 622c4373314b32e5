import Foundation

/// An executable of this package, built along with the tests.
struct BuiltProgram {
    struct Result {
        let exitCode: Int32
        let output: String
        let errors: String
        let duration: Duration
    }

    struct NotFound: Error, CustomStringConvertible {
        let description: String
    }

    let url: URL

    /// A program of the system.
    init(at path: String) throws {
        url = URL(filePath: path)
        if !Self.isProgram(url) { throw NotFound(description: "\(path) is no program") }
    }

    /// Looks for the executable beside the test bundle: on Linux the test process is the bundle itself, on Apple
    /// platforms a runner elsewhere loads it.
    init(_ name: String) throws {
        let bundles = Bundle.allBundles.map(\.bundleURL).filter { $0.pathExtension == "xctest" }
        let processes = [Bundle.main.executableURL, CommandLine.arguments.first.map { URL(filePath: $0) }].compactMap(
            \.self)
        var tried: [String] = []
        for start in bundles + processes {
            var folder = start.resolvingSymlinksInPath().deletingLastPathComponent()
            // On Apple platforms an executable lies three folders down in its bundle.
            for _ in 0..<4 {
                for candidate in [name, name + ".exe"].map({ folder.appending(path: $0, directoryHint: .notDirectory) })
                {
                    tried.append(candidate.path)
                    if Self.isProgram(candidate) {
                        url = candidate
                        return
                    }
                }
                folder.deleteLastPathComponent()
            }
        }
        throw NotFound(description: "\(name) is not among \(tried.joined(separator: ", "))")
    }

    /// Runs it to its end, with nothing in its environment but `environment` and what its sanitizer and libraries need.
    func run(_ arguments: [String] = [], environment: [String: String] = [:]) async throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appending(path: "FuguRun-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        // Files, as a pipe that nobody empties would stop the program.
        let files = try ["output", "errors"].map { name in
            let url = folder.appending(path: name)
            try Data().write(to: url)
            return url
        }
        let process = Process()
        process.executableURL = url
        process.arguments = arguments
        process.currentDirectoryURL = folder
        process.environment = ProcessInfo.processInfo.environment
            .filter { ["PATH", "LD_LIBRARY_PATH", "TSAN_OPTIONS", "ASAN_OPTIONS", "SystemRoot"].contains($0.key) }
            .merging(environment) { $1 }
        process.standardOutput = try FileHandle(forWritingTo: files[0])
        process.standardError = try FileHandle(forWritingTo: files[1])
        let start = ContinuousClock.now
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            process.terminationHandler = { _ in continuation.resume() }
            do { try process.run() } catch { continuation.resume(throwing: error) }
        }
        return Result(
            exitCode: process.terminationStatus,
            output: String(decoding: try Data(contentsOf: files[0]), as: UTF8.self),
            errors: String(decoding: try Data(contentsOf: files[1]), as: UTF8.self),
            duration: start.duration(to: .now))
    }

    private static func isProgram(_ url: URL) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) && !isFolder.boolValue
            && FileManager.default.isExecutableFile(atPath: url.path)
    }
}

/// A new folder that is deleted, with its contents, when its last reference is released.
final class TemporaryFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
            .appending(path: "FuguExamples-\(UUID())", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func path(_ name: String) -> String { url.appending(path: name, directoryHint: .notDirectory).path }
}
