extension Load {
    /// Ends the load: keeps what was made, unless something else stands there by now, and wakes those who waited.
    ///
    /// Returns what the load's own asker gets, and where the instance lives.
    func end(
        with result: Result<Payload, any Error>, _ recorder: Load?, _ span: LoadSpan?
    ) -> (result: Result<Payload, any Error>, home: Node) {
        var effects = Effects()
        let duration = span?.duration
        var failed: Provenance?
        let (given, home): (Result<Payload, any Error>, Node) = family.lock.withLock { token in
            let (home, provenance) = settle(token, duration)
            let lifetime = makeLifetime(token, home)
            state[token].home = UnmanagedReference(home)
            // First of all: as soon as the instance is in its cell, others may read through the handle that it kept.
            finish()
            effects.holder = holder
            let ending: Ending
            switch result {
            case .success(let payload): ending = keep(token, payload, home, provenance, lifetime, recorder, &effects)
            case .failure:
                ending = discard(token, lifetime, recorder, &effects)
                failed = provenance
            }
            span?.end(token, ending.kind(token, of: result, self, home), of: self, home, duration, result, &effects)
            if let pendingOutcome = state[token].pendingOutcome {
                let made = LoadOutcome(
                    result: result, home: home, provenance: provenance, lifetime: lifetime,
                    isOutdated: asker.isOutdated(token, provenance), isProvisional: state[token].isProvisional)
                pendingOutcome.outcome.withLock { $0 = ending.outcome(for: made) }
            }
            if case .success = result, let rare = state[token].rare, !rare.failedNeeds.isEmpty {
                effects.garbage.add(Retained(rare.failedNeeds))
                rare.failedNeeds = []
            }
            leave(token, &effects)
            return (ending.existing.map { .success($0) } ?? result, home)
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
    private func settle(_ token: LockToken, _ duration: Duration?) -> (home: Node, provenance: Provenance) {
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
            guard let (cell, owner) = home.find(token, key).present, let provenance = cell.state?[token].provenance
            else {
                return nil
            }
            return asker.isValid(token, provenance, of: owner.depth) ? nil : provenance
        }
        if let provenance = older(token, requested) { return provenance }
        for input in state[token].inputs { if let provenance = older(token, input.key) { return provenance } }
        return nil
    }

    /// Only what has closers, or was made from something that has, needs a lifetime.
    private func makeLifetime(_ token: LockToken, _ home: Node) -> InstanceLifetime? {
        guard let rare = state[token].rare, !rare.closers.isEmpty || !rare.needs.isEmpty else { return nil }
        return InstanceLifetime(
            requested, home: home, serial: family.state[token].tick(), closers: rare.closers, needs: rare.needs)
    }

    /// What becomes of what was made.
    private enum Ending {
        /// All get it.
        case made
        /// The load's own asker gets what stands in its way; those who waited what was made.
        case hidden(Payload)
        /// All get what someone else has put there.
        ///
        /// It may have left its cell by the time those who waited come, so they are handed its lifetime, too.
        case overtaken(Payload, home: Node, provenance: Provenance?, lifetime: InstanceLifetime?)

        /// What the load's own asker gets in place of what was made.
        var existing: Payload? {
            switch self {
            case .made: nil
            case .hidden(let payload), .overtaken(let payload, _, _, _): payload
            }
        }

        /// Returns what events call it.
        func kind(
            _ token: LockToken,
            of result: Result<Payload, any Error>, _ load: Load, _ home: Node
        ) -> ContainerEvent.Kind {
            if case .failure = result { return .failed }
            guard case .made = self else { return .overtaken }
            let cell = home.storage.existingCell(token, load.requested)
            guard let cell, cell.has(CellFlags.loaded), let cellState = cell.state else { return .notKept }
            return cellState[token].loadCount > 1 ? .reloaded : .loaded
        }

        func outcome(for made: LoadOutcome) -> LoadOutcome {
            guard case .overtaken(let payload, let home, let provenance, let lifetime) = self else { return made }
            let empty = Provenance(inputs: [], isLocal: false, reloads: false)
            return LoadOutcome(
                result: .success(payload), home: home, provenance: provenance ?? empty, lifetime: lifetime,
                isOutdated: false)
        }
    }

    /// Puts what was made where it belongs.
    ///
    /// What was set meanwhile wins, and so does what someone else loaded there.
    private func keep(
        _ token: LockToken,
        _ payload: Payload, _ home: Node, _ provenance: Provenance, _ lifetime: InstanceLifetime?, _ recorder: Load?,
        _ effects: inout Effects
    ) -> Ending {
        effects.garbage.add(lifetime, isForNobody: false)
        if asker.isEnded(token) { return .made }
        rememberLast(token, provenance, &effects)
        if let (cell, owner) = asker.find(token, requested).present, let existing = cell.payload,
            !cell.has(CellFlags.loaded) || owner.depth <= home.depth
        {
            recordRead(token, of: cell, at: owner.depth, recorder)
            if owner.depth > home.depth {
                // Who does not see what was set below the home still shares what was loaded for it.
                if home.find(token, requested).present == nil {
                    _ = place(token, payload, home, provenance, lifetime, &effects)
                }
                return .hidden(existing)
            }
            effects.garbage.add(lifetime, isForNobody: true)
            let state = cell.state?[token]
            return .overtaken(existing, home: owner.object, provenance: state?.provenance, lifetime: state?.lifetime)
        }
        if let cell = place(token, payload, home, provenance, lifetime, &effects) {
            recordRead(token, of: cell, at: home.depth, recorder)
            if home !== asker, asker.isValid(token, provenance, of: home.depth) {
                asker.link(token, requested, to: cell)
            } else if home !== asker {
                // Something was set meanwhile that hides it from the asker. Those who observe there were not told of
                // that, since there was nothing to hide yet.
                repeatIfObserved(token, &effects)
            }
        } else {
            recordUnkept(token, home, provenance, lifetime, recorder)
            if !state[token].isProvisional { repeatIfObserved(token, &effects) }
        }
        return .made
    }

    /// Remembers the provenance, from which the home of the next load is guessed.
    private func rememberLast(_ token: LockToken, _ provenance: Provenance, _ effects: inout Effects) {
        let loads = family.rootState(token, of: requested)
        let last = loads[token].lastProvenance.take()
        loads[token].lastProvenance = provenance
        // What lets go of a long chain does so outside the lock.
        if let last, last.length > 8 { effects.garbage.add(last) }
    }

    /// Records, for whoever needed the instance, that it was made from one that isn't kept.
    private func recordUnkept(
        _ token: LockToken, _ home: Node, _ provenance: Provenance, _ lifetime: InstanceLifetime?, _ recorder: Load?
    ) {
        let made = LoadOutcome(
            result: .success(Payload(())), home: home, provenance: provenance, lifetime: lifetime, isOutdated: false,
            isProvisional: state[token].isProvisional)
        recorder?.record(token, made, of: requested)
        asker.ownRecorder(token)?.record(token, made, of: requested)
    }

    /// Loads again at once, if it's observed, what was reset meanwhile or made from old values.
    ///
    /// Those who observe know that the instance before is gone, and would never hear of another.
    private func repeatIfObserved(_ token: LockToken, _ effects: inout Effects) {
        let isReset = state[token].rare?.resets.isEmpty == false
        guard reloads || isReset, let followers = asker.storage.existingCell(token, requested)?.state?[token].followers
        else {
            return
        }
        followers.queueLoss(token, &effects)
    }

    /// The frame after whose end observers are told of this load.
    private var holder: (any CallFrame)? { outermost.flatMap { $0.isFinished ? nil : $0 } }

    /// Returns what the reader gets from a load that failed: what was set meanwhile, or else the error.
    private func discard(_ token: LockToken, _ lifetime: InstanceLifetime?, _ recorder: Load?, _ effects: inout Effects)
        -> Ending
    {
        effects.garbage.add(lifetime, isForNobody: true)
        guard !asker.isEnded(token), let (cell, owner) = asker.find(token, requested).present,
            let existing = cell.payload,
            !cell.has(CellFlags.loaded)
        else { return .made }
        recordRead(token, of: cell, at: owner.depth, recorder)
        let home = state[token].home!
        if owner.depth > home.depth { return .hidden(existing) }
        let state = cell.state?[token]
        return .overtaken(existing, home: owner.object, provenance: state?.provenance, lifetime: state?.lifetime)
    }

    /// Stores what was made, if it is wanted.
    private func place(
        _ token: LockToken,
        _ payload: Payload, _ home: Node, _ provenance: Provenance, _ lifetime: InstanceLifetime?,
        _ effects: inout Effects
    ) -> CellReference? {
        guard isWanted(token, at: home, provenance) else { return nil }
        let cell = home.storage.cell(token, requested)
        let flags = CellFlags.loaded | cell.heldFlags
        let time = family.state[token].tick()
        // What rules may drop again at once is not to be read before they have run.
        let isOpen = !reloads || home.isConfigured(token)
        effects.garbage.add(cell.store(payload, flags: flags, at: time, isOpen: isOpen))
        if requested.kind != .property {
            let cellState = cell.makeState()
            cellState[token].provenance = provenance
            cellState[token].lifetime = lifetime
            cellState[token].loadCount &+= 1
            if !home.isRoot { home.link(token, requested) }
            if reloads { Change(node: home, cell: cell).follow(token, provenance) }
        }
        cell.markChanged(token, at: time)
        #if DEBUG
        if !home.isRoot, isExternal || lifetime?.hasClosers == true { markMadeAgain(token, at: home, provenance) }
        #endif
        Change(node: home, cell: cell).announce(token, as: Announcement(isLoad: true), &effects)
        return cell
    }

    /// Marks the instance as made again for a child, which debug builds report.
    private func markMadeAgain(_ token: LockToken, at home: Node, _ provenance: Provenance) {
        guard !provenance.isLocal, limit == nil, let root = home.path.first(where: { $0.isRoot }),
            let way = provenance.way(.max, to: { home.holds(token, $0) })
        else { return }
        let isThere = root.storage.existingCell(token, requested)?.has(CellFlags.loaded) == true
        guard isThere || family.existingRootState(token, of: requested)?[token].isMadeBelow == true else {
            family.rootState(token, of: requested)[token].isMadeBelow = true
            return
        }
        guard family.state[token].isNew(requested, requested) else { return }
        state[token].more().report = Messages.madeAgain(requested, [requested] + way)
    }

    private func recordRead(_ token: LockToken, of cell: CellReference, at depth: Int, _ recorder: Load?) {
        recorder?.record(token, cell, at: depth)
        asker.ownRecorder(token)?.record(token, cell, at: depth)
    }

    /// Whether to keep what was made.
    ///
    /// That is so if the key was not reset meanwhile, if what puts the instance below the root is still set, and, for
    /// an instance that reloads, if none of its inputs has changed.
    private func isWanted(_ token: LockToken, at home: Node, _ provenance: Provenance) -> Bool {
        guard !state[token].isProvisional, state[token].rare?.resets.contains(where: { $0 === home }) != true else {
            return false
        }
        guard home.isRoot || home.anchors(token, requested, provenance) else { return false }
        return !asker.isOutdated(token, provenance)
    }

    private func leave(_ token: LockToken, _ effects: inout Effects) {
        family.existingRootState(token, of: requested)?[token].loads.remove(self)
        let drains = asker.endUnderWay(token)
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

extension Load {
    /// Whether an input of this load has changed by now, so that new readers must not be given what it makes.
    func isOutdated(_ token: LockToken) -> Bool {
        reloads && state[token].inputs.contains { asker.hasChanged(token, $0) }
    }
}

extension Node {
    /// Whether an instance with this provenance may stay in this node, which isn't the root.
    ///
    /// It may if it's local, or if something that is set here made the node its home.
    func anchors(_ token: LockToken, _ key: Key, _ provenance: Provenance) -> Bool {
        if provenance.isLocal || holds(token, key) { return true }
        // Nearly always it is a direct input.
        for input in provenance.inputs where input.depth == depth { if holds(token, input.key) { return true } }
        return holdsInput(token, of: provenance)
    }

    /// Whether an input of the provenance has changed, as this node sees it.
    func isStale(_ token: LockToken, _ provenance: Provenance) -> Bool {
        provenance.inputs.contains { hasChanged(token, $0) }
    }

    /// Whether an input has changed and the instance reloads, so that it isn't kept.
    func isOutdated(_ token: LockToken, _ provenance: Provenance) -> Bool {
        provenance.reloads && isStale(token, provenance)
    }

    func hasChanged(_ token: LockToken, _ input: Input) -> Bool {
        if let (cell, owner) = find(token, input.key).present {
            return owner.depth != input.depth || cell.state?[token].changed != input.changed
        }
        // A cell that never had a value, as where a placeholder was given, has not lost one; a value in it is hidden.
        guard let owner = path.first(where: { $0.depth == input.depth }),
            let cell = owner.storage.existingCell(token, input.key), !cell.has(CellFlags.hasWord)
        else { return true }
        return cell.state?[token].changed != input.changed
    }
}
