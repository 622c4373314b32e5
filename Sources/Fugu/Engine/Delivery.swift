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
    var payload = Payload(())
    /// Those who are to hear it.
    var observers: [Observer] = []
    /// Where the key is to be loaded again; the load's end is an event of its own.
    var reloads: [Node] = []
    /// The activity whose end it waits for.
    var holder: (any Activity)?

    /// The same for all others.
    func without(_ isLeftOut: (Observer) -> Bool) -> Event {
        var event = self
        event.observers = observers.filter { !isLeftOut($0) }
        return event
    }
}

/// Loads a key without being asked by a reader.
typealias Reloader = @Sendable (Container) -> Void

extension Family {
    /// Under the lock: queues what those are to hear who observe the key at `node` or below and see there what `node`
    /// sees, and asks for a load where nothing is seen any more. `lost` tells what an instance was made from that was
    /// dropped here: who did not see it misses nothing.
    @inline(never)  // From many places.
    func announce(
        _ record: KeyRecord, at node: Node, lost: Recipe? = nil, isFirstLoad: Bool = false,
        _ activity: (any Activity)?, _ effects: inout Effects
    ) {
        let all = record.facts.value.observers
        if all.isEmpty { return }
        let holder = activity?.outermost
        let there = node.visible(record.key)
        if let payload = there?.payload, all.allSatisfy({ $0.node === node && !(isFirstLoad && $0.skipsLoads) }) {
            effects.tell(payload, to: all, of: record, until: holder)
        } else {
            let news = news(of: record, at: node, there, lost, isFirstLoad, holder)
            if news.isEmpty { return }
            effects.add(news, of: record)
        }
        // Whichever comes second, this or the end of the holder, sees the other and delivers.
        if let holder, !holder.isFinished { Deferred.add(record, of: self, until: holder) }
    }

    /// Under the lock: the same where some observe below, or `node` sees nothing; `there` is what it sees.
    private func news(
        of record: KeyRecord, at node: Node, _ there: CellReference?, _ lost: Recipe?, _ isFirstLoad: Bool,
        _ holder: (any Activity)?
    ) -> [Event] {
        let observers = concerned(record, at: node, isFirstLoad)
        func seen(by observer: Observer) -> CellReference? {
            observer.node === node ? there : observer.node.visible(record.key)
        }
        var news: [Event] = []
        if let there, let payload = there.payload {
            let hearing = observers.filter { seen(by: $0) == there }
            if !hearing.isEmpty { news.append(Event(payload: payload, observers: hearing, holder: holder)) }
            if isFirstLoad || hearing.count == observers.count { return news }
        }
        let missing = observers.filter { seen(by: $0) == nil && $0.node.shares(lost, of: node) }
        // Who tracks reads wants to know that the value is gone; the load that follows is no change to it.
        let trackers = missing.filter(\.skipsLoads)
        if !trackers.isEmpty { news.append(Event(observers: trackers, holder: holder)) }
        let nodes = missing.filter { !$0.skipsLoads }.map(\.node)
        if record.facts.value.reloader != nil, !nodes.isEmpty { news.append(Event(reloads: nodes, holder: holder)) }
        return news
    }

    /// Under the lock: who observes the key at `node`, or below where nothing hides it.
    private func concerned(_ record: KeyRecord, at node: Node, _ isFirstLoad: Bool) -> [Observer] {
        let all = record.facts.value.observers
        func concerns(_ observer: Observer) -> Bool {
            if isFirstLoad, observer.skipsLoads { return false }
            return observer.node === node
                || observer.node.isWithin(node) && !observer.node.isShadowed(record.key, below: node)
        }
        return all.filter(concerns)
    }

    /// Calls the observers of what is queued, unless another thread is at it, which then does this too.
    ///
    /// - Parameter hasBegun: Whether this thread is at it already, and has delivered the first event.
    func deliver(_ record: KeyRecord, hasBegun: Bool = false) {
        var next = lock.withLock { record.takeEvent(isFirst: !hasBegun) }
        while let event = next.take() {
            event.observers.call(with: event.payload)
            if !event.reloads.isEmpty {
                let reloader = lock.withLock { record.facts.value.reloader }
                for node in event.reloads { reloader?(Container(standingFor: node)) }
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
                record.facts.value.events.append(Event(payload: payload, observers: [observer]))
            }
            return (record, nil)
        }
        withExtendedLifetime(ending) {}
        // Rules may have been added before the observer was.
        node.prepareScopes()
        if startsWithPresent { deliver(record) }
    }
}

extension Node {
    /// Under the lock: the cell that a reader of this node sees. What a reset uncovers may be a source's value, for which
    /// the next who reads will ask.
    fileprivate func visible(_ key: Key) -> CellReference? {
        if let cell = storage.existingCell(key), cell.has(CellState.held), cell.has(CellState.hasWord) { return cell }
        return openQuestion(key) == nil ? find(key).present?.0 : nil
    }
}

extension KeyRecord {
    /// Under the lock: whether nothing is being delivered or waits for it; the one who asks is to deliver then.
    func beginDelivery() -> Bool {
        if facts.value.isDelivering || !facts.value.events.isEmpty { return false }
        facts.value.isDelivering = true
        return true
    }

    /// Under the lock: what is to be delivered next by the one who asks, until there is nothing more. The first time that
    /// is nothing, if another thread is at it.
    func takeEvent(isFirst: Bool) -> Event? {
        if isFirst, facts.value.isDelivering { return nil }
        guard !facts.value.events.isEmpty, facts.value.events[0].holder?.isFinished != false else {
            facts.value.isDelivering = false
            return nil
        }
        facts.value.isDelivering = true
        return facts.value.events.remove(at: 0)
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
