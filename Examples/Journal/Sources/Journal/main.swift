// A small real program: a journal in a file. `swift run Journal --help` prints how it is used.
import ArgumentParser
import Dispatch
import Foundation
import Fugu

/// The program.
///
/// It reaches the outside only through `container`.
struct Program {
    let container: Container

    /// Runs the command in the arguments, closes everything, and returns the exit code.
    func run(_ arguments: [String]) async -> Int32 {
        let code = await perform(arguments)
        do {
            try await container.close(deadline: .seconds(5))
            return code
        } catch {
            container.console.report("Journal: \(error)\n")
            return max(code, 1)
        }
    }

    private func perform(_ arguments: [String]) async -> Int32 {
        do {
            try await Container.with(container) {
                var command = try Journal.parseAsRoot(arguments)
                if var command = command as? any AsyncParsableCommand {
                    try await command.run()
                } else {
                    try command.run()
                }
            }
            return 0
        } catch is CancellationError {
            container.console.report("Journal: stopped\n")
            return 130
        } catch {
            return report(error)
        }
    }

    /// Help and completion scripts are errors, too, to the parser.
    private func report(_ error: any Error) -> Int32 {
        let code = Journal.exitCode(for: error)
        let text = Journal.fullMessage(for: error)
        if text.isEmpty { return code.rawValue }
        if !code.isSuccess {
            let isUsage = code == .validationFailure
            container.console.report(isUsage ? text + "\n" : "Journal: \(error)\n")
            return code.rawValue
        }
        do {
            try container.console.write(text + "\n")
            return 0
        } catch {
            container.console.report("Journal: \(error)\n")
            return 1
        }
    }
}

let work = Task { await Program(container: .shared).run(Array(CommandLine.arguments.dropFirst())) }

// Ctrl-C ends the work in order; a second one ends the program at once.
signal(SIGINT, SIG_IGN)
let interrupts = DispatchSource.makeSignalSource(signal: SIGINT, queue: .main)
interrupts.setEventHandler {
    signal(SIGINT, SIG_DFL)
    work.cancel()
}
interrupts.resume()

exit(await work.value)
