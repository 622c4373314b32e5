#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif
import Fugu
import Synchronization

extension Workload {
    /// Runs the workload on all its threads at the same time, `n` times on each.
    ///
    /// Fresh threads may share one core for their first milliseconds. They therefore do the same work until they have
    /// settled before the clock starts, and a thread that is done goes on until all are, so that none is measured
    /// alone.
    ///
    /// - Parameters:
    ///   - n: The number of operations on each thread.
    ///   - settling: The time before the clock starts.
    ///   - willStart: A closure that is called once, after all have settled and before any of them starts its clock.
    ///   - didEnd: A closure that is called once, on the last thread to be done with its operations.
    /// - Returns: The mean time of an operation in nanoseconds.
    public func nanosecondsTogether(
        _ n: Int, settling: Duration = .milliseconds(20), willStart: () -> Void = {}, didEnd: @escaping () -> Void = {}
    ) -> Double {
        guard case .plain(let body) = body else { fatalError("only plain workloads run on threads: \(name)") }
        let meeting = Meeting(expecting: threads)
        let jobs = (0..<threads).map { _ in
            Job {
                let settled = ContinuousClock.now + settling
                let few = max(1, n / 1_000)
                var sum = 0
                while ContinuousClock.now < settled { sum &+= body(few) }
                meeting.arrive(at: 0)
                while !meeting.isOpen(0) { sum &+= body(1) }
                let start = ContinuousClock.now
                sum &+= body(n)
                let duration = ContinuousClock.now - start
                if meeting.arrive(at: 1) == threads { didEnd() }
                while !meeting.isOpen(1) { sum &+= body(few) }
                consume(sum)
                return duration
            }
        }
        let ids = jobs.map(\.startedThread)
        meeting.wait(for: 0)
        willStart()
        meeting.open(0)
        meeting.wait(for: 1)
        meeting.open(1)
        for id in ids { pthread_join(id, nil) }
        return jobs.map(\.nanoseconds).reduce(0, +) / Double(threads * n * operations)
    }
}

/// Takes a number so that what it was made from must be computed.
@inline(never) @_optimize(none)
public func consume(_ number: Int) {}

/// Two points at which all threads wait for each other.
///
/// They spin, because waking from sleep takes longer than the measured work.
private final class Meeting: Sendable {
    private final class Counter: Sendable {
        let count = Atomic(0)
    }

    private let expected: Int
    private let arrived = [Counter(), Counter()]
    private let opened = [Counter(), Counter()]

    init(expecting expected: Int) {
        self.expected = expected
    }

    /// Returns the number of threads that have arrived, including the caller.
    @discardableResult
    func arrive(at point: Int) -> Int {
        arrived[point].count.add(1, ordering: .acquiringAndReleasing).newValue
    }

    func isOpen(_ point: Int) -> Bool {
        opened[point].count.load(ordering: .acquiring) != 0
    }

    func open(_ point: Int) {
        opened[point].count.store(1, ordering: .releasing)
    }

    /// Waits from outside until all have arrived, mostly asleep in order not to take a core from them.
    func wait(for point: Int) {
        while arrived[point].count.load(ordering: .acquiring) < expected { usleep(500) }
    }
}

/// The work of one thread, and the duration of its measured part.
///
/// It's passed through the C interface of threads, because a workload is made of user code that may hold its own lock
/// and so isn't `Sendable`; only its own thread uses it until that is joined.
private final class Job {
    private let body: () -> Duration
    private(set) var nanoseconds = 0.0

    init(_ body: @escaping () -> Duration) {
        self.body = body
    }

    var startedThread: pthread_t {
        #if canImport(Darwin)
        var id: pthread_t?
        #else
        var id = pthread_t()
        #endif
        let pointer = Unmanaged.passRetained(self).toOpaque()
        let code = pthread_create(&id, nil, runJob, pointer)
        precondition(code == 0, "can't start a thread: \(code)")
        #if canImport(Darwin)
        return id!
        #else
        return id
        #endif
    }

    func run() {
        nanoseconds = body() / .nanoseconds(1)
    }
}

#if canImport(Darwin)
private func runJob(_ pointer: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
    Unmanaged<Job>.fromOpaque(pointer).takeRetainedValue().run()
    return nil
}
#else
private func runJob(_ pointer: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let pointer { Unmanaged<Job>.fromOpaque(pointer).takeRetainedValue().run() }
    return nil
}
#endif

/// Loads that tasks wait for, compared with the minimum in the language: a task whose value is awaited.
enum Waits {
    static var rows: [Row] {
        [
            Row(cold, beside: bareTask), Row(together, beside: bareTogether),
        ]
    }

    private static let waiters = 64

    private static var cold: Workload {
        let container = Container()
        return Workload(async: "cold load of an async feature, after a reset") { n in
            var sum = 0
            for _ in 0..<n {
                container.reset(RemoteCounter.self)
                sum &+= try await container[RemoteCounter.self].value
            }
            return sum
        }
    }

    private static var bareTask: Workload {
        Workload(async: "a task that makes the same object") { n in
            var sum = 0
            for _ in 0..<n { sum &+= await Task { Number(30) }.value.value }
            return sum
        }
    }

    private static var together: Workload {
        let container = Container()
        return Workload(async: "one of \(waiters) tasks that wait for one load", operations: waiters) { n in
            try await sum(n) { door in
                container.door = door
                container.reset(Held.self)
                return { try await container[Held.self].value }
            }
        }
    }

    private static var bareTogether: Workload {
        Workload(async: "one of \(waiters) tasks that wait for one task", operations: waiters) { n in
            try await sum(n) { door in
                let task = Task {
                    await door.pass()
                    return Number(30)
                }
                return { await task.value.value }
            }
        }
    }

    /// Lets tasks read the same feature together, `n` times; the load ends when all of them are about to read.
    private static func sum(
        _ n: Int, _ prepare: (Door) -> @Sendable () async throws -> Int
    ) async throws -> Int {
        var sum = 0
        for _ in 0..<n {
            let door = Door(expecting: waiters)
            let ask = prepare(door)
            sum &+= try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<waiters {
                    group.addTask {
                        door.arrive()
                        return try await ask()
                    }
                }
                return try await group.reduce(0, &+)
            }
        }
        return sum
    }
}

/// Opens when the expected number of participants has arrived.
private final class Door: Sendable {
    private let arrivals = Atomic(0)
    private let expected: Int
    private let isClosed: AsyncStream<Never>
    private let opening: AsyncStream<Never>.Continuation

    init(expecting expected: Int) {
        self.expected = expected
        (isClosed, opening) = AsyncStream.makeStream(of: Never.self)
    }

    func arrive() {
        if arrivals.add(1, ordering: .relaxed).newValue == expected { opening.finish() }
    }

    /// Returns when the door is open.
    func pass() async {
        for await _ in isClosed {}
    }
}

extension ContainerKeys {
    fileprivate var door: PropertyKey<Door?> { .init() }
}

/// The same object as in `Counter`, from a load that waits for a door.
private enum Held: AsyncFeature {
    static func load(in container: any FeatureContainer) async throws -> Number {
        await container.door?.pass()
        return Number(container[Timeout.self])
    }
}

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
