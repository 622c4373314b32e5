// Threads and tasks that wait.

/// A thread or task that waits, until it's woken or, if it's a task that allows this, canceled.
final class Waiter: WordIdentifier {
    private enum State {
        case idle
        case blocked(Signal)
        case suspended(CheckedContinuation<Void, any Error>)
        case released((any Error)?)
    }
    private let state = Locked(State.idle)
    /// The load that another read has begun, if a read waits for one.
    let load: Load?
    /// The work that needs that load.
    let reader: Work?

    @inline(never) init(for load: Load? = nil, by reader: Work? = nil) {
        self.load = load
        self.reader = reader
    }

    func wake() { release(with: nil) }

    /// Ends the wait, which throws the error if there is one.
    @inline(never) func release(with error: (any Error)?) {
        let former = state.withLock { state in
            let former = state
            if case .released = former { return former }
            state = .released(error)
            return former
        }
        switch former {
        case .idle, .released: return
        case .blocked(let signal): signal.raise()
        case .suspended(let continuation):
            if let error { continuation.resume(throwing: error) } else { continuation.resume() }
        }
    }

    /// Blocks the thread until woken.
    @inline(never) func block() {
        let signal = state.withLock { state -> Signal? in
            if case .released = state { return nil }
            let signal = Signal()
            state = .blocked(signal)
            return signal
        }
        signal?.wait()
    }

    /// Returns when woken, or throws `CancellationError` if the task is canceled first, after calling `onCancel`.
    func wait(onCancel: @escaping @Sendable () -> Void) async throws {
        try await withTaskCancellationHandler {
            try await suspend()
        } onCancel: {
            onCancel()
            release(with: CancellationError())
        }
    }

    /// Returns when woken, even if the task is canceled.
    func wait() async { try? await suspend() }

    /// Returns when woken, or throws the error with which it was released, even if the task is canceled.
    @inline(never) func suspend() async throws {
        try await withCheckedThrowingContinuation { continuation in
            let (isReleased, error) = state.withLock { state -> (Bool, (any Error)?) in
                if case .released(let error) = state { return (true, error) }
                state = .suspended(continuation)
                return (false, nil)
            }
            if let error { continuation.resume(throwing: error) } else if isReleased { continuation.resume() }
        }
    }
}

/// The waits between works, for all families, because a load of one may need another's.
enum Waits {
    /// The waits of each work, its own and those of works that it needs.
    private static let all = Locked<[ObjectIdentifier: SparseList<Waiter>]>([:])

    /// Records a wait that's about to begin, unless it would close a circle of waits.
    ///
    /// - Returns: The circle, or `nil` if there is none. Each work needs the next one; the last, the waiter's, would wait for the first.
    @inline(never) static func add(_ waiter: Waiter) -> [Work]? {
        guard let reader = waiter.reader, let target = waiter.load?.work else { return nil }
        let above = ObjectSet(Array(reader.chain))
        return all.withLock { all in
            // The works for which the target waits, each with the wait that leads there and the place of the work that it's for.
            var found: [(work: Work, wait: Waiter?, former: Int)] = [(target, nil, 0)]
            var seen = ObjectSet([target])
            var index = 0
            while index < found.count {
                if above.contains(found[index].work) {
                    var circle = way(from: found[index].work, to: reader)
                    while let wait = found[index].wait {
                        index = found[index].former
                        circle = way(from: found[index].work, to: wait.reader!) + circle
                    }
                    return circle
                }
                for wait in all[ObjectIdentifier(found[index].work)]?.slots ?? [] {
                    guard let wait, seen.insert(wait.load!.work) else { continue }
                    found.append((wait.load!.work, wait, index))
                }
                index += 1
            }
            for work in reader.chain { all[ObjectIdentifier(work), default: SparseList()].append(waiter) }
            return nil
        }
    }

    /// Returns the works from one to another that it needs.
    private static func way(from first: Work, to last: Work) -> [Work] {
        [first] + last.chain.prefix { $0 !== first }.reversed()
    }

    @inline(never) static func remove(_ waiter: Waiter) {
        guard let reader = waiter.reader else { return }
        // The caller keeps the waiter, so nothing is released under the lock.
        all.withLock { all in
            // All parents, because one may have ended since `add`.
            for work in sequence(first: reader, next: { $0.parent }) {
                let id = ObjectIdentifier(work)
                all[id]?.remove(waiter)
                if all[id]?.count == 0 { all[id] = nil }
            }
        }
    }
}
