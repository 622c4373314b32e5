#if canImport(Glibc)
import Fugu
import Glibc
import Synchronization

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
