import Synchronization

/// Those who observe the events of a family.
///
/// A family has one as long as somebody does.
final class EventHub: Sendable {
    private let observers = Locked<[EventObserver]>([])
    private let lastNumber = Atomic<UInt64>(0)
    private let lastLoad = Atomic<UInt64>(0)

    func add(_ observer: EventObserver) { observers.withLock { $0.append(observer) } }

    /// Says whether nobody is left.
    func remove(_ observer: EventObserver) -> Bool {
        observers.withLock { observers in
            observers.removeAll { $0 === observer }
            return observers.isEmpty
        }
    }

    func nextNumber() -> UInt64 { lastNumber.add(1, ordering: .relaxed).newValue }
    func nextLoad() -> UInt64 { lastLoad.add(1, ordering: .relaxed).newValue }

    /// Outside every lock.
    func tell(_ event: ContainerEvent) {
        let observers = observers.withLock { $0 }
        Current.hearing { for observer in observers { observer.hear(event) } }
    }
}

/// One who hears of events.
final class EventObserver: Cancelling {
    /// The hub keeps the observer, and the family the hub: a token keeps no container.
    private struct State {
        // In a struct, since a closure that is itself a generic value is wrapped once more at each access.
        var call: (@Sendable (ContainerEvent) -> Void)?
        weak var family: Family?
    }
    private let state: Locked<State>

    /// Hears of the events of a node's family from now on.
    init(in node: Node, _ handler: @escaping @Sendable (ContainerEvent) -> Void) {
        let family = node.family
        state = Locked(State(call: handler, family: family))
        family.lock.withLock { token in family.eventHub(token, in: node).add(self) }
    }

    func hear(_ event: ContainerEvent) { state.withLock { $0.call }?(event) }

    func cancel() {
        // Released outside the locks.
        let (dropped, family) = state.withLock { state in
            defer { state.call = nil }
            return (state.call, state.family)
        }
        family?.forget(self)
        withExtendedLifetime(dropped) {}
    }
}

extension Family {
    /// Returns the hub, made if there is none: then writes of all that is set by now go the long way, which records
    /// events.
    ///
    /// - `node`: Any node of the family.
    fileprivate func eventHub(_ token: LockToken, in node: Node) -> EventHub {
        if let hub = state[token].eventHub { return hub }
        let hub = EventHub()
        setEventHub(token, hub)
        for node in node.path.first(where: { $0.isRoot })?.subtree(token) ?? [] {
            for cell in node.storage.cells(token) { cell.mark(CellFlags.special) }
        }
        return hub
    }

    fileprivate func forget(_ observer: EventObserver) {
        let dropped: EventHub? = lock.withLock { token in
            guard let hub = state[token].eventHub, hub.remove(observer) else { return nil }
            setEventHub(token, nil)
            return hub
        }
        withExtendedLifetime(dropped) {}
    }
}

/// What happened, recorded under the lock and told outside it.
struct PendingEvent: Sendable {
    let hub: EventHub
    var event: ContainerEvent

    init(_ kind: ContainerEvent.Kind, _ key: Key?, in container: Int, _ hub: EventHub) {
        self.hub = hub
        event = ContainerEvent(kind: kind, number: hub.nextNumber(), time: .now, subject: key, container: container)
    }

    func tell() { hub.tell(event) }
}

extension Change {
    /// Records an event, if anybody observes events.
    @inline(__always)
    func emit(_ token: LockToken, _ kind: @autoclosure () -> ContainerEvent.Kind, _ effects: inout Effects) {
        if node.family.hasEvents { emitSlowly(token, kind(), &effects) }
    }

    @inline(never)
    private func emitSlowly(_ token: LockToken, _ kind: ContainerEvent.Kind, _ effects: inout Effects) {
        guard let hub = node.family.state[token].eventHub else { return }
        effects.add(PendingEvent(kind, key, in: node.number, hub))
        // The next write of the key takes this way, too.
        cell.mark(CellFlags.special)
    }
}

extension Family {
    /// The time, if somebody observes events.
    var timeIfObserved: ContinuousClock.Instant? { hasEvents ? .now : nil }

    /// Outside the lock: tells that a container was closed or, with a key, that an instance's closers have run.
    func tellOfClosing(
        _ key: Key?, in container: Int, since start: ContinuousClock.Instant?, _ error: (any Error)? = nil
    ) {
        guard let start, let hub = lock.withLock({ token in state[token].eventHub }) else { return }
        var pending = PendingEvent(.closed, key, in: container, hub)
        pending.event.duration = pending.event.time - start
        pending.event.error = error
        pending.tell()
    }
}
