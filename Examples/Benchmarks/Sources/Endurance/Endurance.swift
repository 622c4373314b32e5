import CHeap
import Dispatch
import Fugu
import FuguConfiguration
import Synchronization

#if canImport(Glibc)
import Glibc
#endif

/// Runs for a long time what tests run briefly: `Endurance stress [SECONDS]` or `Endurance soak [REQUESTS] [RELOADS]`.
///
/// `taskset --cpu-list 0 Endurance priorities` writes at a real-time priority, as root on Linux.
@main struct Endurance {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        let numbers = arguments.dropFirst().compactMap { Double($0) }
        let problems: [String]
        switch arguments.first {
        case "stress": problems = try await Stress(seconds: numbers.first ?? 60).run()
        case "soak":
            problems = try await Soak(
                requests: Int(numbers.first ?? 1_000_000), reloads: Int(numbers.dropFirst().first ?? 10_000)
            ).run()
        #if canImport(Glibc)
        case "priorities": problems = Priorities().run()
        #endif
        default: fatalError("usage: Endurance stress [SECONDS] | soak [REQUESTS] [RELOADS] | priorities")
        }
        guard problems.isEmpty else { fatalError(problems.joined(separator: "; ")) }
        print("no problems found")
    }
}

extension ContainerKeys {
    var limit: PropertyKey<Int> { .init("limit", defaultValue: 0) }
    var requestNumber: PropertyKey<Int> { .init(defaultValue: 0) }
}

enum Pool: Feature {
    static let reloadsWhenInputsChange = true
    static func load(in container: any FeatureContainer) -> Counted { Counted(container.limit) }
}

enum Handler: Feature {
    static func load(in container: any FeatureContainer) -> Counted {
        _ = container[Pool.self]
        return Counted(container.requestNumber)
    }
}

/// Simulates the life of a server: requests with their own containers, and a configuration that is reloaded again and
/// again.
struct Soak {
    let requests: Int
    let reloads: Int

    /// Prints the memory in use after a tenth, half, and all of the work.
    ///
    /// Returns the problems.
    func run() async throws -> [String] {
        let root = Container()
        let source = MutableSource(["limit": 1], name: "flags")
        try root.apply(source)
        root.observe(\.limit) { _ in }
        let batch = max(1, requests / reloads)
        var levels: [UInt] = []
        for number in 0..<reloads {
            source["limit"] = .integer(Int128(number))
            try root.reload()
            for request in 0..<batch {
                let child = root.child { $0.requestNumber = request }
                let seen = child[Handler.self].number
                precondition(seen == request && child[Pool.self].number == number)
                if request % 100 == 0 {
                    try await root.withChild {
                        $0.requestNumber = request
                    } operation: { container in
                        container.onClose { Tally.closed.add(1, ordering: .relaxed) }
                        _ = container[Handler.self]
                    }
                }
            }
            if [reloads / 10, reloads / 2, reloads - 1].contains(number) {
                levels.append(UInt(heap_bytes_in_use()))
                print("after \((number + 1) * batch) requests and \(number + 1) reloads: \(levels.last! >> 10) KB")
            }
        }
        let growth = Int(levels.last!) - Int(levels.first!)
        return growth > 1 << 20 ? ["\(growth) bytes more at the end than after a tenth"] : []
    }
}

/// The counts of a run, which must add up at its end.
enum Tally {
    static let made = Atomic(0)
    static let gone = Atomic(0)
    static let opened = Atomic(0)
    static let closed = Atomic(0)
    static let delivered = Atomic(0)
    static let steps = Atomic(0)
}

/// An object whose creation and release are counted.
final class Counted: Sendable {
    let number: Int

    init(_ number: Int) {
        self.number = number
        Tally.made.add(1, ordering: .relaxed)
    }

    deinit { Tally.gone.add(1, ordering: .relaxed) }
}

enum Setting: Property { static let defaultValue = 0 }
enum Counter: Property { static let defaultValue = 0 }

enum Plain: Feature {
    static func load(in container: any FeatureContainer) -> Counted { Counted(container[Setting.self]) }
}

enum Following: Feature {
    static let reloadsWhenInputsChange = true
    static func load(in container: any FeatureContainer) -> Counted { Counted(container[Plain.self].number) }
}

enum Connection: AsyncFeature {
    static func load(in container: any FeatureContainer) async throws -> Counted {
        Tally.opened.add(1, ordering: .relaxed)
        container.onClose { Tally.closed.add(1, ordering: .relaxed) }
        await Task.yield()
        if container[Setting.self] % 97 == 96 { throw Failure() }
        return Counted(container[Setting.self])
    }

    struct Failure: Error {}
}

/// Runs 16 threads and 1,000 tasks on one family, and watches that all of them make progress.
struct Stress {
    let seconds: Double
    private let root = Container()
    private let end: ContinuousClock.Instant
    private let middle: Container

    init(seconds: Double) {
        self.seconds = seconds
        end = .now + .seconds(seconds)
        middle = root.child()
    }

    /// Returns the problems.
    func run() async throws -> [String] {
        let last = Mutex(0)
        let token = root.observe(Counter.self) { value in
            Tally.delivered.add(1, ordering: .relaxed)
            last.withLock { $0 = value }
        }
        let watch = Watch(limit: 20)
        let threads = (0..<16).map { number in
            let done = DispatchSemaphore(value: 0)
            let beat = watch.beat()
            DispatchQueue(label: "stress \(number)").async {
                var random = SystemRandomNumberGenerator()
                while ContinuousClock.now < end {
                    for _ in 0..<100 { step(&random) }
                    beat()
                }
                watch.isDone(beat)
                done.signal()
            }
            return done
        }
        await withTaskGroup { group in
            for _ in 0..<1_000 {
                group.addTask {
                    while ContinuousClock.now < end {
                        await visit()
                        Tally.steps.add(1, ordering: .relaxed)
                    }
                }
            }
        }
        for thread in threads { wait(for: thread) }
        try await root.close()
        _ = token
        return problems(counted: root[Counter.self], last: last.withLock { $0 })
    }

    private func wait(for thread: DispatchSemaphore) { thread.wait() }

    private func step(_ random: inout SystemRandomNumberGenerator) {
        let container = Bool.random(using: &random) ? root : middle
        switch Int.random(in: 0..<20, using: &random) {
        case 0: container[Setting.self] = Int.random(in: 0..<1_000, using: &random)
        case 1: middle.reset(Setting.self)
        case 2: container.reset(Plain.self)
        case 3: container[Plain.self] = Counted(1)
        case 4: container.replace(Plain.self) { Counted($0[Setting.self] + 1) }
        case 5: container.update { $0[Setting.self] = $0[Setting.self] + 1 }
        case 6, 7: root.modify(Counter.self) { $0 += 1 }
        case 8: container.observe(Following.self) { _ in }.cancel()
        case 9:
            let child = container.child { $0[Setting.self] = 5 }
            _ = child[Following.self]
        default: precondition(container[Following.self].number >= 0 && container[Plain.self].number >= 0)
        }
        Tally.steps.add(1, ordering: .relaxed)
    }

    /// A request that loads a connection or shares the family's, and is sometimes canceled halfway.
    private func visit() async {
        let parent = Bool.random() ? root : middle
        let task = Task {
            try await parent.withChild {
                if Bool.random() { $0[Setting.self] = Int.random(in: 0..<1_000) }
            } operation: {
                _ = try await $0[Connection.self]
                _ = $0[Following.self]
            }
        }
        if Int.random(in: 0..<10) == 0 { task.cancel() }
        _ = await task.result
    }

    private func problems(counted: Int, last: Int) -> [String] {
        let (made, gone) = (
            Tally.made.load(ordering: .sequentiallyConsistent), Tally.gone.load(ordering: .sequentiallyConsistent)
        )
        let (opened, closed) = (
            Tally.opened.load(ordering: .sequentiallyConsistent), Tally.closed.load(ordering: .sequentiallyConsistent)
        )
        let steps = Tally.steps.load(ordering: .relaxed)
        print(
            "\(steps) steps, \(made) instances created, \(opened) opened, \(counted) counted, \(Tally.delivered.load(ordering: .relaxed)) delivered"
        )
        var problems: [String] = []
        // Values that were set stay until the root is released.
        if made - gone > 2 { problems.append("\(made - gone) instances were never released") }
        if opened != closed { problems.append("\(opened) were opened and \(closed) closed") }
        if last != counted { problems.append("the last delivery was \(last) instead of \(counted)") }
        if Tally.delivered.load(ordering: .sequentiallyConsistent) > counted {
            problems.append("there were more deliveries than changes")
        }
        return problems
    }
}

/// Stops the program if a thread makes no progress.
final class Watch: Sendable {
    private let beats = Mutex<[ObjectIdentifier: ContinuousClock.Instant]>([:])
    private let limit: Double

    init(limit: Double) {
        self.limit = limit
        look()
    }

    /// Returns a heartbeat to watch until its thread is done.
    func beat() -> Beat { Beat(self) }

    func isDone(_ beat: Beat) { _ = beats.withLock { $0.removeValue(forKey: ObjectIdentifier(beat)) } }

    private func look() {
        DispatchQueue.global().asyncAfter(deadline: .now() + 1) { [weak self] in
            guard let self else { return }
            let oldest = beats.withLock { $0.values.min() }
            if let oldest, ContinuousClock.now - oldest > .seconds(limit) {
                fatalError("a thread has made no progress for \(limit) s")
            }
            look()
        }
    }

    final class Beat: Sendable {
        private let watch: Watch
        fileprivate init(_ watch: Watch) { self.watch = watch }
        func callAsFunction() { watch.beats.withLock { $0[ObjectIdentifier(self)] = .now } }
    }
}

#if canImport(Glibc)
/// Writes at a real-time priority while readers of lower priority share the processor, to which the caller binds the process.
///
/// A writer that interrupts a reader can release the old value only after that reader has run again. With strict priorities, the
/// system doesn't let it run while the writer is busy.
struct Priorities {
    var writes = 2_000

    /// A value that doesn't fit a word, so that readers announce themselves.
    enum Names: Property {
        static let defaultValue = ["first"]
    }

    func run() -> [String] {
        let container = Container()
        let isDone = Atomic(false)
        return withExtendedLifetime(container) {
            var readers: [pthread_t] = []
            for _ in 0..<2 {
                readers.append(
                    startThread {
                        while !isDone.load(ordering: .relaxed) { _ = container[Names.self].count }
                    })
            }
            defer {
                isDone.store(true, ordering: .relaxed)
                for reader in readers { pthread_join(reader, nil) }
            }
            var real = sched_param(sched_priority: 50)
            guard pthread_setschedparam(pthread_self(), SCHED_FIFO, &real) == 0 else {
                print("real-time priorities need the rights of root: skipped")
                return []
            }
            let clock = ContinuousClock()
            var (longest, total) = (Duration.zero, Duration.zero)
            for index in 0..<writes {
                usleep(100)
                let taken = clock.measure { container[Names.self] = ["\(index)"] }
                total += taken
                longest = max(longest, taken)
            }
            print("\(writes) writes took \(total), the longest \(longest)")
            return longest > .milliseconds(100) ? ["a write took \(longest)"] : []
        }
    }

    private func startThread(_ body: @escaping () -> Void) -> pthread_t {
        final class Work {
            let body: () -> Void
            init(_ body: @escaping () -> Void) { self.body = body }
        }
        var thread = pthread_t()
        pthread_create(
            &thread, nil,
            { work in
                Unmanaged<Work>.fromOpaque(work!).takeRetainedValue().body()
                return nil
            }, Unmanaged.passRetained(Work(body)).toOpaque())
        return thread
    }
}
#endif
