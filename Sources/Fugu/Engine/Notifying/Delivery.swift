// The delivery of events to the followers of a key: one thread at a time delivers, in order, outside the lock, in nobody's
// load.

/// What happened to a key, as far as those who follow it are concerned.
struct Announcement {
    var isLoad = false
    /// The value is equal to what was there: nobody is told, but this is the state to compare with from now on.
    var isSilent = false
    /// The transaction that ends with this.
    ///
    /// What waits for its end about the same key is not told.
    var transaction: (any CallFrame)?
}

/// The state of a key as it is seen from somewhere: where the value stands, and when it last changed there.
struct Stamp: Equatable {
    let cell: CellReference
    private let changed: UInt64

    /// Makes a stamp of a cell, whose changes are counted from now on.
    init(_ token: LockToken, of cell: CellReference) {
        self.cell = cell
        changed = cell.makeState()[token].changed
    }
}

extension Change {
    /// Queues what those are to hear who observe the key here, or below and see what is here.
    func announce(_ token: LockToken, as announcement: Announcement = Announcement(), _ effects: inout Effects) {
        guard let cellState = cell.state else { return }
        // Nearly always there is nobody below.
        if !cellState[token].place.hasBelow {
            cellState[token].followers?.refresh(token, as: announcement, &effects)
            return
        }
        node.forEachLinked(token, key) { _, cellState in
            cellState[token].followers?.refresh(token, as: announcement, &effects)
        }
    }
}

extension Followers {
    /// Queues what is seen now, if that is another state than the one that was told last.
    func refresh(_ token: LockToken, as announcement: Announcement = Announcement(), _ effects: inout Effects) {
        if state[token].isEnded { return }
        // Observers are owed an event for those that were dropped unheard, even if only to hear that the value is gone.
        var isOwed = false
        if let transaction = announcement.transaction, !announcement.isSilent {
            let dropped = state[token].events.removeAll(heldBy: transaction)
            isOwed = !dropped.isEmpty
            if isOwed { effects.garbage.add(Retained(dropped)) }
        }
        guard let visible = visible(token), let payload = visible.payload else {
            let isKnown = if case .state = state[token].known { true } else { false }
            if isOwed || isKnown && !announcement.isSilent {
                queueLoss(token, &effects)
            } else if isKnown {
                state[token].known = .nothing
            }
            return
        }
        let known = FollowersState.Known.state(Stamp(token, of: visible))
        let isNews = state[token].known != known
        state[token].known = known
        guard !announcement.isSilent, isOwed || isNews else { return }
        effects.tell(token, announcement.isLoad ? .load(payload) : .value(payload), self)
    }

    /// Looks again for those who know that the value is gone, after something was set or reset that may concern it.
    func lookAgain(_ token: LockToken, _ effects: inout Effects) {
        guard case .loss = state[token].known else { return }
        if visible(token) == nil { queueLoss(token, &effects) } else { refresh(token, &effects) }
    }

    /// Looks again after a key was set that hides what was made from it.
    func lookAgain(_ token: LockToken, behind key: Key, _ effects: inout Effects) {
        if reloads(token, from: key) { refresh(token, &effects) } else { lookAgain(token, &effects) }
    }

    /// Returns whether what was told last was made from the key and reloads.
    private func reloads(_ token: LockToken, from key: Key) -> Bool {
        guard case .state(let state) = state[token].known, let cellState = state.cell.state,
            let provenance = cellState[token].provenance,
            provenance.reloads
        else { return false }
        return provenance.contains(key.mask) { $0 == key }
    }

    /// Queues a loss, whose delivery loads the key again for those who observe it, unless there is a value by then.
    func queueLoss(_ token: LockToken, _ effects: inout Effects) {
        var attempts = 0
        if case .loss(let known) = state[token].known { attempts = known }
        queueLoss(token, after: attempts, &effects)
    }

    private func queueLoss(_ token: LockToken, after attempts: Int, _ effects: inout Effects) {
        state[token].known = .loss(attempts: attempts)
        effects.tell(token, .gone, self)
    }

    /// What one thread has to do next.
    struct Turn {
        let followers: Followers
        let event: Event
        let observers: [Observer?]
        let container: Container
    }

    /// What is to be delivered by the one who asks, if nothing is being delivered or waits for it.
    @inline(__always)  // Else the event is copied.
    func begin(_ token: LockToken, _ event: Event) -> Turn? {
        guard !state[token].isDelivering, state[token].events.isEmpty else { return nil }
        return turn(token, event)
    }

    /// Returns what the caller is to deliver next, until there is nothing more.
    ///
    /// The first time it returns nil, too, if another thread is delivering.
    func takeTurn(_ token: LockToken, isFirst: Bool) -> Turn? {
        if isFirst, state[token].isDelivering { return nil }
        state[token].isDelivering = false
        guard let event = state[token].events.first, isDue(token, event), !state[token].isEnded,
            let turn = turn(token, event)
        else {
            return nil
        }
        state[token].events.removeFirst()
        return turn
    }

    private func turn(_ token: LockToken, _ event: Event) -> Turn? {
        guard let container = state[token].container else { return nil }
        state[token].isDelivering = true
        return Turn(followers: self, event: event, observers: state[token].observers.slots, container: container)
    }

    /// Whether an event need not wait any longer.
    ///
    /// A frame of another container holds up nothing that comes later.
    private func isDue(_ token: LockToken, _ event: Event) -> Bool {
        guard let holder = event.holder, !holder.isFinished else { return true }
        return state[token].events.freeCount > 0 && !node.use { holder.isOf($0) }
    }

    /// Looks at what a reload left: something else may be seen by now, or what was loaded may not have been kept.
    ///
    /// If nothing is seen, what cannot fail is loaded again, a few times.
    fileprivate func check(_ token: LockToken, _ effects: inout Effects) {
        if visible(token) != nil { return refresh(token, &effects) }
        guard case .loss(let attempts) = state[token].known, attempts < 8, !key.kind.throws else { return }
        queueLoss(token, after: attempts + 1, &effects)
    }

    /// What to do where something is gone: how to load it again, if nothing is there by now.
    fileprivate func reloaderIfGone(_ token: LockToken, _ effects: inout Effects) -> Reloader? {
        if state[token].isEnded || node.use({ $0.isRefusing(token, key, nil) }) { return nil }
        if visible(token) == nil { return state[token].reloader }
        refresh(token, &effects)
        return nil
    }
}

// Outside the lock.
extension Followers {
    /// Calls the observers of what is queued, unless another thread is at it, which then does this too.
    func deliver() { family.lock.withLock { token in takeTurn(token, isFirst: true) }?.deliver() }

    fileprivate func reload(in container: Container) {
        var effects = Effects()
        let reloader = family.lock.withLock { token in reloaderIfGone(token, &effects) }
        effects.perform()
        guard let reloader else { return }
        reloader(container)
        var laterEffects = Effects()
        family.lock.withLock { token in if !state[token].isEnded { check(token, &laterEffects) } }
        laterEffects.perform()
    }
}

extension Followers.Turn {
    /// Calls the observers, and goes on with what is queued by then.
    consuming func deliver() {
        Current.observing(container) {
            tell()
            while let next = followers.family.lock.withLock({ token in followers.takeTurn(token, isFirst: false) }) {
                next.tell()
            }
        }
    }

    private func tell() {
        let time = event.time
        switch event.news {
        case .value(let payload):
            if let only = event.only { return only.hear(payload, at: time) }
            observers.forEachUncounted { $0.hear(payload, at: time) }
        case .load(let payload): observers.forEachUncounted { $0.hear(payload, at: time, isLoad: true) }
        case .gone:
            observers.forEachUncounted { $0.hearOfLoss(at: time) }
            followers.reload(in: container)
        }
    }
}
