extension Node {
    /// Gives the value of an async key for this node, loading it in a task of its own if need be.
    func resolveAsync(
        _ request: Request, for container: Container, recorder: Flight?,
        load: @escaping @Sendable (Container) async throws -> Payload
    ) async throws -> Payload {
        let hasActor = Task.isOnActor(#isolation)
        prepareScopes()
        // Who is cancelled begins nothing. Otherwise cancelled loads of a cycle would begin one another for ever.
        if Task.isCancelled { return try answerCancelled(request, recorder) }
        var need: Need?
        var shared: Payload?
        var awaited: (flight: Flight, landing: Landing)?
        defer {
            if awaited != nil {
                awaited = nil
                endWaiting()
            }
        }
        while true {
            let isFirst = need == nil
            let decision = family.lock.withLock {
                decide(request, for: container, recorder, &need, after: awaited?.landing, isTask: true)
            }
            let parent = need?.activity
            if isFirst { reportUnrecorded(request.key, parent, recorder) }
            switch decision {
            case .found(let payload): return payload
            case .failed(let error):
                if let parent, let awaited { parent.needFailed(awaited.flight.failedWay(error), error) }
                throw error
            case .ended: throw LoadError.ended(request.key)
            case .refused: throw refusal(of: request.key, parent)
            case .faulty(let fault): throw error(of: fault, request.key)
            case .external(let strictness): return try refuse(request, by: strictness, recorder, parent)
            case .ask(let question): ask(question)
            case .shared(let root):
                if let shared { return shared }
                shared = try await root.resolveAsync(request, for: container.root, recorder: recorder, load: load)
            case .wait(let flight, let waiter, let landing):
                need?.hasBegun = false
                awaited = (flight, landing)
                try await flight.await(waiter, parent)
            case .start(let flight, let replacement):
                need?.hasBegun = true
                // A load must not hold up the actor of its reader.
                let mayRunHere = !hasActor && !flight.standing.level.isMultiple(of: 16)
                let task = flight.start(for: container, recorder, mayRunHere, replacement?.loadAsync ?? load)
                guard let (waiter, landing) = flight.join(task, isFirstWait: awaited == nil) else {
                    return try (await task.value).get()
                }
                awaited = (flight, landing)
                try await flight.await(waiter, nil)
            }
        }
    }
}

extension Node {
    /// Answers a reader whose task has been cancelled: with what is there.
    private func answerCancelled(_ request: Request, _ recorder: Flight?) throws -> Payload {
        if let present = presentAfterAsking(request.key, recorder) { return present }
        if let fault = family.lock.withLock({ need(request.key, through: recorder).fault }) {
            throw error(of: fault, request.key)
        }
        throw CancellationError()
    }
}

extension Flight {
    /// Begins the load in a task of its own, which keeps the container that was asked. What doesn't suspend is done when
    /// this returns.
    ///
    /// - Parameter mayRunHere: Whether the load may run on this thread until it suspends. Each load that needs another one
    ///   takes a part of the stack then, so a long way of loads changes threads from time to time.
    fileprivate func start(
        for container: Container, _ recorder: Flight?, _ mayRunHere: Bool,
        _ load: @escaping @Sendable (Container) async throws -> Payload
    ) -> Task<Result<Payload, any Error>, Never> {
        Task.start(atOnce: mayRunHere) { [self] in
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
            // Who has joined its own load reads what it gave by itself, later.
            let isAwaited = family.lock.withLock { facts.value.isLaunched }
            let (given, home) = end(with: result, isAwaited ? nil : recorder)
            view.answers(from: home)
            Deferred.deliver(after: self)
            withExtendedLifetime(container) {}
            return given
        }
    }

    /// Lets whoever began the load wait for it, unless it has ended.
    fileprivate func join(
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

    fileprivate func await(_ waiter: Waiter, _ parent: (any Activity)?) async throws {
        guard case .task(let waiter) = waiter else { return }
        defer { WaitGraph.remove(parent, waitingFor: self) }
        escalate(to: Task.currentPriority)
        try await waiter.wait { [self] in leave(waiter) }
    }

    private func escalate(to priority: TaskPriority) {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
        family.lock.withLock { facts.value.task }?.escalatePriority(to: priority)
    }

    /// Lets one go who does not wait any longer. When the last one has left, the load is cancelled, and who comes then
    /// begins a new one.
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
