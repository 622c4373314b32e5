/// A task that waits for a load: woken by its end, or released alone when it is cancelled.
final class TaskWaiter: Sendable {
    private enum State {
        case idle
        case suspended(CheckedContinuation<Void, any Error>)
        case released(isCancelled: Bool)
    }
    private let state = Guarded(State.idle)

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
        } onCancel: {
            onCancel()
            release(isCancelled: true)
        }
    }
}

extension Node {
    /// Gives the value of an async key for this node, loading it in a task of its own if need be.
    func resolveAsync(
        _ request: Request, for container: Container, recorder: Flight?,
        load: @escaping @Sendable (Container) async throws -> Payload
    ) async throws -> Payload {
        prepareScopes()
        if let present = presentAfterAsking(request.key, recorder) { return present }
        var need: Need? = family.lock.withLock { self.need(request.key, through: recorder) }
        let parent = need?.activity
        reportUnrecorded(request.key, parent, recorder)
        if let fault = need?.fault { throw error(of: fault) }
        // Who is cancelled begins nothing. Otherwise cancelled loads of a cycle would begin one another for ever.
        try Task.checkCancellation()
        var awaited: (flight: Flight, landing: Landing)?
        defer {
            if awaited != nil {
                awaited = nil
                endWaiting()
            }
        }
        while true {
            let waiter = TaskWaiter()
            let decision = family.lock.withLock {
                decide(request, for: container, recorder, &need, after: awaited?.landing, waiter)
            }
            switch decision {
            case .found(let payload): return payload
            case .failed(let error):
                if let parent, let awaited { parent.needFailed(awaited.flight.failedWay(error), error) }
                throw error
            case .ended: throw LoadError.ended(request.key)
            case .refused: throw refusal(of: request.key, container, parent)
            case .faulty(let fault): throw error(of: fault)
            case .external(let strictness): return try refuse(request, by: strictness, recorder, parent)
            case .ask(let question):
                ask(question)
                continue
            case .wait(let flight, _, let landing):
                awaited = (flight, landing)
            case .start(let flight, let replacement):
                if awaited == nil { family.lock.withLock { family.beginWaiting(in: self) } }
                awaited = (flight, flight.launch(for: container, waiter, parent, replacement?.loadAsync ?? load))
            }
            try await awaited?.flight.await(waiter, parent)
        }
    }
}

extension Flight {
    /// Runs the load in a task of its own, which keeps the container that was asked.
    fileprivate func launch(
        for container: Container, _ waiter: TaskWaiter, _ parent: (any Activity)?,
        _ load: @escaping @Sendable (Container) async throws -> Payload
    ) -> Landing {
        let landing = family.lock.withLock {
            _ = WaitGraph.add(parent, waitingFor: self)
            facts.value.isLaunched = true
            return join(.task(waiter))
        }
        let task = Task {
            let view = Container(view: self)
            let result: Result<Payload, any Error>
            do {
                // Whom all have left before it began does not begin: another load may be under way by now.
                try Task.checkCancellation()
                result = .success(
                    try await Current.run(self) {
                        try await Container.$current.withValue(view) { try await load(view) }
                    })
            } catch {
                result = .failure(error)
            }
            view.answers(from: end(with: result, nil).home)
            Deferred.deliver(after: self)
            withExtendedLifetime(container) {}
        }
        let isAbandoned = family.lock.withLock {
            if facts.value.home == nil { facts.value.task = task }
            return facts.value.isAbandoned
        }
        if isAbandoned { task.cancel() }
        return landing
    }

    fileprivate func await(_ waiter: TaskWaiter, _ parent: (any Activity)?) async throws {
        escalate(to: Task.currentPriority)
        defer { WaitGraph.remove(parent, waitingFor: self) }
        try await waiter.wait { [self] in leave(waiter) }
    }

    private func escalate(to priority: TaskPriority) {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
        family.lock.withLock { facts.value.task }?.escalatePriority(to: priority)
    }

    /// Lets one go who does not wait any longer. When the last one has left, the load is cancelled, and who comes then
    /// begins a new one.
    private func leave(_ waiter: TaskWaiter) {
        let task: Task<Void, Never>? = family.lock.withLock {
            guard facts.value.home == nil else { return nil }
            let rare = facts.value.more()
            rare.waiters.removeAll { if case .task(waiter) = $0 { true } else { false } }
            // Whoever began it has not joined yet if it is not launched.
            guard rare.waiters.isEmpty, facts.value.isLaunched else { return nil }
            facts.value.isAbandoned = true
            return facts.value.task
        }
        task?.cancel()
    }
}

private func ~= (pattern: TaskWaiter, value: TaskWaiter) -> Bool { pattern === value }
