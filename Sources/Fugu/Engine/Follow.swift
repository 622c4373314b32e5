/// An observer of a key's changes, as a container sees them.
final class Observer: WordIdentifier {
    let key: Key
    /// Whether a first load doesn't count as a change.
    let skipsLoads: Bool
    /// Whether it ends when its container is closed.
    let isSequence: Bool
    /// Called when the value is gone, or missing at the beginning: the observer is then responsible for loading it.
    fileprivate let onGone: (@Sendable (Container) -> Void)?
    private let state: Locked<State>

    /// Wraps the closure, which alone would be wrapped in another one whenever it leaves the lock.
    private struct Call {
        let body: @Sendable (Payload) -> Void
    }

    private struct State {
        var call: Call?
        var onEnd: (@Sendable () -> Void)?
        var follower: Follower?
        /// The number of the last event before the observation began; later ones are delivered.
        var since: UInt64 = 0
    }

    init(
        _ key: Key, skipsLoads: Bool = false, isSequence: Bool = false,
        _ call: @escaping @Sendable (Payload) -> Void, onGone: (@Sendable (Container) -> Void)? = nil,
        onEnd: (@Sendable () -> Void)? = nil
    ) {
        self.onGone = onGone
        self.key = key
        self.skipsLoads = skipsLoads
        self.isSequence = isSequence
        state = Locked(State(call: Call(body: call), onEnd: onEnd))
    }

    /// Begins to observe through a follower, unless the observer is already canceled.
    fileprivate func begin(_ follower: Follower, at number: UInt64) {
        state.withLock { state in
            guard state.call != nil else { return }
            (state.follower, state.since) = (follower, number)
        }
    }

    /// Calls the observer with a value that came after the observation began.
    fileprivate func hear(_ payload: Payload, _ number: UInt64) {
        let call = state.withLock { number > $0.since ? $0.call : nil }
        call?.body(payload)
    }

    /// Ends the observation: no call begins after this, and the closures are released.
    @inline(never) func cancel() {
        let ended = state.withLock { state in
            defer { (state.call, state.onEnd, state.follower) = (nil, nil, nil) }
            return state
        }
        ended.follower?.remove(self)
        ended.onEnd?()
    }
}

/// The observers of one key in one container, and their pending events.
final class Follower: Sendable {
    let family: Family
    let key: Key
    /// The node, which ends the follower before it's released.
    let node: UnmanagedReference<Node>
    /// The container to bind while observers are called, or `nil` if a handle made the first observation after its load.
    fileprivate let container: WeakReference<Container>?
    fileprivate let state: FamilyLocked<FollowerState>

    init(_ key: Key, in node: Node, of container: WeakReference<Container>?) {
        family = node.family
        self.key = key
        self.node = UnmanagedReference(node)
        self.container = container
        state = FamilyLocked(FollowerState())
    }

    deinit { state.free() }
}

/// The mutable part of a follower.
///
/// The family's lock protects it.
private struct FollowerState {
    var observers = SparseList<Observer>()
    /// Loads the key again without a reader, or `nil` until an observer brings a loader.
    var reloader = Kept<KeyDefinition?>(nil)
    var seen = Seen.nothing
    /// The number of loads in a row whose instance observers missed, since an input had changed meanwhile.
    var losses = 0
    /// The pending events.
    var events = Queue<Event>()
    var number: UInt64 = 0
    var isDelivering = false
    var isEnded = false

    /// What observers have received last, or are about to receive.
    enum Seen {
        case nothing
        case value(time: UInt64)
        /// The value is gone, and observers wait for the next one; the last one had this time, if there was one.
        case loss(last: UInt64?)
    }

    /// An event for observers: the value, and whether it's that of a first load; or `nil` if the value is gone, and whether a load of
    /// it has failed since, so that it isn't loaded again.
    ///
    /// It's for one observer, or for all if that's `nil`.
    typealias Event = (value: Payload?, isLoad: Bool, number: UInt64, only: Observer?)

    /// The time of the value that observers have received last, or are about to receive.
    var lastTime: UInt64? {
        switch seen {
        case .nothing: nil
        case .value(let time): time
        case .loss(let last): last
        }
    }

    mutating func queue(_ value: Payload?, isLoad: Bool = false, only: Observer? = nil) {
        number += 1
        events.append((value, isLoad, number, only))
    }
}

// Under the lock.
extension Follower {
    /// Looks again, queues an event if what's seen has changed, and returns whether there's something to deliver.
    func refresh(_ token: LockToken) -> Bool {
        if state[token].isEnded { return false }
        guard case .found(let cell, _) = node.use({ $0.lookInline(token, key) }) else {
            if case .nothing = state[token].seen { return false }
            return queueLoss(token)
        }
        // If something was seen before, a loaded instance is no first load: it was uncovered, or replaces what was seen.
        let last = state[token].lastTime
        let isFirst = if case .value = state[token].seen { false } else { last == nil }
        let time = cell.identity(token)
        (state[token].seen, state[token].losses) = (.value(time: time), 0)
        if last == time { return false }
        guard let payload = cell.payload else { return false }
        state[token].queue(payload, isLoad: isFirst && cell.has(CellFlags.loaded))
        return true
    }

    private func queueLoss(_ token: LockToken) -> Bool {
        state[token].seen = .loss(last: state[token].lastTime)
        if let last = state[token].events.last, last.value == nil { return false }
        state[token].queue(nil)
        return true
    }

    /// Lets the observers load again, since an input has changed during a load, and returns whether there's something to deliver, or
    /// `nil` if that has happened too often.
    func retry(_ token: LockToken) -> Bool? {
        if case .found = node.use({ $0.lookInline(token, key) }) { return refresh(token) }
        state[token].losses += 1
        if state[token].losses < Self.loadLimit { return state[token].isEnded ? false : queueLoss(token) }
        // A change that the load itself has made is still to be delivered, and begins no other load.
        if state[token].events.last.map({ $0.value != nil }) ?? true { state[token].losses = 0 }
        return nil
    }

    /// Notes that a load has failed, and returns whether there's something to deliver.
    func noteFailure(_ token: LockToken) -> Bool {
        guard case .loss(_?) = state[token].seen, !state[token].isEnded else { return false }
        missForGood(token)
        state[token].queue(nil, isLoad: true)
        return true
    }

    /// Lets the next value be another one, even if it equals the last.
    private func missForGood(_ token: LockToken) {
        if case .loss = state[token].seen { state[token].seen = .loss(last: nil) }
    }

    /// The observers of sequences, which a closing cancels.
    func sequences(_ token: LockToken) -> [Observer] { state[token].observers.all.filter(\.isSequence) }

    fileprivate func add(
        _ token: LockToken, _ observer: Observer, _ reloader: KeyDefinition?, startsWithPresent: Bool,
        _ garbage: inout Garbage
    ) {
        observer.begin(self, at: state[token].number)
        state[token].observers.append(observer)
        if state[token].reloader.value == nil { state[token].reloader.replace(by: reloader, &garbage) }
        guard startsWithPresent else { return }
        if case .found(let cell, _) = node.use({ $0.look(token, key) }), let payload = cell.payload {
            state[token].queue(payload, only: observer)
        } else {
            // From now on the value counts as missed, so that a load that fails is tried again, and what stays after a doubt is told:
            // this observer hasn't received it.
            state[token].seen = .loss(last: state[token].lastTime.map { _ in Input.neverKept })
            if observer.onGone != nil { state[token].queue(nil, only: observer) }
        }
    }
}

// Outside the lock.
extension Follower {
    fileprivate func remove(_ observer: Observer) {
        family.lock.withLock { token in state[token].observers.remove(observer) ? endIfUnused(token) : nil }?.dispose()
    }

    /// Ends the follower if it has neither observers nor pending events, and returns what it leaves.
    private func endIfUnused(_ token: LockToken) -> Garbage? {
        guard state[token].observers.count == 0, !state[token].isEnded, !state[token].isDelivering,
            state[token].events.isEmpty, let place = node.use({ $0.cell(token, key)?.place })
        else { return nil }
        var garbage = Garbage()
        state[token].isEnded = true
        place.follow(token, nil, &garbage)
        state[token].reloader.replace(by: nil, &garbage)
        return garbage
    }

    /// Cancels all observers, because the container was released.
    func end() {
        var garbage = Garbage()
        let observers = family.lock.withLock { token in
            state[token].isEnded = true
            state[token].events.removeAll(&garbage)
            state[token].reloader.replace(by: nil, &garbage)
            return state[token].observers.takeAll()
        }
        garbage.dispose()
        for observer in observers { observer.cancel() }
    }

    /// Delivers the pending events of followers, and those that the observers cause, in rounds.
    ///
    /// A round has no parent, so no load has what observers read as inputs. What they change is delivered in the next round.
    static func deliver(_ followers: [Follower]) {
        var next = followers
        var rounds = 0
        while let first = next.first {
            let round = Work(.observers, in: first.family, under: nil, within: nil)
            next.forEach { $0.deliver(in: round) }
            round.markFinished()
            next = round.takeDeferred()
            rounds += 1
            if rounds == endless, let next = next.first { next.reportEndless() }
        }
    }

    /// The number of changes in a row that are reported, since those by observers may go on without an end.
    private static let endless = 10_000
    /// The number of loads in a row whose inputs change meanwhile, before observers wait for another change.
    private static let loadLimit = 10

    private func reportEndless() { family.reports.report(Messages.changesWithoutEnd(key)) }

    /// The next event that a thread delivers.
    private struct Turn: ~Copyable {
        let event: FollowerState.Event
        let observers: [Observer?]
    }

    /// Delivers queued events, unless another thread or a call below is doing so, which then delivers these, too.
    private func deliver(in round: Work) {
        // While a container is being released, nothing is delivered.
        guard let container = boundContainer() else { return }
        var next: Turn? = family.lock.withLock { token in state[token].isDelivering ? nil : takeTurn(token) }
        if next == nil { return }
        var turns = 0
        Context.run(container, round) {
            while let turn = next.take() {
                tell(turn, in: container)
                // What an observer begins with is no change.
                if turn.event.only == nil {
                    turns += 1
                    if turns == Self.endless { reportEndless() }
                }
                // Keep the turn's list until the lock has been taken, which orders these calls before the list changes in place.
                var left: Garbage?
                next = family.lock.withLock { token in
                    let next = takeTurn(token)
                    // The last observer may have been canceled while it was called.
                    if next == nil { left = endIfUnused(token) }
                    return next
                }
                extendLifetime(turn)
                left?.dispose()
            }
        }
    }

    /// Returns the container to bind while observers are called.
    private func boundContainer() -> Container? {
        if let container { return container.object }
        // A handle made the first observation, so only the node is known.
        let node = family.lock.withLock { token in state[token].isEnded ? nil : self.node.object }
        return node.map { Container(viewing: $0) }
    }

    /// Returns what the caller delivers next, or `nil` if there's nothing more.
    private func takeTurn(_ token: LockToken) -> Turn? {
        let isOver = state[token].isEnded || state[token].events.isEmpty || node.use { $0.isEnded(token) }
        state[token].isDelivering = !isOver
        if isOver { return nil }
        return Turn(event: state[token].events.takeFirst(), observers: state[token].observers.slots)
    }

    private func tell(_ turn: borrowing Turn, in container: Container) {
        let (number, isLoad) = (turn.event.number, turn.event.isLoad)
        guard let value = turn.event.value else {
            if let only = turn.event.only {
                only.onGone?(container)
                return
            }
            if !isLoad {
                turn.observers.forEachUncounted { $0.onGone?(container) }
                if reload(in: container) { return }
            }
            // Trackers of reads count this as a change: they read an error, or nothing, until there's another value.
            turn.observers.forEachUncounted { if $0.skipsLoads { $0.hear(Payload(()), number) } }
            return
        }
        if let only = turn.event.only { return only.hear(value, number) }
        turn.observers.forEachUncounted { if !isLoad || !$0.skipsLoads { $0.hear(value, number) } }
    }

    /// Loads the key again, if there's still no value, and returns whether there's one, or an async load goes on.
    private func reload(in container: Container) -> Bool {
        if isThere() { return true }
        guard mayLoad(), let reloader = family.lock.withLock({ state[$0].reloader.value }) else { return false }
        if let input = missingInput() {
            family.reports.report(Messages.notReloaded(key, without: input))
            return false
        }
        return reloader.prepare(in: container, reportsFailure: true) != nil || isThere()
    }

    /// Returns an async feature that the last instance of a plain feature was made from and that isn't loaded, so that another
    /// load would stop the program.
    private func missingInput() -> Key? {
        guard key.kind == .feature else { return nil }
        return family.lock.withLock { token in
            family.last(token, of: key)?.direct.first { input in
                guard input.kind == .asyncFeature else { return false }
                return if case .missing = node.use({ $0.look(token, input) }) { true } else { false }
            }
        }
    }

    /// Whether there's a value, which is queued.
    private func isThere() -> Bool {
        family.lock.withLock { token in
            guard case .found = node.use({ $0.look(token, key) }) else { return false }
            _ = refresh(token)
            return true
        }
    }

    /// Whether a missing value may be loaded.
    private func mayLoad() -> Bool {
        family.lock.withLock { token in
            if state[token].isEnded || state[token].observers.count == 0 { return false }
            if state[token].losses >= Self.loadLimit {
                state[token].losses = 0
                return false
            }
            return key.kind == .property || !node.use { $0.storage[token].isRefusing }
        }
    }
}

extension Container {
    /// Adds an observer of its key in this container.
    ///
    /// Writes of the key here and in the nodes above take the slow path from then on.
    func add(
        _ observer: Observer, _ reloader: KeyDefinition?, startsWithPresent: Bool = false
    ) {
        let (node, key) = (node, observer.key)
        note(.observed, key)
        if let naming = reloader?.naming { node.family.learn(naming, of: key) }
        let container = (owner ?? (isView ? nil : self)).map { WeakReference($0) }
        var garbage = Garbage()
        let follower: Follower? = node.family.lock.withLock { token in
            if node.isEnded(token) { return nil }
            let place = node.place(token, key)
            let follower: Follower
            if let known = place[token].rare?.follower.value {
                follower = known
            } else {
                follower = Follower(key, in: node, of: container)
                place.follow(token, follower, &garbage)
                // Begin with what's seen now, without an event.
                if case .found(let cell, _) = node.look(token, key) {
                    follower.state[token].seen = .value(time: cell.identity(token))
                } else if let former = node.former(token, key)?.former(token) {
                    follower.state[token].seen = .loss(last: former.time)
                }
            }
            follower.add(token, observer, reloader, startsWithPresent: startsWithPresent, &garbage)
            return follower
        }
        garbage.dispose()
        guard let follower else { return observer.cancel() }
        if startsWithPresent { Follower.deliver([follower]) }
    }
}
