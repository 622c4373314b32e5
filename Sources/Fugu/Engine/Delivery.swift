import Synchronization

/// One who wants to hear of a key's changes as they are seen from a node.
final class Observer: Sendable {
    let node: Node
    let key: Key
    /// Whether a first load is no change to it.
    let skipsLoads: Bool
    /// Whether it ends when its container is closed.
    let isSequence: Bool
    /// What can end it from afar.
    let subscription: Subscription
    private let callbacks: Callbacks

    struct Callbacks: Sendable {
        let call: @Sendable (Payload) -> Void
        /// Called when the node goes away.
        let onEnd: (@Sendable () -> Void)?
    }

    init(_ node: Node, _ key: Key, skipsLoads: Bool = false, isSequence: Bool = false, _ callbacks: Callbacks) {
        self.node = node
        self.key = key
        self.skipsLoads = skipsLoads
        self.isSequence = isSequence
        self.callbacks = callbacks
        subscription = Subscription(node, key)
    }

    func call(with payload: Payload) {
        if !subscription.isEnded { callbacks.call(payload) }
    }

    /// No call begins after this. What is returned is to be released outside the lock of the family.
    func end() -> Ending { Ending(subscription.end() ? callbacks.onEnd : nil) }

    /// What an observer leaves behind; tells whoever iterates that there is no more to come.
    final class Ending: Sendable {
        private let onEnd: (@Sendable () -> Void)?
        init(_ onEnd: (@Sendable () -> Void)?) { self.onEnd = onEnd }
        deinit { onEnd?() }
    }
}

/// An observer as a token knows it: it can be ended, but neither it nor what it captured is kept.
final class Subscription: Sendable {
    private let node: Node
    private let key: Key
    private let ended = Atomic(false)

    fileprivate init(_ node: Node, _ key: Key) {
        self.node = node
        self.key = key
    }

    var isEnded: Bool { ended.load(ordering: .acquiring) }

    /// Whether this call has ended it.
    fileprivate func end() -> Bool { !ended.exchange(true, ordering: .acquiringAndReleasing) }

    /// Takes the observer out of its family, which then keeps nothing of it.
    func cancel() {
        var ending: Observer.Ending?
        let dropped: ([Observer], [Event]) = node.family.lock.withLock {
            guard let record = node.family.existingRecord(key) else { return ([], []) }
            let leaving = record.facts.value.observers.filter { $0.subscription === self }
            guard !leaving.isEmpty else { return ([], []) }
            ending = leaving[0].end()
            record.facts.value.observers.removeAll { $0.subscription === self }
            node.storage.facts.observerCount -= 1
            let events = record.facts.value.events
            record.facts.value.events = events.map { event in event.without { $0.subscription === self } }
            return (leaving, events)
        }
        _ = end()
        withExtendedLifetime((ending, dropped)) {}
    }
}

/// Something to be told to observers, in the order of what happened.
struct Event: Sendable {
    enum Content: Sendable {
        case value(Payload, [Observer])
        /// Load the key in these nodes; the load's end is an event of its own.
        case load([Node])
    }
    let content: Content
    /// The activity whose end it waits for.
    let holder: (any Activity)?

    /// The same for all others.
    func without(_ isLeftOut: (Observer) -> Bool) -> Event {
        guard case .value(let payload, let observers) = content else { return self }
        return Event(content: .value(payload, observers.filter { !isLeftOut($0) }), holder: holder)
    }
}

/// Loads a key without being asked by a reader.
typealias Reloader = @Sendable (Container) -> Void

extension Family {
    /// Under the lock: queues what those are to hear who observe the key at `node` or below and see there what `node`
    /// sees, and asks for a load where nothing is seen any more. `lost` tells what an instance was made from that was
    /// dropped here: who did not see it misses nothing.
    func announce(
        _ record: KeyRecord, at node: Node, lost: Recipe? = nil, isFirstLoad: Bool = false,
        _ activity: (any Activity)?, _ effects: inout Effects
    ) {
        guard !record.facts.value.observers.isEmpty else { return }
        let holder = activity?.outermost
        let observers = concerned(record, at: node, isFirstLoad)
        guard !observers.isEmpty else { return }
        let count = record.facts.value.events.count
        func queue(_ content: Event.Content) {
            record.facts.value.events.append(Event(content: content, holder: holder))
        }
        // What a reset uncovers may be a source's value, for which the next who reads will ask.
        func visible(from node: Node) -> CellReference? {
            node.openQuestion(record.key) == nil ? node.find(record.key).present?.0 : nil
        }
        let there = visible(from: node)
        func seen(by observer: Observer) -> CellReference? {
            observer.node === node ? there : visible(from: observer.node)
        }
        var missing: [Observer] = []
        if let there, let payload = there.payload {
            let hearAll = observers.allSatisfy { seen(by: $0) == there }
            let hearing = hearAll ? observers : observers.filter { seen(by: $0) == there }
            if !hearing.isEmpty { queue(.value(payload, hearing)) }
            if !hearAll, !isFirstLoad {
                missing = observers.filter { seen(by: $0) == nil && $0.node.shares(lost, of: node) }
            }
        } else {
            missing = observers.filter { seen(by: $0) == nil && $0.node.shares(lost, of: node) }
        }
        if !missing.isEmpty {
            // Who tracks reads wants to know that the value is gone; the load that follows is no change to it.
            let trackers = missing.filter(\.skipsLoads)
            if !trackers.isEmpty { queue(.value(Payload(()), trackers)) }
            let nodes = missing.filter { !$0.skipsLoads }.map(\.node)
            if record.facts.value.reloader != nil, !nodes.isEmpty { queue(.load(nodes)) }
        }
        guard record.facts.value.events.count > count else { return }
        effects.deliver(record)
        // Whichever comes second, this or the end of the holder, sees the other and delivers.
        if let holder, !holder.isFinished { Deferred.add(record, of: self, until: holder) }
    }

    /// Under the lock: who observes the key at `node`, or below where nothing hides it.
    private func concerned(_ record: KeyRecord, at node: Node, _ isFirstLoad: Bool) -> [Observer] {
        let all = record.facts.value.observers
        func concerns(_ observer: Observer) -> Bool {
            if isFirstLoad, observer.skipsLoads { return false }
            return observer.node === node
                || observer.node.isWithin(node) && !observer.node.isShadowed(record.key, below: node)
        }
        return all.allSatisfy(concerns) ? all : all.filter(concerns)
    }

    /// Calls the observers of what is queued, unless another thread is at it, which then does this too.
    ///
    /// - Parameter begun: The first event, if it has been taken already.
    func deliver(_ record: KeyRecord, _ begun: Event? = nil) {
        var next = begun ?? lock.withLock { record.takeEvent(isFirst: true) }
        while let event = next {
            switch event.content {
            case .value(let payload, let observers): observers.call(with: payload)
            case .load(let nodes):
                let reloader = lock.withLock { record.facts.value.reloader }
                for node in nodes { reloader?(Container(standingFor: node)) }
            }
            next = lock.withLock { record.takeEvent(isFirst: false) }
        }
    }

    /// Adds an observer. From now on writes to the key in the nodes above take the long way.
    func observe(
        _ observer: Observer, _ reloader: Reloader?, _ naming: PropertyNaming? = nil, startsWithPresent: Bool = false
    ) {
        let (node, key) = (observer.node, observer.key)
        // What is observed is computed, so that the first that is heard is a change.
        node.prepareScopes()
        let (record, ending): (KeyRecord, Observer.Ending?) = lock.withLock {
            let record = self.record(key)
            guard !node.isEnded else { return (record, observer.end()) }
            record.facts.value.observers.append(observer)
            node.storage.facts.observerCount += 1
            self.note(naming, of: key)
            if let reloader { record.facts.value.reloader = reloader }
            for node in node.path { node.storage.cell(key).mark(CellState.special) }
            if startsWithPresent, let payload = node.present(key)?.payload {
                record.facts.value.events.append(Event(content: .value(payload, [observer]), holder: nil))
            }
            return (record, nil)
        }
        withExtendedLifetime(ending) {}
        // Rules may have been added before the observer was.
        node.prepareScopes()
        if startsWithPresent { deliver(record) }
    }
}

extension KeyRecord {
    /// Under the lock: what is to be delivered next by the one who asks, until there is nothing more. The first time that
    /// is nothing, if another thread is at it.
    func takeEvent(isFirst: Bool) -> Event? {
        if isFirst, facts.value.isDelivering { return nil }
        guard let event = facts.value.events.first, event.holder?.isFinished != false else {
            facts.value.isDelivering = false
            return nil
        }
        facts.value.isDelivering = true
        facts.value.events.remove(at: 0)
        return event
    }
}

extension Node {
    /// Observers hear of a changed key once: not of the default, say, that a change by what was there has made them wait
    /// for, too. Drops what waits for the end of `activity`, unless the value is what is there: setting that calls nobody.
    func forgetEvents(of key: Key, of activity: any Activity, replacedBy new: Payload, _ equal: Equality) {
        let old: Payload? = family.lock.withLock {
            let events = family.existingRecord(key)?.facts.value.events
            return events?.contains { $0.holder === activity } == true ? present(key)?.payload : nil
        }
        // `==` is user code: outside the lock.
        guard let old, !equal(old, new) else { return }
        let dropped: [Event] = family.lock.withLock {
            guard let record = family.existingRecord(key) else { return [] }
            let events = record.facts.value.events
            record.facts.value.events = events.map { event in
                event.holder === activity ? event.without { $0.node.isWithin(self) } : event
            }
            return events
        }
        withExtendedLifetime(dropped) {}
    }
}
