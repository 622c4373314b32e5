import Foundation

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
