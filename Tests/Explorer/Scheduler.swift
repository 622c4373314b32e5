import Fugu
import Glibc

/// Lets exactly one thread run at a time and decides which: at each acquisition of a lock, at each wait, and where user
/// code says so.
///
/// Unchecked, since whoever runs has the turn, which is handed on by semaphores.
final class Scheduler: @unchecked Sendable {
    /// What takes turns: an actor of the world, or a job of a task.
    final class Fiber {
        enum State {
            case ready, ended
            /// Lets others go first.
            case yielding
            case waiting(() -> Bool)
        }
        let name: String
        let body: () -> Void
        var state = State.ready
        var locks = 0
        var worker: Worker?

        init(_ name: String, _ body: @escaping () -> Void) {
            self.name = name
            self.body = body
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
    private var idle: [Worker] = []
    private let end = Turn()
    private(set) var schedule = Schedule()
    /// Whether threads change at locks too, or only where user code runs.
    private var isFine = true
    private(set) var failure: String?
    private var arrivals = 0

    /// Runs fibers to their end, in the order that `schedule` says; returns what went wrong.
    func run(_ bodies: [(String, () -> Void)], following schedule: Schedule, isFine: Bool) -> String? {
        self.schedule = schedule
        self.schedule.rewind()
        self.isFine = isFine
        failure = nil
        arrivals = 0
        fibers = bodies.map { Fiber($0.0, $0.1) }
        guard let first = choose() else { return nil }
        go(on: first)
        end.take()
        fibers = []
        current = nil
        return failure
    }

    var isRunning: Bool { current != nil }

    /// Adds what has just become able to run.
    func add(_ body: @escaping () -> Void) {
        arrivals += 1
        fibers.append(Fiber("job \(arrivals)", body))
    }

    // MARK: What the running thread says

    /// User code runs: others may come first.
    func point() {
        guard let fiber = current, fiber.locks == 0 else { return }
        handOn(from: fiber)
    }

    func willLock() {
        guard let fiber = current else { return }
        if fiber.locks == 0, isFine { handOn(from: fiber) }
        fiber.locks += 1
    }

    func didUnlock() { current?.locks -= 1 }

    /// Runs what the language's runtime calls under a lock of its own, which handlers of cancellations are: nobody else
    /// may come by meanwhile who needs that lock.
    func whole(_ body: () -> Void) {
        current?.locks += 1
        body()
        current?.locks -= 1
    }

    func yield() {
        guard let fiber = current, fiber.locks == 0 else { return }
        fiber.state = .yielding
        handOn(from: fiber)
    }

    func wait(_ isOver: @escaping () -> Bool) {
        guard let fiber = current, !isOver() else { return }
        if fiber.locks > 0 { stop("\(fiber.name) waits under a lock") }
        fiber.state = .waiting(isOver)
        handOn(from: fiber)
    }

    // MARK: Turns

    private func handOn(from fiber: Fiber) {
        guard let next = choose() else { stop("nobody can go on: \(waiting)") }
        fiber.state = next === fiber ? .ready : fiber.state
        guard next !== fiber else { return }
        let turn = fiber.worker!.turn
        go(on: next)
        turn.take()
        fiber.state = .ready
    }

    private var waiting: String {
        fibers.filter { if case .ended = $0.state { false } else { true } }.map(\.name).joined(separator: ", ")
            + " wait"
    }

    /// Who goes on, if anybody can.
    private func choose() -> Fiber? {
        var options: [Fiber] = []
        var yielding: [Fiber] = []
        var mayStay = false
        if let current, current.isEnabled {
            if case .yielding = current.state {
                yielding.append(current)
            } else {
                options.append(current)
                mayStay = true
            }
        }
        for fiber in fibers where fiber !== current && fiber.isEnabled {
            if case .yielding = fiber.state { yielding.append(fiber) } else { options.append(fiber) }
        }
        if options.isEmpty { options = yielding }
        if options.isEmpty { return nil }
        guard schedule.steps < 20_000 else { stop("it does not end: \(waiting)") }
        return options[schedule.choose(options.count, isFree: !mayStay)]
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
                fiber.body()
                fiber.state = .ended
                fibers.removeAll { $0 === fiber }
                worker.fiber = nil
                idle.append(worker)
                if let next = choose() {
                    go(on: next)
                } else if fibers.isEmpty {
                    current = nil
                    end.give()
                } else {
                    stop("nobody can go on: \(waiting)")
                }
            }
        }
        return worker
    }

    /// What is left waiting cannot be taken back: the process ends with the program that led here.
    private func stop(_ reason: String) -> Never { Report.fail(reason) }
}

/// The choices of a run: those to repeat, and those made after them.
final class Schedule {
    struct Choice {
        var taken: Int
        let count: Int
        /// Whether whoever ran could not go on, so that taking another is no preemption.
        let isFree: Bool
        /// How many preemptions came before.
        let preemptions: Int
    }
    var choices: [Choice] = []
    /// What is to be taken first, when a schedule is repeated.
    var given: [Int] = []
    /// How many preemptions there may be.
    var bound = Int.max
    /// Whether the bound left something out.
    private(set) var isCut = false
    /// Whether a run was not like the one before as far as the same was chosen.
    private(set) var hasDiverged = false
    private(set) var steps = 0
    private var position = 0
    private var preemptions = 0

    func rewind() { (position, preemptions, steps) = (0, 0, 0) }

    func choose(_ count: Int, isFree: Bool) -> Int {
        steps += 1
        if count == 1 { return 0 }
        if position == choices.count {
            let taken = position < given.count ? min(given[position], count - 1) : 0
            choices.append(Choice(taken: taken, count: count, isFree: isFree, preemptions: preemptions))
        }
        let choice = choices[position]
        if choice.count != count || choice.isFree != isFree {
            // Where addresses decide about an order, a world is not the same when it is run again.
            hasDiverged = true
            choices.removeSubrange(position...)
            choices.append(Choice(taken: 0, count: count, isFree: isFree, preemptions: preemptions))
        }
        let taken = choices[position].taken
        position += 1
        if !isFree, taken > 0 { preemptions += 1 }
        return taken
    }

    /// Goes to the next schedule; says whether there is one.
    func advance() -> Bool {
        choices.removeSubrange(position...)
        while var last = choices.popLast() {
            guard last.taken + 1 < last.count else { continue }
            guard last.isFree || last.preemptions < bound else {
                isCut = true
                continue
            }
            last.taken += 1
            choices.append(last)
            return true
        }
        return false
    }

    var text: String { choices.prefix(position).map { "\($0.taken)" }.joined(separator: ",") }
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
