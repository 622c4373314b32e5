extension Flight {
    /// Runs the load on this thread.
    ///
    /// Returns what its own asker gets.
    func run(for container: Container, _ recorder: Flight?, _ load: (Container) throws -> Payload) throws -> Payload {
        // A default reads nothing through a handle.
        let view = requested.kind == .property ? container : Container(view: self)
        let span = LoadSpan.begin(self)
        let result = Result {
            try Current.run(self) {
                if view === container { return try load(view) }
                return try Container.$current.withValue(view) { try load(view) }
            }
        }
        let (given, home) = end(with: result, recorder, span)
        if view !== container { view.answers(from: home) }
        Deferred.deliver(after: self)
        return try given.get()
    }

    /// Begins the load in a task of its own, which keeps the container that was asked.
    ///
    /// What doesn't suspend is done when this returns.
    ///
    /// `mayRunHere`: Whether the load may run on this thread until it suspends. Each load that needs another one
    /// takes a part of the stack then, so a long way of loads changes threads from time to time.
    func start(
        for container: Container, _ recorder: Flight?, _ mayRunHere: Bool,
        _ load: @escaping @Sendable (Container) async throws -> Payload
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
                        try await Container.$current.withValue(view) { try await load(view) }
                    })
            } catch {
                result = .failure(error)
            }
            // Who has joined its own load reads what it gave by itself, later.
            let isAwaited = family.lock.withLock { facts.value.isLaunched }
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
    ) -> (Waiter, Landing)? {
        family.lock.withLock {
            guard facts.value.home == nil else { return nil }
            facts.value.isLaunched = true
            facts.value.task = task
            if isFirstWait { asker.beginUnderWay() }
            let waiter = Waiter.task(TaskWaiter())
            return (waiter, join(waiter))
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
        family.lock.withLock { facts.value.task }?.escalatePriority(to: priority)
    }

    /// Lets one go who does not wait any longer.
    ///
    /// When the last one has left, the load is cancelled, and who comes then begins a new one.
    private func leave(_ waiter: TaskWaiter) {
        let task: Task<Result<Payload, any Error>, Never>? = family.lock.withLock {
            guard facts.value.home == nil else { return nil }
            let rare = facts.value.more()
            rare.waiters.remove(waiter)
            // Whoever began it has not joined yet if it is not launched.
            guard rare.waiters.isEmpty, facts.value.isLaunched else { return nil }
            facts.value.isAbandoned = true
            family.loads(of: requested).value.flights.withdraw(self)
            return facts.value.task
        }
        task?.cancel()
    }
}
