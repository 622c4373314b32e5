/// How what is queued for the followers of a key reaches them: one thread at a time, in order, outside the lock, in nobody's
/// load.
extension Node {
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

    /// Under the lock: queues what those are to hear who observe the key here, or below and see what is here.
    func announce(
        _ key: Key, as announcement: Announcement = Announcement(), _ holder: (any CallFrame)?, _ effects: inout Effects
    ) {
        guard let info = storage.existingCell(key)?.info else { return }
        // Nearly always there is nobody below.
        if !info.value.place.hasBelow {
            info.value.followers?.refresh(as: announcement, holder, &effects)
            return
        }
        forEachLinked(key) { _, info in info.value.followers?.refresh(as: announcement, holder, &effects) }
    }
}

// Under the lock.
extension Followers {
    /// Queues what is seen now, if that is another state than the one that was told last.
    func refresh(
        as announcement: Node.Announcement = Node.Announcement(), _ holder: (any CallFrame)?, _ effects: inout Effects
    ) {
        if state.value.isEnded { return }
        // What was dropped unheard is owed, be it that something has gone.
        var isOwed = false
        if let transaction = announcement.transaction, !announcement.isSilent {
            let dropped = state.value.events.removeAll(heldBy: transaction)
            isOwed = !dropped.isEmpty
            if isOwed { effects.garbage.add(Retained(dropped)) }
        }
        let visible = node.use { $0.visible(key) }
        guard let visible, let payload = visible.payload else {
            let isKnown = if case .state = state.value.known { true } else { false }
            if isOwed || isKnown && !announcement.isSilent {
                reload(holder, &effects)
            } else if isKnown {
                state.value.known = .nothing
            }
            return
        }
        let known = FollowersState.Known.state(Stamp(of: visible))
        let isNews = state.value.known != known
        state.value.known = known
        guard !announcement.isSilent, isOwed || isNews else { return }
        effects.tell(announcement.isLoad ? .load(payload) : .value(payload), self, until: holder)
    }

    /// After something was set or reset that may hide or uncover what those wait for who know that the value is gone.
    func lookAgain(_ holder: (any CallFrame)?, _ effects: inout Effects) {
        guard case .loss = state.value.known else { return }
        if node.use({ $0.visible(key) }) == nil { reload(holder, &effects) } else { refresh(holder, &effects) }
    }

    /// Lets the key be loaded again for those who observe it, unless there is something by then.
    func reload(_ holder: (any CallFrame)?, _ effects: inout Effects) {
        var attempts = 0
        if case .loss(let known) = state.value.known { attempts = known }
        reload(after: attempts, holder, &effects)
    }

    private func reload(after attempts: Int, _ holder: (any CallFrame)?, _ effects: inout Effects) {
        state.value.known = .loss(attempts: attempts)
        effects.tell(.gone, self, until: holder)
    }

    /// What one thread has to do next.
    struct Turn {
        let followers: Followers
        let event: Event
        let observers: [Observer?]
        let container: Container
    }

    /// What is to be delivered by the one who asks, if nothing is being delivered or waits for it.
    func begin(_ event: Event) -> Turn? {
        guard !state.value.isDelivering, state.value.events.isEmpty else { return nil }
        return turn(event)
    }

    /// What is to be delivered next by the one who asks, until there is nothing more.
    ///
    /// The first time that is nothing, if another thread is at it.
    func takeTurn(isFirst: Bool) -> Turn? {
        if isFirst, state.value.isDelivering { return nil }
        state.value.isDelivering = false
        guard let event = state.value.events.first, isDue(event), !state.value.isEnded, let turn = turn(event) else {
            return nil
        }
        state.value.events.removeFirst()
        return turn
    }

    private func turn(_ event: Event) -> Turn? {
        guard let container = state.value.container else { return nil }
        state.value.isDelivering = true
        return Turn(followers: self, event: event, observers: state.value.observers.slots, container: container)
    }

    /// Whether an event need not wait any longer.
    ///
    /// A frame of another container holds up nothing that comes later.
    private func isDue(_ event: Event) -> Bool {
        guard let holder = event.holder, !holder.isFinished else { return true }
        return state.value.events.freeCount > 0 && !node.use { holder.isOf($0) }
    }

    /// After a reload: nothing may have been loaded, since something else is seen by now, or what was loaded may not
    /// have been kept.
    ///
    /// What cannot fail is loaded again, a few times.
    fileprivate func check(_ effects: inout Effects) {
        if node.use({ $0.visible(key) }) != nil { return refresh(nil, &effects) }
        guard case .loss(let attempts) = state.value.known, attempts < 8, !key.kind.throws else { return }
        reload(after: attempts + 1, nil, &effects)
    }

    /// What to do where something is gone: how to load it again, if nothing is there by now.
    fileprivate func reloaderIfGone(_ effects: inout Effects) -> Reloader? {
        if state.value.isEnded || node.use({ $0.isRefusing(nil) }) { return nil }
        if node.use({ $0.visible(key) }) == nil { return state.value.reloader }
        refresh(nil, &effects)
        return nil
    }
}

// Outside the lock.
extension Followers {
    /// Calls the observers of what is queued, unless another thread is at it, which then does this too.
    func deliver() { family.lock.withLock { takeTurn(isFirst: true) }?.deliver() }

    fileprivate func reload(in container: Container) {
        var effects = Effects()
        let reloader = family.lock.withLock { reloaderIfGone(&effects) }
        effects.perform()
        guard let reloader else { return }
        reloader(container)
        var laterEffects = Effects()
        family.lock.withLock { if !state.value.isEnded { check(&laterEffects) } }
        laterEffects.perform()
    }
}

extension Followers.Turn {
    /// Calls the observers, and goes on with what is queued by then.
    consuming func deliver() {
        Current.observing(container) {
            tell()
            while let next = followers.family.lock.withLock({ followers.takeTurn(isFirst: false) }) { next.tell() }
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
