import Fugu
import Synchronization

/// How often a task is given back and taken up again while it reads a present asynchronous feature `n` times.
///
/// None is needed.
public func suspensions(inReads n: Int) async throws -> Int {
    let container = Container()
    _ = try await container[RemoteCounter.self]
    let executor = CountingExecutor()
    // Counted inside, because the start and the end of the task are jobs, too.
    return try await Task(executorPreference: executor) {
        let before = executor.count
        for _ in 0..<n { consume(try await container[RemoteCounter.self].value) }
        return executor.count - before
    }.value
}

/// Counts its jobs and runs each immediately on the same thread.
private final class CountingExecutor: TaskExecutor {
    private let jobs = Atomic(0)

    var count: Int { jobs.load(ordering: .relaxed) }

    func enqueue(_ job: consuming ExecutorJob) {
        jobs.add(1, ordering: .relaxed)
        job.runSynchronously(on: asUnownedTaskExecutor())
    }
}
