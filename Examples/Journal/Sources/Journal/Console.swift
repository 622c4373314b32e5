import Foundation
import Fugu
import FuguFoundation

/// The program's output: its results and its reports.
struct Console: Feature, External, Sendable {
    var write: @Sendable (String) throws -> Void
    var report: @Sendable (String) -> Void
    var writesToTerminal = false
    var reportsToTerminal = false

    static let standard = Console(
        write: { text in
            do {
                try FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
            } catch {
                throw FileAccessError(.append, URL(filePath: "/dev/stdout"), cause: error)
            }
        },
        report: { try? FileHandle.standardError.write(contentsOf: Data($0.utf8)) },  // No place is left to report to.
        writesToTerminal: isatty(STDOUT_FILENO) == 1, reportsToTerminal: isatty(STDERR_FILENO) == 1)

    static func load(in container: any FeatureContainer) -> Console { .standard }

    /// Says nothing, and fails the test that makes it speak.
    static var placeholder: Console {
        Console(write: unimplemented("Console.write"), report: unimplemented("Console.report"))
    }
}

extension ContainerKeys {
    var console: FeatureKey<Console> { .init(Console.self) }
}
