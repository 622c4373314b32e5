import Foundation
import Fugu
import Pipeline
import UnixSignals

/// Counts the words of files: `swift run Workers FILE …`.
@main struct Workers {
    static func main() async throws {
        let paths = CommandLine.arguments.dropFirst()
        guard !paths.isEmpty else { fail("usage: Workers FILE …", code: 64) }
        let container = Container.shared
        let jobs = paths.enumerated().map { Job(id: $0.offset + 1, path: $0.element) }
        print("\(jobs.count) files, \(container.workerCount) workers, at most \(container.attemptLimit) attempts each")
        let work = Task {
            var failures = 0
            try await Pipeline(container).run(jobs) { outcome in
                print(text(of: outcome))
                if case .words = outcome.result { return }
                failures += 1
            }
            return failures
        }
        let interrupts = Task {
            for await _ in await UnixSignalsSequence(trapping: .sigint, .sigterm) { work.cancel() }
        }
        let result = await work.result
        interrupts.cancel()
        try await container.close(deadline: .seconds(5))
        switch result {
        case .success(0):
            print("all counted; see \(container.outputFolder.relativePath) for how often each word occurs")
        case .success(let failures): fail("\(failures) of \(jobs.count) failed", code: 1)
        case .failure: fail("interrupted", code: 130)
        }
    }

    private static func text(of outcome: Outcome) -> String {
        switch outcome.result {
        case .words(let count): "\(outcome.job.path): \(count) words, at attempt \(outcome.attempts)"
        case .failed(let error): "\(outcome.job.path): \(error) (tried \(outcome.attempts) times)"
        case .cancelled: "\(outcome.job.path): cancelled"
        }
    }

    private static func fail(_ text: String, code: Int32) -> Never {
        try? FileHandle.standardError.write(contentsOf: Data((text + "\n").utf8))
        exit(code)
    }
}
