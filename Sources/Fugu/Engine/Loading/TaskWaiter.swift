/// A task that waits for a load: woken by its end, or released alone when it is cancelled.
final class TaskWaiter: Sendable {
    private enum State {
        case idle
        case suspended(CheckedContinuation<Void, any Error>)
        case released(isCancelled: Bool)
    }
    private let state = Locked(State.idle)

    func wake() { release(isCancelled: false) }

    private func release(isCancelled: Bool) {
        let continuation = state.withLock { state -> CheckedContinuation<Void, any Error>? in
            switch state {
            case .released: return nil
            case .idle:
                state = .released(isCancelled: isCancelled)
                return nil
            case .suspended(let continuation):
                state = .released(isCancelled: isCancelled)
                return continuation
            }
        }
        if isCancelled { continuation?.resume(throwing: CancellationError()) } else { continuation?.resume() }
    }

    /// Returns when woken; throws `CancellationError` when its task is cancelled first, after `onCancel`.
    func wait(onCancel: @escaping @Sendable () -> Void) async throws {
        try await withTaskCancellationHandler {
            try await suspend()
        } onCancel: {
            onCancel()
            release(isCancelled: true)
        }
    }

    /// Returns when woken, whatever happens to its task.
    func wait() async { try? await suspend() }

    private func suspend() async throws {
        try await withCheckedThrowingContinuation { continuation in
            let isCancelled = state.withLock { state -> Bool? in
                if case .released(let isCancelled) = state { return isCancelled }
                state = .suspended(continuation)
                return nil
            }
            switch isCancelled {
            case true?: continuation.resume(throwing: CancellationError())
            case false?: continuation.resume()
            case nil: break
            }
        }
    }
}
