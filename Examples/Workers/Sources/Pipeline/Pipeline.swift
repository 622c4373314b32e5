import AsyncAlgorithms
import Foundation
import Fugu
import FuguFoundation

/// A pipeline that runs jobs in several workers.
///
/// Neither channel buffers: a sender waits for a receiver. So a slow report holds up the workers, and busy workers
/// hold up the source of the jobs, however many there are.
package struct Pipeline: Sendable {
    private let container: Container

    package init(_ container: Container) { self.container = container }

    /// Runs all jobs, and reports each as it ends.
    ///
    /// - Throws: `CancellationError` if the task was cancelled. Jobs under way have ended by then.
    package func run(
        _ jobs: some Sequence<Job> & Sendable, report: (Outcome) async throws -> Void
    ) async throws {
        let (waiting, done) = (AsyncChannel<Job>(), AsyncChannel<Outcome>())
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for job in jobs where !Task.isCancelled { await waiting.send(job) }
                waiting.finish()
            }
            group.addTask {
                await work(from: waiting, to: done)
                done.finish()
            }
            for await outcome in done { try await report(outcome) }
            try Task.checkCancellation()
        }
    }

    private func work(from waiting: AsyncChannel<Job>, to done: AsyncChannel<Outcome>) async {
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<container.workerCount {
                group.addTask {
                    for await job in waiting { await done.send(await Worker(container: container).perform(job)) }
                }
            }
        }
    }
}

/// Does one job after the other, each attempt in its own container.
struct Worker {
    let container: Container

    func perform(_ job: Job) async -> Outcome {
        let limit = container.attemptLimit
        var pause = container.firstPause
        var attempt = 1
        while true {
            let result = await result(of: job, attempt)
            guard case .failed = result, attempt < limit else {
                return Outcome(job: job, attempts: attempt, result: result)
            }
            do {
                try await container.clock.sleep(for: pause)
            } catch {
                return Outcome(job: job, attempts: attempt, result: .cancelled)
            }
            pause *= 2
            attempt += 1
        }
    }

    private func result(of job: Job, _ attempt: Int) async -> Outcome.Result {
        do {
            // Closed however the attempt ends: what it opened is given back before the next one begins.
            let words = try await container.withChild {
                $0.job = job
                $0.attempt = attempt
            } operation: {
                try await WordCount(container: $0).perform(job)
            }
            return .words(words)
        } catch is CancellationError {
            return .cancelled
        } catch {
            return .failed(error)
        }
    }
}

/// A document whose words are to be counted.
package struct Job: Sendable, Hashable {
    package let id: Int
    package let path: String

    package init(id: Int, path: String) {
        self.id = id
        self.path = path
    }
}

/// The result of a job.
package struct Outcome: Sendable {
    package enum Result: Sendable {
        case words(Int)
        case failed(any Error)
        case cancelled
    }

    package let job: Job
    package let attempts: Int
    package let result: Result
}

extension ContainerKeys {
    /// The job; set in the container of each attempt.
    package var job: PropertyKey<Job?> { .init() }
    package var attempt: PropertyKey<Int> { .init(defaultValue: 1) }

    package var workerCount: PropertyKey<Int> { .init(defaultValue: 4) }
    package var attemptLimit: PropertyKey<Int> { .init(defaultValue: 3) }
    /// The pause before the second attempt; it doubles with each further one.
    package var firstPause: PropertyKey<Duration> { .init(defaultValue: .seconds(1)) }
    /// The destination of the counts.
    package var outputFolder: PropertyKey<URL> { .init(defaultValue: URL(filePath: "words")) }
}

/// The work itself: counts the words of a document and writes how often each occurs.
struct WordCount {
    let container: Container

    /// Returns the number of words.
    func perform(_ job: Job) async throws -> Int {
        let data = try container.fileAccess.load(URL(filePath: job.path))
        var counts: [Substring: Int] = [:]
        let text = String(decoding: data, as: UTF8.self)
        for line in text.split(whereSeparator: \.isNewline) {
            // A long document must not delay a cancellation.
            try Task.checkCancellation()
            for word in line.split(whereSeparator: { !$0.isLetter }) { counts[word, default: 0] += 1 }
        }
        let scratch = container[Scratch.self]
        for (word, count) in counts.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
            try scratch.add("\(count)\t\(word)")
        }
        try publish(scratch, of: job)
        return counts.values.reduce(0, +)
    }

    /// In one step at the end, so that nobody finds half a result.
    private func publish(_ scratch: Scratch, of job: Job) throws {
        let name = URL(filePath: job.path).lastPathComponent + ".words"
        let files = container.fileAccess
        let result = files.exists(scratch.url) ? try files.load(scratch.url) : Data()
        try files.save(result, to: container.outputFolder.appending(path: name, directoryHint: .notDirectory))
    }
}

/// A file for the partial result of an attempt.
///
/// It's deleted when the attempt ends, even if that fails.
package struct Scratch: Feature, Sendable {
    package let url: URL
    private let files: FileAccess

    /// Each attempt has its own, and closes it. (It would live there anyhow, since it reads the job, which is set for each
    /// attempt; what has a closer says so, or debug builds ask whether that is meant.)
    package static var home: Home { .local }

    package static func load(in container: any FeatureContainer) -> Scratch {
        let name = "Job-\(container.job?.id ?? 0)-\(container.attempt)-\(container.uuid()).txt"
        let scratch = Scratch(
            url: container.outputFolder.appending(path: name, directoryHint: .notDirectory), files: container.fileAccess
        )
        container.onClose { try scratch.remove() }
        return scratch
    }

    package func add(_ line: String) throws { try files.append(Data((line + "\n").utf8), to: url) }

    private func remove() throws {
        do { try files.delete(url) } catch  where error.isMissingFile {}  // Nothing was written.
    }
}
