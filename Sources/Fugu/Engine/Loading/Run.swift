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

    /// Runs the load on this thread, for a container that is closed: nothing is kept, and what it needs is loaded for it
    /// alone.
    func runForReaderAlone(_ loader: (Container) throws -> Payload) throws -> Payload {
        let view = Container(view: self)
        family.lock.withLock { token in
            state[token].isForReaderAlone = true
            state[token].isAbandoned = true
            // Where cycles are looked for.
            family.rootState(token, of: requested)[token].loads.append(self)
        }
        let result = Result {
            try Current.run(self) { try Container.$current.withValue(view) { try loader(view) } }
        }
        let way = way
        let (inputs, rare) = family.lock.withLock { token in
            defer {
                state[token].inputs = []
                state[token].rare = nil
            }
            state[token].home = UnmanagedReference(asker)
            state[token].container = nil
            finish()
            family.existingRootState(token, of: requested)?[token].loads.remove(self)
            return (state[token].inputs, state[token].rare)
        }
        let closers = rare?.closers.count ?? 0
        for input in inputs { _ = input.provenance?.take() }
        view.answers(from: asker)
        Deferred.deliver(after: self)
        family.reports.report(Messages.loadedAfterClosing(way, closers: closers))
        return try result.get()
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
    ) -> (Waiter, Locked<LoadOutcome?>)? {
        family.lock.withLock { token in
            guard state[token].home == nil else { return nil }
            state[token].isLaunched = true
            state[token].task = task
            if isFirstWait { family.beginUnderWay(token, in: asker) }
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

/// A load that is measured.
///
/// In debug builds each load of a feature is; in others those are that somebody hears of.
struct LoadSpan: Sendable {
    private let start: ContinuousClock.Instant
    private let hub: EventHub?

    /// Outside the lock: the load begins.
    ///
    /// Nil if nobody wants to know.
    @inline(__always)
    static func begin(_ load: Load) -> LoadSpan? {
        #if DEBUG
        return load.requested.kind == .property ? nil : LoadSpan(load)
        #else
        return load.family.hasEvents && load.requested.kind != .property ? LoadSpan(load) : nil
        #endif
    }

    @inline(never)
    private init(_ load: Load) {
        var pending: PendingEvent?
        if load.family.hasEvents {
            pending = load.family.lock.withLock { token in
                load.family.state[token].eventHub.map { hub in
                    load.state[token].more().number = hub.nextLoad()
                    return load.makeEvent(token, .loadBegan, hub)
                }
            }
        }
        hub = pending?.hub
        pending?.tell()
        start = .now
    }

    var duration: Duration { .now - start }

    /// The load has ended.
    func end(
        _ token: LockToken,
        _ kind: ContainerEvent.Kind, of load: Load, _ home: Node, _ duration: Duration?,
        _ result: Result<Payload, any Error>, _ effects: inout Effects
    ) {
        guard let hub else { return }
        var pending = load.makeEvent(token, kind, hub)
        pending.event.duration = duration
        if case .failure(let error) = result { pending.event.error = error } else { pending.event.home = home.number }
        effects.add(pending)
    }
}

extension Load {
    /// Outside the lock: tells of a read that has waited for this load, which another one began.
    func tellOfWait(since start: ContinuousClock.Instant, _ waiter: (any CallFrame)?) {
        let pending: PendingEvent? = family.lock.withLock { token in
            guard let hub = family.state[token].eventHub else { return nil }
            var pending = makeEvent(token, .waited, hub)
            pending.event.neededBy = family.number(token, ofLoadAbove: waiter)
            pending.event.way = (waiter?.way ?? []) + [requested]
            pending.event.duration = pending.event.time - start
            return pending
        }
        pending?.tell()
    }

    /// Makes an event of what happens to the load.
    fileprivate func makeEvent(_ token: LockToken, _ kind: ContainerEvent.Kind, _ hub: EventHub) -> PendingEvent {
        var pending = PendingEvent(kind, requested, in: asker.number, hub)
        pending.event.load = state[token].rare?.number
        pending.event.neededBy = family.number(token, ofLoadAbove: parent)
        // It counts as finished by its end.
        pending.event.way = (parent?.way ?? []) + [requested]
        return pending
    }
}

extension Family {
    /// Returns what events call the load that needs what `frame` needs, if it is one of this family.
    fileprivate func number(_ token: LockToken, ofLoadAbove frame: (any CallFrame)?) -> UInt64? {
        let load = frame?.chain.lazy.compactMap { $0 as? Load }.first
        return load?.family === self ? load?.state[token].rare?.number : nil
    }
}

extension Task where Failure == Never {
    /// Starts a task.
    ///
    /// If it is to start at once, and the platform has that, it runs on the caller's thread until it suspends for the
    /// first time: what doesn't suspend costs no hop to another thread.
    static func start(
        atOnce: Bool, _ operation: sending @escaping @isolated(any) () async -> Success
    ) -> Task {
        guard atOnce, #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else {
            return Task(operation: operation)
        }
        return .immediate(operation: operation)
    }

    /// Starts a task that inherits nothing from its caller, otherwise the same.
    static func startDetached(
        atOnce: Bool, _ operation: sending @escaping @isolated(any) () async -> Success
    ) -> Task {
        guard atOnce, #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else {
            return .detached(operation: operation)
        }
        return .immediateDetached(operation: operation)
    }
}

extension Task<Never, Never> {
    /// Whether code isolated so runs on an actor, which is not to be held up.
    ///
    /// Not in place: the compiler (6.3.1) fails there.
    @inline(never)
    static func isOnActor(_ isolation: (any Actor)?) -> Bool { isolation != nil }
}
