import Glibc

/// The jobs of all tasks of the process: while a world runs, each takes turns like a thread; else they run one after the
/// other when asked to.
final class Jobs: @unchecked Sendable {
    static let shared = Jobs()
    /// Whether a world runs.
    var schedules = false
    private var waiting: [UnownedJob] = []

    /// Runs a job on no actor, as the pool would: an executor of ours would have each job come by here a few times more.
    private typealias RunJob = @convention(thin) (UnownedJob, UnsafeRawPointer?, UInt) -> Void
    private let runJob = unsafeBitCast(dlsym(nil, "swift_job_run")!, to: RunJob.self)
    private typealias Enqueue = @convention(thin) (UnownedJob) -> Void
    private typealias Hook = @convention(thin) (UnownedJob, Enqueue) -> Void

    /// Has all jobs of the process brought here.
    func install() {
        let hook = dlsym(nil, "swift_task_enqueueGlobal_hook")!.assumingMemoryBound(to: Hook?.self)
        hook.pointee = { job, _ in Jobs.shared.take(job) }
    }

    private func take(_ job: UnownedJob) {
        if schedules { Scheduler.shared.add { self.run(job) } } else { waiting.append(job) }
    }

    private func run(_ job: UnownedJob) { runJob(job, nil, 0) }

    /// Runs what waits, until a task has ended and nothing is left.
    func drain(_ task: Task<Void, Never>?) {
        while !waiting.isEmpty { run(waiting.removeFirst()) }
    }
}
