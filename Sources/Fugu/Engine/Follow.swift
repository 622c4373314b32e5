/// An observer of a key's changes, as a container sees them.
final class Observer: WordIdentifier {
    let key: Key
    /// Whether a first load doesn't count as a change.
    let skipsLoads: Bool
    /// Whether it ends when its container is closed.
    let isSequence: Bool
    /// Called when the value is gone, or missing at the beginning: the observer is then responsible for loading it.
    fileprivate let onGone: (@Sendable (Container) -> Void)?
    /// Whether the owner, if there's one, was released.
    private let isOver: (@Sendable () -> Bool)?
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

    /// Begins to observe through a follower, unless the observer is already canceled.
    fileprivate func begin(_ follower: Follower, at number: UInt64) {
        state.withLock { state in
            guard state.call != nil else { return }
            (state.follower, state.since) = (follower, number)
        }
    }

    /// Calls the observer with a value that came after the observation began.
    fileprivate func hear(_ payload: Payload, _ number: UInt64) {
        if isOrphan { return cancel() }
        let call = state.withLock { number > $0.since ? $0.call : nil }
        call?.body(payload)
    }

    fileprivate var isOrphan: Bool { isOver?() ?? false }

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
    /// The number of observers at which those whose owners were released are removed.
    var sweepCount = 16
    /// Loads the key again without a reader, or `nil` until an observer brings a loader.
    var reloader = Kept<KeyDefinition?>(nil)
    var seen = Seen.nothing
    /// The provenance of the last instance that was seen, and whether the follower watches its inputs.
    var watched: Provenance?
    var watchesInputs = false
    /// Other keys that are watched: of instances past which the node sees, and the inputs of loads for observers that have failed
    /// since.
    var others: Set<Key> = []
    /// Whether the last instance that was seen reloads when its inputs change.
    var reloads: Bool { watched?.reloads == true }
    /// The pending events.
    var events = Queue<Event>()
    var number: UInt64 = 0
    var isDelivering = false
    /// A frame for the next delivery.
    var spareFrame: Frame?
    var isEnded = false

    /// What observers have received last, or are about to receive.
    enum Seen {
        case nothing
        case value(time: UInt64)
        /// The value is gone, and observers wait for the next one; a load of it may have changed its own inputs since.
        case loss(byItsLoad: Bool)
    }

    /// An event for observers: the value, and whether it's that of a first load; or `nil` if the value is gone and must be loaded
    /// again, which is a separate event.
    ///
    /// It waits for the end of a frame, and is for one observer, or for all if that's `nil`.
    typealias Event = (value: Payload?, isLoad: Bool, number: UInt64, holder: Frame?, only: Observer?)

    mutating func queue(_ value: Payload?, isLoad: Bool = false, until holder: Frame?, only: Observer? = nil) {
        number += 1
        events.append((value, isLoad, number, holder, only))
    }
}

// Under the lock.
extension Follower {
    /// Looks again, queues an event if what's seen has changed, and returns whether there's something to deliver.
    ///
    /// - `isReset`: Whether the key was reset, so that it's loaded again even if it doesn't reload.
    /// - `holder`: The frame at whose end the event is delivered.
    /// - `look`: What's seen, if that's known.
    func refresh(
        _ token: LockToken, isReset: Bool = false, until holder: Frame? = nil, _ look: Look? = nil,
        _ garbage: inout Garbage
    ) -> Bool {
        if state[token].isEnded { return false }
        guard case .found(let cell, _) = look ?? node.use({ $0.lookInline(token, key) }) else {
            // Keep watching the last instance's inputs: when a key that hides it is reset, it may be seen again. Without a
            // reloader, observers that missed this event, such as a view that reads at this moment, receive the next one.
            if state[token].reloader.value == nil, let provenance = state[token].watched {
                watch(token, provenance, isLost: true, &garbage)
            }
            switch state[token].seen {
            case .nothing: return false
            case .value where isReset || key.kind == .property || state[token].reloads:
                state[token].seen = .loss(byItsLoad: false)
            case .value: return false
            case .loss:
                let isByItsLoad = Frame.current?.chain.contains(where: isLoad) == true
                state[token].seen = .loss(byItsLoad: isByItsLoad)
                if isByItsLoad { return false }
            }
            return queueGone(token, until: holder)
        }
        watch(token, cell.place?[token].provenance, isLost: false, &garbage)
        // If something was seen before, a loaded instance is no first load: it was uncovered, or replaces what was seen.
        var isFirst = true
        if case .value(let last) = state[token].seen {
            isFirst = false
            if last == cell.time { return false }
        }
        state[token].seen = .value(time: cell.time)
        guard let payload = cell.payload else { return false }
        state[token].queue(payload, isLoad: isFirst && cell.has(CellFlags.loaded), until: holder)
        return true
    }

    /// Watches the inputs of a load for observers that failed or wasn't kept, so that a change of one tries it again.
    ///
    /// Returns whether the load has changed its inputs itself, or `nil` if no observer misses the value.
    func watchFailed(_ token: LockToken, _ provenance: Provenance) -> Bool? {
        guard case .loss(let isByItsLoad) = state[token].seen else { return nil }
        state[token].seen = .loss(byItsLoad: false)
        node.use { node in
            guard let place = node.cell(token, key)?.place else { return }
            let known = state[token].watchesInputs ? state[token].watched?.keys ?? [] : []
            let inputs = provenance.keys.filter { $0 != key && !known.contains($0) }
            state[token].others.formUnion(inputs)
            place.observers.watch(token, inputs)
        }
        return isByItsLoad
    }

    /// Whether a change of an input at a place reaches the node: no node in between hides it.
    func isReached(_ token: LockToken, from start: Place) -> Bool {
        start[token].node.use { home in
            !node.use { $0.path(below: home).contains { $0.holds(token, start.key) } }
        }
    }

    private func isLoad(_ frame: Frame) -> Bool { frame.kind == .load && frame.key == key && frame.family === family }

    /// Counts a value that was never seen as missed, so that a load that fails or isn't kept is tried again.
    func missFirst(_ token: LockToken) {
        if case .nothing = state[token].seen { state[token].seen = .loss(byItsLoad: false) }
    }

    /// The observers of sequences, which a closing cancels.
    func sequences(_ token: LockToken) -> [Observer] { state[token].observers.all.filter(\.isSequence) }

    /// Whether observers miss a value, once pending events are delivered.
    func isMissing(_ token: LockToken) -> Bool { if case .loss = state[token].seen { true } else { false } }

    /// Queues the event that the value is gone, unless it's the last one queued, and returns whether it did.
    func queueGone(_ token: LockToken, until holder: Frame?) -> Bool {
        if let last = state[token].events.last, last.value == nil { return false }
        state[token].queue(nil, until: holder)
        return true
    }

    /// Watches the inputs of an instance, and of those past which the node sees: a change of one may hide the instance, or
    /// uncover another one.
    ///
    /// Nothing hides an instance from the root until it's lost.
    fileprivate func watch(_ token: LockToken, _ provenance: Provenance?, isLost: Bool, _ garbage: inout Garbage) {
        let watchesInputs = node.depth > 0 || isLost
        var others = watchesInputs ? node.use { $0.passed(token, [key]) } : []
        if isLost { others.formUnion(state[token].others) }
        if state[token].watched === provenance, state[token].watchesInputs == watchesInputs,
            state[token].others == others
        {
            return
        }
        garbage.add(state[token].watched)
        state[token].watched = provenance
        state[token].watchesInputs = watchesInputs
        state[token].others = others
        guard let place = node.use({ $0.cell(token, key)?.place }) else { return }
        place.observers.unwatch(token)
        place.observers.watch(token, [key] + state[token].others)
        if state[token].watchesInputs, let watched = state[token].watched { place.observers.watch(token, watched.keys) }
    }

    fileprivate func add(
        _ token: LockToken, _ observer: Observer, _ reloader: KeyDefinition?, startsWithPresent: Bool,
        _ garbage: inout Garbage
    ) {
        observer.begin(self, at: state[token].number)
        state[token].observers.append(observer)
        if state[token].reloader.value == nil { state[token].reloader.replace(by: reloader, &garbage) }
        guard startsWithPresent else { return }
        if case .found(let cell, _) = node.use({ $0.look(token, key) }), let payload = cell.payload {
            state[token].queue(payload, until: nil, only: observer)
        } else if observer.onGone != nil {
            // From now on the value counts as missed, so that a load that fails is tried again.
            if !isMissing(token) { state[token].seen = .loss(byItsLoad: false) }
            state[token].queue(nil, until: nil, only: observer)
        } else {
            missFirst(token)
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
        place[token].rare?.follower.set(nil, &garbage)
        place.observers.unwatch(token)
        garbage.add(state[token].watched.take())
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
            garbage.add(state[token].watched.take())
            return state[token].observers.takeAll()
        }
        garbage.dispose()
        for observer in observers { observer.cancel() }
    }

    /// Cancels the observers whose owners were released, once there are twice as many observers as after the last sweep.
    fileprivate func sweep() {
        let observers = family.lock.withLock { token in
            state[token].observers.count < state[token].sweepCount ? [] : state[token].observers.all
        }
        if observers.isEmpty { return }
        for observer in observers where observer.isOrphan { observer.cancel() }
        family.lock.withLock { token in state[token].sweepCount = max(16, 2 * state[token].observers.count) }
    }

    /// Delivers the pending events of followers, and those that the observers cause, in rounds.
    ///
    /// A round has no parent frame, so no load has what observers read as inputs. What they change is delivered in the next round.
    static func deliver(_ followers: SmallList<Follower>) {
        var frame: Frame?
        followers.forEach { $0.deliver(in: &frame) }
        var rounds = 0
        while frame != nil {
            let followers = followers.first!.endRound(&frame)
            rounds += 1
            if rounds == endless, let next = followers.first { next.reportEndless() }
            for follower in followers { follower.deliver(in: &frame) }
        }
    }

    /// The number of changes by observers in a row that are reported, since they may go on without an end.
    private static let endless = 10_000

    private func reportEndless() { family.reports.report(Messages.observersSet(key)) }

    /// Ends a round of observers, and returns the followers that the observers' changes reached, for the next one.
    ///
    /// The round ends first: a thread that already delivers to one of these followers either takes the events that waited
    /// for the end, or has stopped when this thread checks.
    ///
    /// - `frame`: The frame of the round. The follower keeps one that nothing else refers to, for its next delivery.
    private func endRound(_ frame: inout Frame?) -> [Follower] {
        frame!.markFinished()
        // Another of the round's followers may have made it, even of another family.
        let family = frame!.family
        let followers = family.lock.withLock { token -> [Follower] in
            if let rare = frame!.state[token].rare { return rare.deferred.takeAll() }
            if family === self.family, isKnownUniquelyReferenced(&frame), !state[token].isEnded {
                frame!.restart()
                swap(&state[token].spareFrame, &frame)
            }
            return []
        }
        frame = nil
        return followers
    }

    private func newFrame() -> Frame { Frame(.observers, in: family, nil, under: nil, within: nil) }

    /// The next event that a thread delivers.
    private struct Turn: ~Copyable {
        let event: FollowerState.Event
        let observers: [Observer?]
    }

    /// Delivers queued events, unless another thread is doing so, which then delivers these, too.
    ///
    /// - `frame`: The frame of the round, or `nil` if nothing was delivered in it yet.
    private func deliver(in frame: inout Frame?) {
        // While a container is being released, nothing is delivered.
        guard let container = boundContainer() else { return }
        var next: Turn? = family.lock.withLock { token in
            if state[token].isDelivering { return nil }
            if frame == nil { frame = state[token].spareFrame.take() }
            return takeTurn(token, in: frame)
        }
        guard next != nil else { return }
        let frame = frame.orMade(newFrame())
        var ownChanges = 0
        Context.run(container, frame) {
            while let turn = next.take() {
                if turn.event.holder === frame {
                    ownChanges += 1
                    if ownChanges == Self.endless { reportEndless() }
                }
                tell(turn, in: container)
                // Keep the turn's list until the lock has been taken, which orders these calls before the list changes in place.
                var left: Garbage?
                next = family.lock.withLock { token in
                    let next = takeTurn(token, in: frame)
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
    private func takeTurn(_ token: LockToken, in frame: Frame?) -> Turn? {
        state[token].isDelivering = isDue(token, in: frame)
        guard state[token].isDelivering else { return nil }
        return Turn(event: state[token].events.takeFirst(), observers: state[token].observers.slots)
    }

    /// Whether there's an event that no longer has to wait for the end of a frame.
    ///
    /// A frame of another container doesn't hold up later events.
    private func isDue(_ token: LockToken, in frame: Frame?) -> Bool {
        guard let holder = state[token].events.first({ $0.holder }), !state[token].isEnded,
            !node.use({ $0.isEnded(token) })
        else {
            return false
        }
        guard let holder, !holder.isFinished, holder !== frame else {
            return true
        }
        return holder.node.map { UnmanagedReference($0) != node } ?? true
            && state[token].events.contains { event in
                event.holder.map { $0.isFinished || $0 === frame } ?? true
            }
    }

    private func tell(_ turn: borrowing Turn, in container: Container) {
        let (number, isLoad) = (turn.event.number, turn.event.isLoad)
        guard let value = turn.event.value else {
            if let only = turn.event.only {
                only.onGone?(container)
                return
            }
            turn.observers.forEachUncounted { $0.onGone?(container) }
            // Trackers of reads count this as a change, and the load that follows as none.
            turn.observers.forEachUncounted { if $0.skipsLoads { $0.hear(Payload(()), number) } }
            return reload(in: container)
        }
        if let only = turn.event.only { return only.hear(value, number) }
        turn.observers.forEachUncounted { if !isLoad || !$0.skipsLoads { $0.hear(value, number) } }
    }

    /// Loads the key again, if there's still no value.
    private func reload(in container: Container) {
        guard isGone(), let reloader = family.lock.withLock({ state[$0].reloader.value }) else { return }
        if let input = missingInput() { return family.reports.report(Messages.notReloaded(key, without: input)) }
        for input in deepInputs() { _ = try? input.definition?.readNow(.reload, in: container) }
        _ = reloader.prepare(in: container, reportsFailure: true)
        _ = isGone()
    }

    /// Returns some of the keys that were dropped with this one, deepest first, so that none of their loads, nor the one of this key
    /// after them, nests deeply: a change must not need more stack the longer a chain of features is.
    private func deepInputs() -> [Key] {
        family.lock.withLock { token in
            func inputs(_ key: Key) -> ArraySlice<Key> {
                family.last(token, of: key)?.direct[...] ?? []
            }
            var found: [Key] = []
            var seen: Set<Key> = [key]
            var open = [(key: key, inputs: inputs(key))]
            while let last = open.indices.last {
                guard let next = open[last].inputs.popFirst() else {
                    if last > 0, last.isMultiple(of: 32) { found.append(open[last].key) }
                    open.removeLast()
                    continue
                }
                guard seen.insert(next).inserted, case .missing = node.use({ $0.look(token, next) }) else { continue }
                open.append((next, inputs(next)))
            }
            return found
        }
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

    /// Whether there's still no value, and it may be loaded; a value that's there is queued instead.
    private func isGone() -> Bool {
        var garbage = Garbage()
        defer { garbage.dispose() }
        return family.lock.withLock { token in
            if state[token].isEnded || state[token].observers.count == 0 { return false }
            if case .found = node.use({ $0.look(token, key) }) {
                _ = refresh(token, nil, &garbage)
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
            let rare = place[token].more()
            let follower: Follower
            if let known = rare.follower.value {
                follower = known
            } else {
                follower = Follower(key, in: node, of: container)
                rare.follower.set(follower, &garbage)
                place.observers.watch(token, [key])
                // Begin with what's seen now, without an event.
                if case .found(let cell, _) = node.look(token, key) {
                    follower.watch(token, cell.place?[token].provenance, isLost: false, &garbage)
                    follower.state[token].seen = .value(time: cell.time)
                }
            }
            follower.add(token, observer, reloader, startsWithPresent: startsWithPresent, &garbage)
            return follower
        }
        garbage.dispose()
        guard let follower else { return observer.cancel() }
        if startsWithPresent { Follower.deliver(SmallList(only: follower)) }
        follower.sweep()
    }
}
