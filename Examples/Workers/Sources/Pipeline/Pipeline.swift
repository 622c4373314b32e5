import AsyncAlgorithms
import Foundation
import Fugu

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
