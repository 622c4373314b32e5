import Fugu
import Synchronization

/// The observers of a family's events, which are made of its facts.
final class EventObservers: FactSink {
    /// The observers in the order in which they began, and those among them that have ended: each is left out as soon as half have.
    private let all = Locked<(observers: [EventObserver], ended: Set<ObjectIdentifier>)>(([], []))
    private let lastNumber = Atomic<UInt64>(0)
    private let lastLoad = Atomic<UInt64>(0)

    fileprivate var isEmpty: Bool { all.withLock { $0.observers.count == $0.ended.count } }

    fileprivate func add(_ observer: EventObserver) { all.withLock { $0.observers.append(observer) } }

    /// Removes an observer, which ends once.
    fileprivate func remove(_ observer: EventObserver) {
        all.withLock { all in
            all.ended.insert(ObjectIdentifier(observer))
            if 2 * all.ended.count < all.observers.count { return }
            all.observers.removeAll { all.ended.contains(ObjectIdentifier($0)) }
            all.ended = []
        }
    }

    /// Whether the running code is part of an observer of events.
    @TaskLocal private static var isHearing = false

    /// Outside every lock: reports an event to observers, whose calls are part of no load and cause no events.
    fileprivate func tell(_ event: ContainerEvent) {
        if Self.isHearing { return }
        // A copy, not the list itself, which later changes alter in place.
        let observers = all.withLock { $0.observers.map(\.self) }
        Self.$isHearing.withValue(true) {
            Context.run(nil, nil) { for observer in observers { observer.hear(event) } }
        }
    }
}

extension EventObservers {
    /// Makes an event of a fact.
    func hear(_ token: LockToken, _ fact: Fact, _ effects: inout Effects) {
        switch fact {
        case .wrote(let write, _, let isNew):
            let kind: ContainerEvent.Kind =
                switch write.setting {
                case _ where write.origin == .source: .supplied
                case _ where isNew: .overridden
                case .value: .set
                case .loader, .mistake: .replaced
                case .nothing: .reset
                }
            add(token, kind, write.key, write.node, &effects)
        case .dropped(let key, let node): add(token, .dropped, key, node, &effects)
        case .began(let load):
            if load.key.kind == .property { return }
            load.mark(token, lastLoad.add(1, ordering: .relaxed).newValue)
            effects.add(event(token, .loadBegan, of: load))
        case .ended(let outcome, let end, let error):
            // A load that began before anybody observed is no event.
            guard let mark = outcome.load.mark(token), mark.number > 0 else { return }
            let kind: ContainerEvent.Kind =
                switch end {
                case .kept(let cell): cell.loadCount(token) > 1 ? .reloaded : .loaded
                case .overtaken: .overtaken
                case .notKept: .notKept
                case .failed: .failed
                }
            var pending = event(token, kind, of: outcome.load)
            pending.event.duration = pending.event.moment - mark.start
            if let error { pending.event.error = error } else { pending.event.home = outcome.home.number }
            effects.add(pending)
        case .waited(let load, let waiter, let start):
            if load.key.kind == .property { return }
            var pending = event(token, .waited, of: load)
            pending.event.neededBy = number(token, ofLoadAround: waiter, in: load.family)
            pending.event.way = (waiter?.way ?? []) + [load.key]
            pending.event.duration = pending.event.moment - start
            effects.add(pending)
        case .closed(let key, let node, let start, let error):
            var pending = PendingEvent(.closed, key, in: node.number, self, number())
            pending.event.duration = pending.event.moment - start
            pending.event.error = error
            effects.add(pending)
        }
    }

    private func number() -> UInt64 { lastNumber.add(1, ordering: .relaxed).newValue }

    private func add(
        _ token: LockToken, _ kind: ContainerEvent.Kind, _ key: Key, _ node: Node, _ effects: inout Effects
    ) {
        effects.add(PendingEvent(kind, key, in: node.number, self, number()))
        // The next write of the key must become an event, too.
        node.cell(token, key)?.mark(CellFlags.input)
    }

    /// Creates an event of a load.
    private func event(_ token: LockToken, _ kind: ContainerEvent.Kind, of load: Load) -> PendingEvent {
        var pending = PendingEvent(kind, load.key, in: load.node.number, self, number())
        pending.event.load = number(token, of: load)
        pending.event.neededBy = number(token, ofLoadAround: load.parent, in: load.family)
        pending.event.way = load.way
        return pending
    }

    /// Returns the number in events of the load that some work is part of, if that load is in the family.
    private func number(_ token: LockToken, ofLoadAround work: Work?, in family: Family) -> UInt64? {
        guard let load = work?.chain.lazy.compactMap(\.load).first else { return nil }
        return load.family === family ? number(token, of: load) : nil
    }

    /// Returns the number of a load in events, if it has one.
    private func number(_ token: LockToken, of load: Load) -> UInt64? {
        load.mark(token).flatMap { $0.number > 0 ? $0.number : nil }
    }
}

/// An observer of events.
final class EventObserver: Cancelling {
    /// The state of an observer, which the family keeps: a token keeps no container.
    private struct State {
        // In a struct, because a closure that is itself a generic value is wrapped once more at each access.
        var call: (@Sendable (ContainerEvent) -> Void)?
    }
    private let state: Locked<State>
    private weak let family: Family?

    /// Begins to observe the events of a node's family.
    init(in node: Node, _ handler: @escaping @Sendable (ContainerEvent) -> Void) {
        family = node.family
        state = Locked(State(call: handler))
        var garbage = Garbage()
        node.family.lock.withLock { token in node.family.observers(token, in: node, &garbage).add(self) }
        garbage.dispose()
    }

    fileprivate func hear(_ event: ContainerEvent) { state.withLock { $0.call }?(event) }

    func cancel() {
        // Released outside the locks.
        let dropped = state.withLock { state in
            defer { state.call = nil }
            return state.call
        }
        if dropped != nil { family?.forget(self) }
    }
}

extension Family {
    /// Returns the observers, and lets facts be heard if nobody has listened.
    ///
    /// Existing values are then written on the slow path, which says so.
    ///
    /// - `node`: Any node of the family.
    fileprivate func observers(_ token: LockToken, in node: Node, _ garbage: inout Garbage) -> EventObservers {
        if let known = sink(token) as? EventObservers { return known }
        let observers = EventObservers()
        setSink(token, observers, &garbage)
        for node in node.ancestor(at: 0).subtree(token) {
            for cell in node.storage.cells(token) { cell.mark(CellFlags.input) }
        }
        return observers
    }

    fileprivate func forget(_ observer: EventObserver) {
        var garbage = Garbage()
        lock.withLock { token in
            guard let observers = sink(token) as? EventObservers else { return }
            observers.remove(observer)
            if observers.isEmpty { setSink(token, nil, &garbage) }
        }
        garbage.dispose()
    }
}

/// An event, recorded under the lock and reported outside it.
private struct PendingEvent: News {
    let observers: EventObservers
    var event: ContainerEvent

    init(
        _ kind: ContainerEvent.Kind, _ key: Key?, in container: Int, _ observers: EventObservers, _ number: UInt64
    ) {
        self.observers = observers
        event = ContainerEvent(kind, number, key, in: container)
    }

    func tell() { observers.tell(event) }
}
