import AsyncAlgorithms
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
