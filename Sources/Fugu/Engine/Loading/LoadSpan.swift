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

/// A read that waits for a load which another one has begun, if somebody hears of it.
struct WaitSpan: Sendable {
    private let load: Load
    private let waiter: (any CallFrame)?
    private let start: ContinuousClock.Instant

    @inline(__always)
    static func begin(waitingFor load: Load, _ waiter: (any CallFrame)?) -> WaitSpan? {
        load.family.hasEvents ? WaitSpan(load, waiter) : nil
    }

    private init(_ load: Load, _ waiter: (any CallFrame)?) {
        self.load = load
        self.waiter = waiter
        start = .now
    }

    /// Outside the lock.
    func end() {
        let pending: PendingEvent? = load.family.lock.withLock { token in
            guard let hub = load.family.state[token].eventHub else { return nil }
            var pending = load.makeEvent(token, .waited, hub)
            pending.event.neededBy = load.family.number(token, ofLoadAbove: waiter)
            pending.event.way = (waiter?.way ?? []) + [load.requested]
            pending.event.duration = pending.event.time - start
            return pending
        }
        pending?.tell()
    }
}

extension Load {
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
