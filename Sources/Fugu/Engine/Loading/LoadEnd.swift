/// The end of a load: where what was made belongs, what becomes of it, and what its asker and those who waited get.
private struct LoadEnd {
    let load: Load
    /// The load that reads the instance through its handle.
    let recorder: Load?
    let home: Node
    let provenance: Provenance
    let lifetime: InstanceLifetime?

    /// What the asker gets in place of what was made, if something else stands there by now.
    struct Overtaker {
        let payload: Payload
        /// What those who waited get, if it isn't what was made.
        ///
        /// It may have left its cell by the time they come, so they are handed its lifetime, too.
        let outcome: LoadOutcome?
    }

    init(_ token: LockToken, of load: Load, _ recorder: Load?, _ duration: Duration?) {
        self.load = load
        self.recorder = recorder
        (home, provenance) = load.settle(token, duration)
        lifetime = load.makeLifetime(token, home)
    }

    private var asker: Node { load.asker }
    private var key: Key { load.requested }

    /// Returns what events call it.
    func kind(_ token: LockToken, of result: Result<Payload, any Error>, _ overtaker: Overtaker?) -> ContainerEvent.Kind
    {
        if case .failure = result { return .failed }
        guard overtaker == nil else { return .overtaken }
        let cell = home.storage.existingCell(token, key)
        guard let cell, cell.has(CellFlags.loaded), let cellState = cell.state else { return .notKept }
        return cellState[token].loadCount > 1 ? .reloaded : .loaded
    }

    /// Returns what those who waited get, if nothing stands in the way.
    func outcome(_ token: LockToken, of result: Result<Payload, any Error>) -> LoadOutcome {
        LoadOutcome(
            result: result, home: home, provenance: provenance, lifetime: lifetime,
            isOutdated: provenance.isOutdated(token, for: asker), isProvisional: load.state[token].isProvisional)
    }

    /// Puts what was made where it belongs, and returns what stands in the way.
    ///
    /// What was set meanwhile wins, and so does what someone else loaded there.
    func keep(_ token: LockToken, _ payload: Payload, _ effects: inout Effects) -> Overtaker? {
        effects.garbage.add(lifetime, isForNobody: false)
        if asker.isEnded(token) { return nil }
        rememberLast(token, &effects)
        let lookup = Lookup(token, key, for: asker)
        if let (cell, owner) = lookup.present, let existing = cell.payload,
            !cell.has(CellFlags.loaded) || owner.depth <= home.depth
        {
            lookup.record(token, for: recorder)
            let overtaker = overtaker(token, existing, in: cell, of: owner)
            if overtaker.outcome != nil {
                effects.garbage.add(lifetime, isForNobody: true)
            } else if Lookup(token, key, for: home).present == nil {
                // Who does not see what was set below the home still shares what was loaded for it.
                _ = place(token, payload, &effects)
            }
            return overtaker
        }
        if let cell = place(token, payload, &effects) {
            record(token, cell)
            if home === asker { return nil }
            if provenance.isValid(token, for: asker, from: home.depth) {
                lookup.link(token, to: cell)
            } else {
                // Something was set meanwhile that hides it from the asker. Those who observe there were not told of
                // that, since there was nothing to hide yet.
                repeatIfObserved(token, &effects)
            }
        } else {
            recordUnkept(token)
            if !load.state[token].isProvisional { repeatIfObserved(token, &effects) }
        }
        return nil
    }

    /// Returns what was set meanwhile, if anything was, which the reader of a load that failed gets.
    func discard(_ token: LockToken, _ effects: inout Effects) -> Overtaker? {
        effects.garbage.add(lifetime, isForNobody: true)
        if asker.isEnded(token) { return nil }
        let lookup = Lookup(token, key, for: asker)
        guard let (cell, owner) = lookup.present, let existing = cell.payload, !cell.has(CellFlags.loaded) else {
            return nil
        }
        lookup.record(token, for: recorder)
        return overtaker(token, existing, in: cell, of: owner)
    }

    /// What stands below the home is for the asker alone; anything else is for those who waited, too.
    private func overtaker(
        _ token: LockToken, _ payload: Payload, in cell: CellReference, of owner: UnmanagedReference<Node>
    ) -> Overtaker {
        if owner.depth > home.depth { return Overtaker(payload: payload, outcome: nil) }
        let state = cell.state
        let outcome = LoadOutcome(
            result: .success(payload), home: owner.object,
            provenance: state?[token].provenance ?? Provenance(inputs: [], isLocal: false, reloads: false),
            lifetime: state?[token].lifetime, isOutdated: false)
        return Overtaker(payload: payload, outcome: outcome)
    }

    /// Remembers the provenance, from which the home of the next load is guessed.
    private func rememberLast(_ token: LockToken, _ effects: inout Effects) {
        let loads = load.family.rootState(token, of: key)
        let last = loads[token].lastProvenance.take()
        loads[token].lastProvenance = provenance
        // What lets go of a long chain does so outside the lock.
        if let last, last.length > 8 { effects.garbage.add(last) }
    }

    private func record(_ token: LockToken, _ cell: CellReference) {
        recorder?.record(token, cell, at: home.depth)
        asker.ownRecorder(token)?.record(token, cell, at: home.depth)
    }

    /// Records, for whoever needed the instance, that it was made from one that isn't kept.
    private func recordUnkept(_ token: LockToken) {
        let made = LoadOutcome(
            result: .success(Payload(())), home: home, provenance: provenance, lifetime: lifetime, isOutdated: false,
            isProvisional: load.state[token].isProvisional)
        recorder?.record(token, made, of: key)
        asker.ownRecorder(token)?.record(token, made, of: key)
    }

    /// Loads again at once, if it's observed, what was reset meanwhile or made from old values.
    ///
    /// Those who observe know that the instance before is gone, and would never hear of another.
    private func repeatIfObserved(_ token: LockToken, _ effects: inout Effects) {
        let isReset = load.state[token].rare?.resets.isEmpty == false
        guard load.reloads || isReset, let followers = asker.storage.existingCell(token, key)?.state?[token].followers
        else {
            return
        }
        followers.queueLoss(token, &effects)
    }

    /// Stores what was made, if it is wanted.
    private func place(_ token: LockToken, _ payload: Payload, _ effects: inout Effects) -> CellReference? {
        guard isWanted(token) else { return nil }
        let cell = home.storage.cell(token, key)
        let flags = CellFlags.loaded | cell.heldFlags
        let time = load.family.state[token].tick()
        // What rules may drop again at once is not to be read before they have run.
        let isOpen = !load.reloads || home.isConfigured(token)
        effects.garbage.add(cell.store(payload, flags: flags, at: time, isOpen: isOpen))
        if key.kind != .property {
            let cellState = cell.makeState()
            cellState[token].provenance = provenance
            cellState[token].lifetime = lifetime
            cellState[token].loadCount &+= 1
            if !home.isRoot { home.link(token, key) }
            if load.reloads { Change(node: home, cell: cell).follow(token, provenance) }
        }
        cell.markChanged(token, at: time)
        #if DEBUG
        if !home.isRoot, load.isExternal || lifetime?.hasClosers == true { markMadeAgain(token) }
        #endif
        Change(node: home, cell: cell).announce(token, as: Announcement(isLoad: true), &effects)
        return cell
    }

    /// Whether to keep what was made.
    ///
    /// That is so if the key was not reset meanwhile, if what puts the instance below the root is still set, and, for
    /// an instance that reloads, if none of its inputs has changed.
    private func isWanted(_ token: LockToken) -> Bool {
        let state = load.state
        guard !state[token].isProvisional, state[token].rare?.resets.contains(where: { $0 === home }) != true else {
            return false
        }
        guard home.isRoot || provenance.isAnchored(token, at: home, for: key) else { return false }
        return !provenance.isOutdated(token, for: asker)
    }

    /// Marks the instance as made again for a child, which debug builds report.
    private func markMadeAgain(_ token: LockToken) {
        let family = load.family
        guard !provenance.isLocal, load.limit == nil, let root = home.path.first(where: { $0.isRoot }),
            let way = provenance.way(.max, to: { home.holds(token, $0) })
        else { return }
        let isThere = root.storage.existingCell(token, key)?.has(CellFlags.loaded) == true
        guard isThere || family.existingRootState(token, of: key)?[token].isMadeBelow == true else {
            family.rootState(token, of: key)[token].isMadeBelow = true
            return
        }
        guard family.state[token].isNew(key, key) else { return }
        load.state[token].more().report = Messages.madeAgain(key, [key] + way)
    }
}

extension Load {
    /// Ends the load: keeps what was made, unless something else stands there by now, and wakes those who waited.
    ///
    /// Returns what the load's own asker gets, and where the instance lives.
    func end(
        with result: Result<Payload, any Error>, _ recorder: Load?, _ span: LoadSpan?
    ) -> (result: Result<Payload, any Error>, home: Node) {
        let duration = span?.duration
        // Observers are told of this load after the end of the outermost frame.
        var effects = Effects(until: outermost.flatMap { $0.isFinished ? nil : $0 })
        var failed: Provenance?
        let (given, home): (Result<Payload, any Error>, Node) = family.lock.withLock { token in
            let end = LoadEnd(token, of: self, recorder, duration)
            state[token].home = UnmanagedReference(end.home)
            // First of all: as soon as the instance is in its cell, others may read through the handle that it kept.
            finish()
            let overtaker: LoadEnd.Overtaker?
            switch result {
            case .success(let payload): overtaker = end.keep(token, payload, &effects)
            case .failure:
                overtaker = end.discard(token, &effects)
                failed = end.provenance
            }
            span?.end(token, end.kind(token, of: result, overtaker), of: self, end.home, duration, result, &effects)
            if let pendingOutcome = state[token].pendingOutcome {
                let outcome = overtaker?.outcome ?? end.outcome(token, of: result)
                pendingOutcome.withLock { $0 = outcome }
            }
            if case .success = result, let rare = state[token].rare, !rare.failedNeeds.isEmpty {
                effects.garbage.add(Retained(rare.failedNeeds))
                rare.failedNeeds = []
            }
            leave(token, &effects)
            return (overtaker.map { .success($0.payload) } ?? result, end.home)
        }
        effects.perform()
        #if DEBUG
        if let report = family.lock.withLock({ token in state[token].rare?.report }) { family.reports.report(report) }
        #endif
        if case .failure(let error) = result { remember(error, failed) }
        if case .failure(let error) = given { parent?.needFailed(failedWay(error), error) }
        return (given, home)
    }

    /// Returns where the instance will live, and what it was made from.
    ///
    /// An older instance stays as it is for all who share it. If the new one would take its place, or would be seen by
    /// those who see an older instance of one of its inputs, it moves deeper: to the node whose override hides the
    /// older one from the asker.
    fileprivate func settle(_ token: LockToken, _ duration: Duration?) -> (home: Node, provenance: Provenance) {
        var (home, isLocal, overrides) = (home(token), isLocal, Set<Key>())
        while home !== asker, let older = olderInstance(token, hiddenAt: home) {
            if older.isLocal { isLocal = true }
            home = isLocal ? asker : asker.path.first { $0.holdsInput(token, of: older) }!
            overrides.formUnion(older.keys { home.holds(token, $0) })
        }
        // Moved, not copied.
        var inputs: [Input] = []
        swap(&inputs, &state[token].inputs)
        let provenance = Provenance.make(
            inputs, isLocal: isLocal, reloads: reloads, others: Array(overrides), longest: family.longestChain(token),
            duration)
        return (home, provenance)
    }

    /// Returns the provenance of an instance that `home` sees, and the asker does not, of what is loaded or of what the
    /// load has read.
    private func olderInstance(_ token: LockToken, hiddenAt home: Node) -> Provenance? {
        func older(_ token: LockToken, _ key: Key) -> Provenance? {
            guard let (cell, owner) = Lookup(token, key, for: home).present,
                let provenance = cell.state?[token].provenance
            else { return nil }
            return provenance.isValid(token, for: asker, from: owner.depth) ? nil : provenance
        }
        if let provenance = older(token, requested) { return provenance }
        for input in state[token].inputs { if let provenance = older(token, input.key) { return provenance } }
        return nil
    }

    /// Only what has closers, or was made from something that has, needs a lifetime.
    fileprivate func makeLifetime(_ token: LockToken, _ home: Node) -> InstanceLifetime? {
        guard let rare = state[token].rare, !rare.closers.isEmpty || !rare.needs.isEmpty else { return nil }
        return InstanceLifetime(
            requested, home: home, serial: family.state[token].tick(), closers: rare.closers, needs: rare.needs)
    }

    private func leave(_ token: LockToken, _ effects: inout Effects) {
        family.existingRootState(token, of: requested)?[token].loads.remove(self)
        let drains = family.endUnderWay(token, in: asker)
        if !drains.isEmpty { effects.waiters += drains }
        state[token].container = nil
        state[token].pendingOutcome = nil
        state[token].task = nil
        guard let rare = state[token].rare else { return }
        if !rare.waiters.isEmpty { effects.waiters += rare.waiters.takeAll() }
        rare.seen = []
        rare.closers = []
        rare.needs = []
        rare.resets = []
    }
}
