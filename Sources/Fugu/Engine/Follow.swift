import Synchronization

/// Loads a key without being asked by a reader.
typealias Reloader = KeyLoader

/// A follower of a key's changes as they are seen from a container.
final class Observer: Cancelling {
    let key: Key
    /// Whether a first load is no change to it.
    let skipsLoads: Bool
    /// Whether it ends when its container is closed.
    let isSequence: Bool
    /// Called when there is nothing any more, and at the beginning if there is nothing; then it's this observer's turn to load.
    fileprivate let onGone: (@Sendable (Container) -> Void)?
    /// Whether its owner is gone, if it has one.
    private let isOver: (@Sendable () -> Bool)?
    private let state: Locked<State>

    /// The observer; a closure alone would be wrapped in another one on its way out of the lock.
    private struct Call {
        let body: @Sendable (Payload) -> Void
    }

    private struct State {
        var call: Call?
        var onEnd: (@Sendable () -> Void)?
        var follower: Follower?
        /// Events after it are delivered.
        var since: UInt64 = 0
        var index = 0
    }

    init(
        _ key: Key, skipsLoads: Bool = false, isSequence: Bool = false, isOver: (@Sendable () -> Bool)? = nil,
        _ call: @escaping @Sendable (Payload) -> Void, onGone: (@Sendable (Container) -> Void)? = nil,
        onEnd: (@Sendable () -> Void)? = nil
    ) {
        self.onGone = onGone
        self.key = key
        self.skipsLoads = skipsLoads
        self.isSequence = isSequence
        self.isOver = isOver
        state = Locked(State(call: Call(body: call), onEnd: onEnd))
    }

    fileprivate var index: Int {
        get { state.withLock { $0.index } }
        set { state.withLock { $0.index = newValue } }
    }

    /// Joins the observers of a key, unless it has been cancelled by now.
    fileprivate func begin(_ follower: Follower, at number: UInt64, index: Int) {
        state.withLock { state in
            guard state.call != nil else { return }
            (state.follower, state.since, state.index) = (follower, number, index)
        }
    }

    /// Tells of a value, if that came after the observer.
    fileprivate func hear(_ payload: Payload, _ number: UInt64) {
        if isIdle { return cancel() }
        let call = state.withLock { number > $0.since ? $0.call : nil }
        call?.body(payload)
    }

    fileprivate var isIdle: Bool { isOver?() ?? false }

    /// Ends the observation: no call begins after this, and nothing is kept.
    func cancel() {
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
    /// The node, which ends this before it goes.
    let node: UnmanagedReference<Node>
    /// Whom to bind while observers are called; a handle's observers may outlive it.
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

/// The changing part of it.
///
/// The lock of the family protects it.
private struct FollowerState {
    var observers: [Observer?] = []
    var count = 0
    /// How many there may be before observers without owners are looked for.
    var limit = 16
    /// Loads the key again when nobody reads it; nil until an observer comes that brings one.
    var reloader: Reloader?
    var seen = Seen.nothing
    /// The inputs of the instance that was seen last: a change of one changes what is seen.
    var watched: Provenance?
    /// What loads for it had read that have failed since, and that is watched, too.
    var failedInputs: Set<Key> = []
    /// Whether the instance that was seen last loads again when its inputs change.
    var reloads = false
    /// Pending events, the first at `first`.
    var events: [Event] = []
    var first = 0
    var number: UInt64 = 0
    var isDelivering = false
    var isEnded = false

    /// What observers were given last, or are about to be.
    enum Seen {
        case nothing
        case value(Stamp)
        /// The value is gone, and they wait for the next one; it was loaded for them so often since outside of deliveries,
        /// which count for themselves, with nothing to be seen afterwards.
        case loss(attempts: Int)
    }

    /// An event for observers.
    struct Event {
        let news: Change
        let number: UInt64
        /// When it was made.
        let time: UInt64
        /// The frame whose end it waits for.
        let holder: Frame?
        /// The observer that receives it, if not all do.
        var only: Observer?
    }

    enum Change {
        case value(Payload)
        case load(Payload)
        /// There is nothing any more: it is to be loaded again, and that load is a separate event.
        case gone
    }

    mutating func queue(_ news: Change, at time: UInt64, until holder: Frame?, only: Observer? = nil) {
        number += 1
        events.append(Event(news: news, number: number, time: time, holder: holder, only: only))
    }

    /// Takes the first event out.
    mutating func takeFirst() -> Event {
        let event = events[first]
        first += 1
        if events.count == 1 {
            // Nearly always so, and cheaper.
            events.removeLast()
            first = 0
        } else if first == events.count || first >= 64 && first * 2 > events.count {
            events.removeFirst(first)
            first = 0
        }
        return event
    }

    /// Takes out what was made within a transaction and waits.
    mutating func takeEvents(of transaction: Frame, since time: UInt64) -> [Event] {
        let holder = transaction.outermost.object
        // Within another frame only first loads, since what else was changed there was published.
        func isTaken(_ event: Event) -> Bool {
            guard event.holder === holder, event.time > time else { return false }
            if case .load = event.news { return true }
            return holder === transaction
        }
        let taken = events[first...].filter(isTaken)
        if !taken.isEmpty {
            events = events[first...].filter { !isTaken($0) }
            first = 0
        }
        return taken
    }
}

/// The event of a change, for a follower.
struct News {
    /// Whether the key was reset, so that it's loaded again even if it doesn't reload by itself.
    var isReset = false
    /// The state of a value that equals the one that is seen now.
    var known: Stamp?
    /// The transaction that ends with this: what waits for its end about the same key isn't delivered.
    var transaction: Frame?
    /// The frame at whose end it's delivered.
    var holder: Frame?
}

// Under the lock.
extension Follower {
    /// Looks what is to be seen now, and queues it if that has changed; says whether there is something to deliver.
    ///
    ///   - look: What is seen, if that is known.
    func refresh(_ token: LockToken, _ news: News, _ look: Look? = nil, _ garbage: inout Garbage) -> Bool {
        if state[token].isEnded { return false }
        // Observers are owed an event for those that were dropped undelivered, even if only to learn that the value is gone.
        var isOwed = false
        if let transaction = news.transaction {
            let dropped = state[token].takeEvents(
                of: transaction, since: transaction.state[token].rare?.begun ?? 0)
            isOwed = !dropped.isEmpty
            if isOwed { garbage.add(Retained(dropped)) }
        }
        guard case .found(let cell, _) = look ?? node.use({ $0.look(token, key) }) else {
            // What was seen last stays watched: when an override of it goes, it may be seen again.
            switch state[token].seen {
            case .nothing: return false
            case .value where isOwed || news.isReset || key.kind == .property || state[token].reloads:
                state[token].seen = .loss(attempts: 0)
            case .value: return false
            case .loss:
                // Attempts count what observers and loads of the key change; what others change says nothing of the next one.
                if news.holder?.kind == .observers || Frame.current?.chain.contains(where: isLoad) == true {
                    return missAgain(token, until: news.holder)
                }
                state[token].seen = .loss(attempts: 0)
            }
            return queueGone(token, until: news.holder)
        }
        watch(token, cell, &garbage)
        let stamp = Stamp(cell)
        // Where something else was seen, what was loaded is no first load: it was uncovered, or takes that one's place.
        var isFirst = true
        if case .value(let last) = state[token].seen {
            isFirst = false
            if last == stamp, !isOwed { return false }
            state[token].seen = .value(stamp)
            if news.known == last, !isOwed { return false }
        }
        state[token].seen = .value(stamp)
        guard let payload = cell.payload else { return false }
        let change: FollowerState.Change = isFirst && cell.has(CellFlags.loaded) ? .load(payload) : .value(payload)
        state[token].queue(change, at: now(token), until: news.holder)
        return true
    }

    /// A load for observers has failed: what it has read decides when it's tried again.
    ///
    /// The same holds for one that was not kept. Returns whether it's tried at once, so that there is something to deliver.
    ///
    /// - `isOutdated`: Whether some of it has changed meanwhile, or the key was reset.
    func watchFailed(_ token: LockToken, _ provenance: Provenance, isOutdated: Bool, until holder: Frame?) -> Bool {
        guard case .loss = state[token].seen else { return false }
        node.use { node in
            guard let place = node.storage.existingCell(token, key)?.place else { return }
            let known = state[token].watched?.keys ?? []
            for input in provenance.keys where input != key && !known.contains(input) {
                guard state[token].failedInputs.insert(input).inserted else { continue }
                place.register(token, with: node.place(token, input), as: .follower)
            }
        }
        return isOutdated && missAgain(token, until: holder)
    }

    /// Tries again to load for observers what was not kept, or has failed, because of a change that they or the load made, but
    /// in one delivery only a few times.
    private func missAgain(_ token: LockToken, until holder: Frame?) -> Bool {
        guard case .loss(let attempts) = state[token].seen else { return false }
        let isDelivery = holder?.kind == .observers && holder?.family === family
        let delivery = isDelivery ? holder?.state[token].more() : nil
        let id = ObjectIdentifier(self)
        let count = delivery?.attempts[id] ?? attempts
        guard count < 8, queueGone(token, until: holder) else { return false }
        if let delivery { delivery.attempts[id] = count + 1 } else { state[token].seen = .loss(attempts: count + 1) }
        return true
    }

    private func isLoad(_ frame: Frame) -> Bool { frame.kind == .load && frame.key == key && frame.family === family }

    /// Whether observers miss a value, counting what is about to be delivered.
    func isMissing(_ token: LockToken) -> Bool { if case .loss = state[token].seen { true } else { false } }

    /// Notifies observers that there is nothing, once; says whether there is something to deliver.
    private func queueGone(_ token: LockToken, until holder: Frame?) -> Bool {
        if case .gone? = state[token].events[state[token].first...].last?.news { return false }
        state[token].queue(.gone, at: now(token), until: holder)
        return true
    }

    private func now(_ token: LockToken) -> UInt64 { family.state[token].now }

    /// Follows what an instance was made from, here and above: a change of that may hide it, or uncover another one.
    ///
    /// Nothing hides what the root has.
    fileprivate func watch(_ token: LockToken, _ cell: CellReference, _ garbage: inout Garbage) {
        let provenance = node.depth == 0 ? nil : cell.place?[token].provenance
        state[token].reloads = cell.place?[token].provenance?.reloads ?? false
        if state[token].watched === provenance, state[token].failedInputs.isEmpty { return }
        state[token].failedInputs = []
        node.use { node in
            guard let place = node.storage.existingCell(token, key)?.place else { return }
            place.unregisterFollower(token)
            garbage.add(state[token].watched)
            state[token].watched = provenance
            for input in provenance?.keys ?? [] where input != key {
                place.register(token, with: node.place(token, input), as: .follower)
            }
        }
    }

    fileprivate func add(_ token: LockToken, _ observer: Observer, _ reloader: Reloader?, startsWithPresent: Bool) {
        observer.begin(self, at: state[token].number, index: state[token].observers.count)
        state[token].observers.append(observer)
        state[token].count += 1
        if state[token].reloader == nil { state[token].reloader = reloader }
        guard startsWithPresent else { return }
        if case .found(let cell, _) = node.use({ $0.look(token, key) }), let payload = cell.payload {
            state[token].queue(.value(payload), at: now(token), until: nil, only: observer)
        } else if observer.onGone != nil {
            // From now on it's missed, so that a load that fails is tried again.
            if case .loss = state[token].seen {} else { state[token].seen = .loss(attempts: 0) }
            state[token].queue(.gone, at: now(token), until: nil, only: observer)
        }
    }

    /// Takes it out of its place.
    private func end(_ token: LockToken, _ place: Place) {
        state[token].isEnded = true
        place[token].rare?.follower = nil
        place.unregisterFollower(token)
        place.unfollow(token)
        place.refresh(token)
    }
}

// Outside the lock.
extension Follower {
    fileprivate func remove(_ observer: Observer) {
        let dropped: (Follower, Provenance?, Reloader?)? = family.lock.withLock { token in
            let index = observer.index
            guard index < state[token].observers.count, state[token].observers[index] === observer else { return nil }
            state[token].observers[index] = nil
            state[token].count -= 1
            closeHoles(token)
            return endIfUnused(token)
        }
        withExtendedLifetime((dropped, observer)) {}
    }

    /// Ends this when nobody observes any more and everything was delivered; returns what is to be released outside the lock.
    private func endIfUnused(_ token: LockToken) -> (Follower, Provenance?, Reloader?)? {
        guard state[token].count == 0, !state[token].isEnded, !state[token].isDelivering,
            state[token].first == state[token].events.count,
            let place = node.use({ $0.storage.existingCell(token, key)?.place }),
            place[token].rare?.follower === self
        else { return nil }
        end(token, place)
        return (self, state[token].watched.take(), state[token].reloader.take())
    }

    /// Taking one out leaves a hole, so that it costs the same wherever it stands.
    private func closeHoles(_ token: LockToken) {
        guard state[token].observers.count > 16, state[token].count * 2 < state[token].observers.count else { return }
        state[token].observers = state[token].observers.filter { $0 != nil }
        for (index, observer) in state[token].observers.enumerated() { observer?.index = index }
    }

    /// The container is gone: ends all observers.
    func end() {
        let ended = family.lock.withLock { token in
            state[token].isEnded = true
            defer { (state[token].observers, state[token].events, state[token].reloader) = ([], [], nil) }
            return (state[token].observers, state[token].events, state[token].reloader, state[token].watched.take())
        }
        for observer in ended.0 { observer?.cancel() }
    }

    /// Ends the observers that follow the key as a sequence, since the container is closed.
    func endSequences() {
        let sequences = family.lock.withLock { token in
            state[token].observers.compactMap { $0?.isSequence == true ? $0 : nil }
        }
        for observer in sequences { observer.cancel() }
    }

    /// Ends observations without owners, when there are many more than there were the last time.
    fileprivate func sweep() {
        let observers = family.lock.withLock { token -> [Observer] in
            if state[token].count < state[token].limit { return [] }
            return state[token].observers.compactMap(\.self)
        }
        if observers.isEmpty { return }
        for observer in observers where observer.isIdle { observer.cancel() }
        family.lock.withLock { token in state[token].limit = max(16, 2 * state[token].count) }
    }

    /// Delivers the pending events of followers, and those that this causes, in rounds.
    ///
    /// Observers are in nobody's load: what they change is delivered after the present round.
    static func deliver(_ first: Follower, _ others: [Follower] = []) {
        var frame = Frame(.observers, in: first.family, nil, under: nil, within: nil)
        first.deliver(in: frame)
        for follower in others { follower.deliver(in: frame) }
        while let round = frame.nextRound() {
            for follower in round.followers { follower.deliver(in: round.frame) }
            frame = round.frame
        }
    }

    /// Delivers nothing more, since the container is going away.
    private func stop() { family.lock.withLock { token in state[token].isDelivering = false } }

    /// The next task of one thread.
    private struct Turn: ~Copyable {
        let event: FollowerState.Event
        let observers: [Observer?]
        let reloader: Reloader?
    }

    /// Calls the observers of what is queued, unless another thread is at it, which then does this too.
    private func deliver(in frame: Frame) {
        // A handle may have made the first observation; then there is nobody but the node to ask. A container that is
        // just going away hears nothing.
        var bound = container?.object
        var node: Node?
        var next: Turn? = family.lock.withLock { token in
            if state[token].isDelivering || !isDue(token, in: frame) { return nil }
            if container == nil { node = self.node.object }
            return takeTurn(token, in: frame)
        }
        guard next != nil else { return }
        if let node { bound = Container(viewing: node) }
        guard let container = bound else { return stop() }
        var isUnused = false
        Scope.run(container, frame) {
            while let turn = next.take() {
                tell(turn, in: container)
                // The list of observers is let go after the lock was taken: then nobody changes it in place unseen.
                next = family.lock.withLock { token in
                    isUnused = state[token].count == 0
                    return takeTurn(token, in: frame)
                }
                extendLifetime(turn)
            }
        }
        // The last one may have ended while it was called.
        guard isUnused else { return }
        let dropped = family.lock.withLock { token in endIfUnused(token) }
        withExtendedLifetime(dropped) {}
    }

    /// Returns what the caller is to deliver next, until there is nothing more.
    private func takeTurn(_ token: LockToken, in frame: Frame) -> Turn? {
        state[token].isDelivering = isDue(token, in: frame)
        guard state[token].isDelivering else { return nil }
        return Turn(
            event: state[token].takeFirst(), observers: state[token].observers, reloader: state[token].reloader)
    }

    /// Whether there is an event that need not wait any longer.
    ///
    /// A frame of another container holds up nothing that comes later.
    private func isDue(_ token: LockToken, in frame: Frame) -> Bool {
        guard state[token].first < state[token].events.count, !state[token].isEnded,
            !node.use({ $0.isEnded(token) })
        else { return false }
        guard let holder = state[token].events[state[token].first].holder, !holder.isFinished, holder !== frame else {
            return true
        }
        return holder.node.map { UnmanagedReference($0) != node } ?? true
            && state[token].events[state[token].first...].contains { event in
                event.holder.map { $0.isFinished || $0 === frame } ?? true
            }
    }

    private func tell(_ turn: borrowing Turn, in container: Container) {
        let (event, number) = (turn.event, turn.event.number)
        switch event.news {
        case .value(let payload):
            if let only = event.only { return only.hear(payload, number) }
            turn.observers.forEachUncounted { $0.hear(payload, number) }
        case .load(let payload):
            turn.observers.forEachUncounted { if !$0.skipsLoads { $0.hear(payload, number) } }
        case .gone:
            if let only = event.only {
                only.onGone?(container)
                return
            }
            turn.observers.forEachUncounted { $0.onGone?(container) }
            // Who tracks reads wants to know; the load that follows is no change to it.
            turn.observers.forEachUncounted { if $0.skipsLoads { $0.hear(Payload(()), number) } }
            reload(turn.reloader, in: container)
        }
    }

    /// Loads what is gone, if nothing is there by now; if what was loaded was not kept, a few times.
    private func reload(_ reloader: Reloader?, in container: Container) {
        var garbage = Garbage()
        let isGone = family.lock.withLock { token in self.isGone(token, &garbage) }
        garbage.dispose()
        guard isGone, let reloader else { return }
        _ = reloader(container, true)
        garbage = Garbage()
        family.lock.withLock { token in
            if state[token].isEnded { return }
            if case .found = node.use({ $0.look(token, key) }) { _ = refresh(token, News(), nil, &garbage) }
        }
        garbage.dispose()
    }

    /// Whether there is nothing and something is to be loaded; if there is something by now, it's delivered.
    private func isGone(_ token: LockToken, _ garbage: inout Garbage) -> Bool {
        if state[token].isEnded || state[token].count == 0 { return false }
        if case .found = node.use({ $0.look(token, key) }) {
            _ = refresh(token, News(), nil, &garbage)
            return false
        }
        return key.kind == .property || !node.use { $0.storage[token].isRefusing }
    }
}

extension Container {
    /// Adds an observer to those of its key in this container.
    ///
    /// From now on writes of the key in the nodes above take the long way.
    func add(
        _ observer: Observer, _ reloader: Reloader?, _ naming: PropertyNaming? = nil, startsWithPresent: Bool = false
    ) {
        let (node, key) = (node, observer.key)
        if let naming { node.family.learn(naming, of: key) }
        let container = (owner ?? (isView ? nil : self)).map { WeakReference($0) }
        var garbage = Garbage()
        let follower: Follower? = node.family.lock.withLock { token in
            if node.isEnded(token) { return nil }
            let place = node.place(token, key)
            let rare = place[token].more()
            let follower: Follower
            if let known = rare.follower {
                follower = known
            } else {
                follower = Follower(key, in: node, of: container)
                rare.follower = follower
                place.follow(token)
                follower.begin(token, &garbage)
            }
            follower.add(token, observer, reloader, startsWithPresent: startsWithPresent)
            return follower
        }
        garbage.dispose()
        guard let follower else { return observer.cancel() }
        if startsWithPresent { Follower.deliver(follower) }
        follower.sweep()
    }
}

extension Follower {
    /// Begins with what is there, without an event.
    fileprivate func begin(_ token: LockToken, _ garbage: inout Garbage) {
        guard case .found(let cell, _) = node.use({ $0.look(token, key) }) else { return }
        watch(token, cell, &garbage)
        state[token].seen = .value(Stamp(cell))
    }
}
