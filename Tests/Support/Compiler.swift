import Foundation

/// What the compiler says to sources that use Fugu.
package enum Compiler {
    /// Whether `source` compiles, and what the compiler said; nil where there is no compiler or no built module.
    package static func check(_ source: String) throws -> (isRight: Bool, output: String)? {
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
        process.arguments = ["-typecheck", "-swift-version", "6", "-I", modules.path, file.path]
        process.standardError = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus == 0, text)
    }
}
