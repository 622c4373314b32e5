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
    static func begin(_ flight: Flight) -> LoadSpan? {
        #if DEBUG
        return flight.requested.kind == .property ? nil : LoadSpan(flight)
        #else
        return flight.family.hasEvents && flight.requested.kind != .property ? LoadSpan(flight) : nil
        #endif
    }

    @inline(never)
    private init(_ flight: Flight) {
        var note: EventNote?
        if flight.family.hasEvents {
            note = flight.family.lock.withLock {
                flight.family.eventHub.map { hub in
                    flight.facts.value.more().number = hub.nextLoad()
                    return flight.note(.loadBegan, hub)
                }
            }
        }
        hub = note?.hub
        note?.tell()
        start = .now
    }

    var duration: Duration { .now - start }

    /// Under the lock: the load has ended.
    func note(
        _ kind: ContainerEvent.Kind, of flight: Flight, _ home: Node, _ duration: Duration?,
        _ result: Result<Payload, any Error>, _ effects: inout Effects
    ) {
        guard let hub else { return }
        var note = flight.note(kind, hub)
        note.event.duration = duration
        if case .failure(let error) = result { note.event.error = error } else { note.event.home = home.number }
        effects.add(note)
    }
}

/// A read that waits for a load which another one has begun, if somebody hears of it.
struct WaitSpan: Sendable {
    private let flight: Flight
    private let waiter: (any Activity)?
    private let start: ContinuousClock.Instant

    @inline(__always)
    static func begin(waitingFor flight: Flight, _ waiter: (any Activity)?) -> WaitSpan? {
        flight.family.hasEvents ? WaitSpan(flight, waiter) : nil
    }

    private init(_ flight: Flight, _ waiter: (any Activity)?) {
        self.flight = flight
        self.waiter = waiter
        start = .now
    }

    /// Outside the lock.
    func end() {
        let note: EventNote? = flight.family.lock.withLock {
            guard let hub = flight.family.eventHub else { return nil }
            var note = flight.note(.waited, hub)
            note.event.neededBy = flight.family.number(ofLoadAbove: waiter)
            note.event.way = (waiter?.way ?? []) + [flight.requested]
            note.event.duration = note.event.time - start
            return note
        }
        note?.tell()
    }
}

extension Flight {
    /// Under the lock: notes what happens to the load.
    fileprivate func note(_ kind: ContainerEvent.Kind, _ hub: EventHub) -> EventNote {
        var note = EventNote(kind, requested, in: asker.number, hub)
        note.event.load = facts.value.rare?.number
        note.event.neededBy = family.number(ofLoadAbove: parent)
        // It counts as finished by its end.
        note.event.way = (parent?.way ?? []) + [requested]
        return note
    }
}

extension Family {
    /// Under the lock: what events call the load that needs what `activity` needs, if it is one of this family.
    fileprivate func number(ofLoadAbove activity: (any Activity)?) -> UInt64? {
        let flight = activity?.chain.lazy.compactMap { $0 as? Flight }.first
        return flight?.family === self ? flight?.facts.value.rare?.number : nil
    }
}
