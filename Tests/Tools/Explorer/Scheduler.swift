import Footprints
import Fugu
import Glibc

/// Lets exactly one thread run at a time and decides which: at each acquisition of a lock, at each wait, and where user
/// code says so.
///
/// Unchecked, since whoever runs has the turn, which is handed on by semaphores.
final class Scheduler: @unchecked Sendable {
    /// A participant in the schedule: an actor of the world, or a job of a task.
    final class Fiber {
        enum State {
            case ready, ended
            /// Lets others go first.
            case yielding
            case waiting(() -> Bool)
        }
        let name: String
        /// The same in every run for what does the same.
        let id: UInt32
        let isJob: Bool
        /// How many jobs it has brought up.
        var jobCount = 0
        /// Whether nobody else can notice when it comes to its first lock, so that it needs no choice to get there.
        let beginsAlone: Bool
        let body: () -> Void
        var state = State.ready
        var locks = 0
        var worker: Worker?

        init(_ name: String, isJob: Bool = false, beginsAlone: Bool = false, _ body: @escaping () -> Void) {
            self.name = name
            id = Self.id(of: name)
            self.isJob = isJob
            self.beginsAlone = beginsAlone
            self.body = body
        }

        /// Zero is for what comes before all fibers.
        private static func id(of name: String) -> UInt32 {
            if let id = Ids.shared.known[name] { return id }
            let id = UInt32(Ids.shared.known.count + 1)
            Ids.shared.known[name] = id
            return id
        }

        private final class Ids: @unchecked Sendable {
            static let shared = Ids()
            var known: [String: UInt32] = [:]
        }

        var isEnabled: Bool {
            switch state {
            case .ready, .yielding: true
            case .ended: false
            case .waiting(let isOver): isOver()
            }
        }
    }

    /// A thread that runs one fiber after the other.
    final class Worker: @unchecked Sendable {
        let turn = Turn()
        var fiber: Fiber?
    }

    /// Where a thread waits for its turn.
    final class Turn: @unchecked Sendable {
        private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
        init() { sem_init(semaphore, 0, 0) }
        func give() { sem_post(semaphore) }
        func take() { while sem_wait(semaphore) != 0 {} }
    }

    static let shared = Scheduler()

    private var fibers: [Fiber] = []
    private var current: Fiber?
    /// The participant that was chosen last.
    private var chosen: Fiber?
    private var idle: [Worker] = []
    private let end = Turn()
    private(set) var schedule = Schedule()
    /// Whether threads change at locks too, or only where user code runs.
    private var isFine = true

    /// Runs fibers to their end, in the order that `schedule` says.
    func run(_ fibers: [Fiber], following schedule: Schedule, isFine: Bool) {
        self.schedule = schedule
        self.schedule.rewind()
        self.isFine = isFine
        self.fibers = fibers
        guard let first = choose() else { return }
        go(on: first)
        end.take()
        self.fibers = []
        (current, chosen) = (nil, nil)
    }

    /// Adds what has just become able to run.
    func add(_ body: @escaping () -> Void) {
        footprints_use_runtime()
        unseen {
            current!.jobCount += 1
            fibers.append(Fiber("\(current!.name), job \(current!.jobCount)", isJob: true, body))
        }
    }

    // MARK: What the running thread says

    /// User code runs: others may come first.
    ///
    /// Memory that only this thread uses needs no separate choice where threads change at locks, too; a read without a lock does.
    func point(isShared: Bool = false) {
        guard let fiber = current, fiber.locks == 0, isShared || !isFine else { return }
        handOn(from: fiber)
    }

    func willLock() {
        guard let fiber = current else { return }
        if fiber.locks == 0, isFine { handOn(from: fiber) }
        unseen { fiber.locks += 1 }
    }

    func didUnlock() { unseen { current?.locks -= 1 } }

    /// Runs what the language's runtime calls under its own lock, as it calls handlers of cancellations: nobody else
    /// may come by meanwhile who needs that lock.
    func whole(_ body: () -> Void) {
        footprints_use_runtime()
        unseen { current?.locks += 1 }
        body()
        unseen { current?.locks -= 1 }
    }

    func yield() {
        guard let fiber = current, fiber.locks == 0 else { return }
        unseen { fiber.state = .yielding }
        handOn(from: fiber)
    }

    func wait(_ isOver: @escaping () -> Bool) {
        guard let fiber = current, !isOver() else { return }
        if fiber.locks > 0 { stop("\(fiber.name) waits under a lock") }
        unseen { fiber.state = .waiting(isOver) }
        handOn(from: fiber)
    }

    // MARK: Turns

    private func handOn(from fiber: Fiber) {
        footprints_pause()
        guard let next = choose() else { stop("nobody can go on: \(waiting)") }
        if next !== fiber {
            let turn = fiber.worker!.turn
            go(on: next)
            turn.take()
        }
        fiber.state = .ready
        begin(fiber)
    }

    /// The thread of a fiber begins a step.
    private func begin(_ fiber: Fiber) {
        footprints_resume(fiber.id, schedule.records)
        if fiber.isJob { footprints_use_runtime() }
    }

    private var waiting: String {
        fibers.filter { if case .ended = $0.state { false } else { true } }.map(\.name).joined(separator: ", ")
            + " wait"
    }

    /// The participant that goes on, if any can.
    private func choose() -> Fiber? {
        if isFine, let beginner = fibers.first(where: { $0.beginsAlone && $0.worker == nil }) { return beginner }
        var options: [Fiber] = []
        var yielding: [Fiber] = []
        var mayStay = false
        if let chosen, chosen.isEnabled {
            if case .yielding = chosen.state {
                yielding.append(chosen)
            } else {
                options.append(chosen)
                mayStay = true
            }
        }
        for fiber in fibers where fiber !== chosen && fiber.isEnabled {
            if case .yielding = fiber.state { yielding.append(fiber) } else { options.append(fiber) }
        }
        if options.isEmpty { options = yielding }
        if options.isEmpty { return nil }
        guard schedule.steps < 20_000 else { stop("it does not end: \(waiting)") }
        chosen = options[schedule.choose(options.map(\.id), isFree: !mayStay)]
        return chosen
    }

    private func go(on fiber: Fiber) {
        current = fiber
        if let worker = fiber.worker { return worker.turn.give() }
        let worker = idle.popLast() ?? makeWorker()
        worker.fiber = fiber
        fiber.worker = worker
        worker.turn.give()
    }

    private func makeWorker() -> Worker {
        let worker = Worker()
        startThread { [self] in
            while true {
                worker.turn.take()
                let fiber = worker.fiber!
                begin(fiber)
                fiber.body()
                footprints_pause()
                fiber.state = .ended
                fibers.removeAll { $0 === fiber }
                worker.fiber = nil
                idle.append(worker)
                if let next = choose() {
                    go(on: next)
                } else if fibers.isEmpty {
                    schedule.endStep()
                    current = nil
                    end.give()
                } else {
                    stop("nobody can go on: \(waiting)")
                }
            }
        }
        return worker
    }

    /// A thread that waits can't be stopped: the process ends with the program that led here.
    private func stop(_ reason: String) -> Never { Report.fail(reason) }
}

/// Runs what is not part of the world: no other step is in conflict with it.
func unseen<R>(_ body: () -> R) -> R {
    let wasRunning = footprints_hide()
    defer { footprints_show(wasRunning) }
    return body()
}

func startThread(_ body: @escaping @Sendable () -> Void) {
    final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }
    var thread = pthread_t()
    let argument = Unmanaged.passRetained(Body(body)).toOpaque()
    pthread_create(
        &thread, nil,
        { argument in
            Unmanaged<Body>.fromOpaque(argument!).takeRetainedValue().run()
            return nil
        }, argument)
}

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
