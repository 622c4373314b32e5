extension Load {
    /// Runs the load on this thread.
    ///
    /// Returns what its own asker gets.
    func run(for container: Container, _ recorder: Load?, _ loader: (Container) throws -> Payload) throws -> Payload {
        // A default reads nothing through a handle.
        let view = requested.kind == .property ? container : Container(view: self)
        let span = LoadSpan.begin(self)
        let result = Result {
            try Current.run(self) {
                if view === container { return try loader(view) }
                return try Container.$current.withValue(view) { try loader(view) }
            }
        }
        let (given, home) = end(with: result, recorder, span)
        if view !== container { view.answers(from: home) }
        Deferred.deliver(after: self)
        return try given.get()
    }

    /// Begins the load in a task of its own, which keeps the container that was asked.
    ///
    /// If it may run here, and the platform has that, what doesn't suspend is done when this returns.
    ///
    /// `mayRunHere`: Whether the load may run on this thread until it suspends. Each load that needs another one
    /// takes a part of the stack then, so a long way of loads changes threads from time to time.
    func start(
        for container: Container, _ recorder: Load?, _ mayRunHere: Bool,
        _ loader: @escaping @Sendable (Container) async throws -> Payload
    ) -> Task<Result<Payload, any Error>, Never> {
        Task.start(atOnce: mayRunHere) { [self] in
            let view = Container(view: self)
            let span = LoadSpan.begin(self)
            let result: Result<Payload, any Error>
            do {
                // Whom all have left before it began does not begin: another load may be under way by now.
                try Task.checkCancellation()
                result = .success(
                    try await Current.run(self) {
                        try await Container.$current.withValue(view) { try await loader(view) }
                    })
            } catch {
                result = .failure(error)
            }
            // A reader that has joined its own load looks again later, and records the read then.
            let isAwaited = family.lock.withLock { token in state[token].isLaunched }
            let (given, home) = end(with: result, isAwaited ? nil : recorder, span)
            view.answers(from: home)
            Deferred.deliver(after: self)
            withExtendedLifetime(container) {}
            return given
        }
    }

    /// Lets whoever began the load wait for it, unless it has ended.
    func join(
        _ task: Task<Result<Payload, any Error>, Never>, isFirstWait: Bool
    ) -> (Waiter, PendingOutcome)? {
        family.lock.withLock { token in
            guard state[token].home == nil else { return nil }
            state[token].isLaunched = true
            state[token].task = task
            if isFirstWait { asker.beginUnderWay(token) }
            let waiter = Waiter.task(TaskWaiter())
            return (waiter, join(token, waiter))
        }
    }

    /// Returns when the load has ended.
    ///
    /// - Throws: `CancellationError` if the task that waits is cancelled first.
    func await(_ waiter: Waiter) async throws {
        guard case .task(let waiter) = waiter else { return }
        escalate(to: Task.currentPriority)
        try await waiter.wait { [self] in leave(waiter) }
    }

    private func escalate(to priority: TaskPriority) {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
        family.lock.withLock { token in state[token].task }?.escalatePriority(to: priority)
    }

    /// Lets a task go that does not wait any longer.
    ///
    /// When the last one has left, the load is cancelled, and the next reader begins a new one.
    private func leave(_ waiter: TaskWaiter) {
        let task: Task<Result<Payload, any Error>, Never>? = family.lock.withLock { token in
            guard state[token].home == nil else { return nil }
            let rare = state[token].more()
            rare.waiters.remove(waiter)
            // Whoever began it has not joined yet if it is not launched.
            guard rare.waiters.isEmpty, state[token].isLaunched else { return nil }
            state[token].isAbandoned = true
            family.rootState(token, of: requested)[token].loads.withdraw(self)
            return state[token].task
        }
        task?.cancel()
    }
}
