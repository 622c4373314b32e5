import Synchronization

/// The observers of a family's events.
///
/// A family has one only while its events are observed.
final class EventHub: Sendable {
    private let observers = Locked(SparseList<EventObserver>())
    private let lastNumber = Atomic<UInt64>(0)
    private let lastLoad = Atomic<UInt64>(0)

    fileprivate func add(_ observer: EventObserver) { observers.withLock { $0.append(observer) } }

    /// Removes an observer, and returns whether none is left.
    fileprivate func remove(_ observer: EventObserver) -> Bool {
        observers.withLock { $0.remove(observer) && $0.isEmpty }
    }

    func nextNumber() -> UInt64 { lastNumber.add(1, ordering: .relaxed).newValue }
    func nextLoad() -> UInt64 { lastLoad.add(1, ordering: .relaxed).newValue }

    /// Whether the running code is part of an observer of events.
    @TaskLocal private static var isHearing = false

    /// Outside every lock: reports an event to observers, whose calls are part of no load and cause no events.
    func tell(_ event: EventRecord) {
        if Self.isHearing { return }
        let observers = observers.withLock { $0.all }
        Self.$isHearing.withValue(true) {
            Context.run(nil, nil) { for observer in observers { observer.hear(event) } }
        }
    }
}

/// An observer of events.
final class EventObserver: Cancelling {
    /// The state of an observer, which the hub keeps, as the family keeps the hub: a token keeps no container.
    private struct State {
        // In a struct, because a closure that is itself a generic value is wrapped once more at each access.
        var call: (@Sendable (EventRecord) -> Void)?
    }
    private let state: Locked<State>
    private let family: WeakReference<Family>

    /// Begins to observe the events of a node's family.
    init(in node: Node, _ handler: @escaping @Sendable (EventRecord) -> Void) {
        family = WeakReference(node.family)
        state = Locked(State(call: handler))
        var garbage = Garbage()
        node.family.lock.withLock { token in node.family.eventHub(token, in: node, &garbage).add(self) }
        garbage.dispose()
    }

    fileprivate func hear(_ event: EventRecord) { state.withLock { $0.call }?(event) }

    func cancel() {
        // Released outside the locks.
        let dropped = state.withLock { state in
            defer { state.call = nil }
            return state.call
        }
        family.object?.forget(self)
        withExtendedLifetime(dropped) {}
    }
}

extension Family {
    /// Returns the hub, creating it if necessary.
    ///
    /// Existing values are then written on the slow path, which records events.
    ///
    /// - `node`: Any node of the family.
    fileprivate func eventHub(_ token: LockToken, in node: Node, _ garbage: inout Garbage) -> EventHub {
        if let hub = state[token].eventHub.value { return hub }
        let hub = EventHub()
        setEventHub(token, hub, &garbage)
        for node in node.ancestor(at: 0).subtree(token) {
            for cell in node.storage.cells(token) { cell.mark(CellFlags.input) }
        }
        return hub
    }

    fileprivate func forget(_ observer: EventObserver) {
        var garbage = Garbage()
        lock.withLock { token in
            if state[token].eventHub.value?.remove(observer) == true { setEventHub(token, nil, &garbage) }
        }
        garbage.dispose()
    }
}

/// An event, recorded under the lock and reported outside it.
struct PendingEvent: Sendable {
    let hub: EventHub
    var event: EventRecord

    init(_ kind: EventKind, _ key: Key?, in container: Int, _ hub: EventHub) {
        self.hub = hub
        event = (
            kind, hub.nextNumber(), ProcessTime.now, key, container, home: nil, way: [], load: nil, neededBy: nil,
            duration: nil, error: nil
        )
    }

    func tell() { hub.tell(event) }
}

extension Node {
    /// Records an event, if events are observed.
    @inline(__always)
    func emit(_ token: LockToken, _ kind: @autoclosure () -> EventKind, _ key: Key, _ effects: inout Effects) {
        if family.hasEvents { emitSlowly(token, kind(), key, &effects) }
    }

    @inline(never)
    private func emitSlowly(_ token: LockToken, _ kind: EventKind, _ key: Key, _ effects: inout Effects) {
        guard let hub = family.state[token].eventHub.value else { return }
        effects.add(PendingEvent(kind, key, in: number, hub))
        // The next write of the key must record an event, too.
        storage.existingCell(token, key)?.mark(CellFlags.input)
    }
}

/// The measurement of a load.
///
/// Debug builds measure each load of a feature; other builds do so only while events are observed.
final class LoadSpan: Sendable {
    private let start: Duration
    private let hub: EventHub?

    /// Outside the lock: begins to measure a load.
    ///
    /// Returns `nil` if nothing needs the measurement.
    @inline(__always)
    static func begin(_ load: Frame) -> LoadSpan? {
        #if DEBUG
        return load.key!.kind == .property ? nil : LoadSpan(load)
        #else
        return load.family.hasEvents && load.key!.kind != .property ? LoadSpan(load) : nil
        #endif
    }

    @inline(never) private init(_ load: Frame) {
        var pending: PendingEvent?
        if load.family.hasEvents {
            pending = load.family.lock.withLock { token in
                load.family.state[token].eventHub.value.map { hub in
                    load.state[token].more().number = hub.nextLoad()
                    return load.makeEvent(token, .loadBegan, hub)
                }
            }
        }
        hub = pending?.hub
        pending?.tell()
        start = ProcessTime.now
    }

    var duration: Duration { ProcessTime.now - start }

    /// Records the end of the load.
    @inline(never) func end(
        _ token: LockToken, _ kind: EventKind, of load: Frame, _ home: Node,
        _ result: Result<Payload, any Error>, _ effects: inout Effects
    ) {
        guard let hub else { return }
        var pending = load.makeEvent(token, kind, hub)
        pending.event.duration = duration
        if case .failure(let error) = result { pending.event.error = error } else { pending.event.home = home.number }
        effects.add(pending)
    }
}

/// The measurement of a wait, made while events are observed.
final class WaitSpan: Sendable {
    fileprivate let start = ProcessTime.now
}

extension Frame {
    /// Outside the lock: reports a read that has waited for this load, which another read began.
    ///
    /// Never inlined, as are the others that make events: an event would lie on the stack of each nested load.
    @inline(never) func tellOf(_ wait: WaitSpan, _ waiter: Frame?) {
        let pending: PendingEvent? = family.lock.withLock { token in
            guard let hub = family.state[token].eventHub.value else { return nil }
            var pending = makeEvent(token, .waited, hub)
            pending.event.neededBy = waiter?.loadNumber(token, in: family)
            pending.event.way = (waiter?.way ?? []) + [key!]
            pending.event.duration = pending.event.time - wait.start
            return pending
        }
        pending?.tell()
    }

    /// Creates an event of the load.
    fileprivate func makeEvent(_ token: LockToken, _ kind: EventKind, _ hub: EventHub) -> PendingEvent {
        var pending = PendingEvent(kind, key!, in: node!.number, hub)
        pending.event.load = state[token].rare?.number
        pending.event.neededBy = parent?.loadNumber(token, in: family)
        // Not `way`, which leaves out the load itself once it has finished.
        pending.event.way = (parent?.way ?? []) + [key!]
        return pending
    }

    /// Returns the number in events of the load that this frame is part of, if that load is in the family.
    private func loadNumber(_ token: LockToken, in family: Family) -> UInt64? {
        let load = chain.first { $0.kind == .load }
        return load?.family === family ? load?.state[token].rare?.number : nil
    }
}

/// The measurement of a closing, of a container or of one instance, made while events are observed.
struct ClosingSpan {
    private let node: Node
    private let start: Duration?

    @inline(never) init(_ node: Node) {
        self.node = node
        start = node.family.hasEvents ? ProcessTime.now : nil
    }

    /// Outside the lock: reports that a container was closed or, with a key, that an instance's closers have run.
    @inline(never) func end(_ key: Key?, _ error: (any Error)?) {
        let family = node.family
        guard let start, let hub = family.lock.withLock({ token in family.state[token].eventHub.value }) else { return }
        var pending = PendingEvent(.closed, key, in: node.number, hub)
        pending.event.duration = pending.event.time - start
        pending.event.error = error
        pending.tell()
    }
}

/// Something that happened in a container or its family, such as the end of a load or a change of a value.
///
/// `FuguInspection` says what each kind and part means. It's a tuple, since each member of a type that another module
/// reads takes place in every program.
package typealias EventRecord = (
    kind: EventKind, number: UInt64, time: Duration, subject: Key?, container: Int, home: Int?, way: [Key],
    load: UInt64?, neededBy: UInt64?, duration: Duration?, error: (any Error)?
)

package enum EventKind: Sendable {
    case loadBegan, loaded, reloaded, overtaken, notKept, failed, waited, dropped, set, overridden, replaced, supplied,
        reset
    case closed
}

extension Key {
    /// Returns the path to a load as messages show it, shortened if it's long.
    package static func pathText(of way: [Key]) -> String { Messages.way(way.map(\.name)) }
}

extension Container {
    /// Calls a handler for every event in the family of this container.
    package func observeRecords(_ handler: @escaping @Sendable (EventRecord) -> Void) -> ObservationToken {
        ObservationToken(EventObserver(in: node, handler))
    }
}

/// The time since the first use.
///
/// Instants of the clock have a size that only the standard library knows, so whatever holds one is copied by calls.
package enum ProcessTime {
    package static let origin = ContinuousClock.now
    @inline(never) static var now: Duration { origin.duration(to: .now) }
}
