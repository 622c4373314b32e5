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
        let (given, home): (Result<Payload, any Error>, Node) = family.lock.withLock {
            let (home, provenance) = settle(duration)
            let lifetime = makeLifetime(home)
            state.value.home = UnmanagedReference(home)
            // First of all: as soon as the instance is in its cell, others may read through the handle that it kept.
            finish()
            let ending: Ending
            switch result {
            case .success(let payload): ending = keep(payload, home, provenance, lifetime, recorder, &effects)
            case .failure:
                ending = discard(lifetime, recorder, &effects)
                failed = provenance
            }
            span?.end(ending.kind(of: result, self, home), of: self, home, duration, result, &effects)
            if let pendingOutcome = state.value.pendingOutcome {
                let made = LoadOutcome(
                    result: result, home: home, provenance: provenance, lifetime: lifetime,
                    isOutdated: asker.isOutdated(provenance), isProvisional: state.value.isProvisional)
                pendingOutcome.outcome.withLock { $0 = ending.outcome(for: made) }
            }
            if case .success = result, let rare = state.value.rare, !rare.failedNeeds.isEmpty {
                effects.garbage.add(Retained(rare.failedNeeds))
                rare.failedNeeds = []
            }
            leave(&effects)
            return (ending.existing.map { .success($0) } ?? result, home)
        }
        effects.perform()
        #if DEBUG
        if let report = family.lock.withLock({ state.value.rare?.report }) { family.reports.report(report) }
        #endif
        if case .failure(let error) = result { remember(error, failed) }
        if case .failure(let error) = given { parent?.needFailed(failedWay(error), error) }
        return (given, home)
    }

    /// Under the lock: where the instance will live.
    ///
    /// An older instance stays as it is for all who share it: where the new one would take its place, or would be
    /// shared by those who see the older one of something it was made from, the override that hides the older one from
    /// the asker decides.
    private func settle(_ duration: Duration?) -> (home: Node, provenance: Provenance) {
        var (home, isLocal, overrides) = (home, isLocal, Set<Key>())
        while home !== asker, let older = olderInstance(hiddenAt: home) {
            if older.isLocal { isLocal = true }
            home = isLocal ? asker : asker.path.first { $0.holdsInput(of: older) }!
            overrides.formUnion(older.keys { home.holds($0) })
        }
        // Moved, not copied.
        var inputs: [Input] = []
        swap(&inputs, &state.value.inputs)
        let provenance = Provenance.make(
            inputs, isLocal: isLocal, reloads: reloads, others: Array(overrides), longest: family.longestChain,
            duration)
        return (home, provenance)
    }

    /// Under the lock: the provenance of an instance that `home` sees, and the asker does not, of what is loaded or of what the
    /// load has read.
    private func olderInstance(hiddenAt home: Node) -> Provenance? {
        func older(_ key: Key) -> Provenance? {
            guard let (cell, owner) = home.find(key).present, let provenance = cell.info?.value.provenance else {
                return nil
            }
            return asker.isValid(provenance, of: owner.depth) ? nil : provenance
        }
        if let provenance = older(requested) { return provenance }
        for input in state.value.inputs { if let provenance = older(input.key) { return provenance } }
        return nil
    }

    /// Only what has closers, or was made from something that has, needs a lifetime.
    private func makeLifetime(_ home: Node) -> InstanceLifetime? {
        guard let rare = state.value.rare, !rare.closers.isEmpty || !rare.needs.isEmpty else { return nil }
        return InstanceLifetime(requested, home: home, serial: family.tick(), closers: rare.closers, needs: rare.needs)
    }

    /// What becomes of what was made.
    private enum Ending {
        /// All get it.
        case made
        /// The load's own asker gets what stands in its way; those who waited what was made.
        case hidden(Payload)
        /// All get what someone else has put there. Since it may have left its cell again when they come, those who waited
        /// are handed its lifetime, too.
        case overtaken(Payload, home: Node, provenance: Provenance?, lifetime: InstanceLifetime?)

        /// What the load's own asker gets in place of what was made.
        var existing: Payload? {
            switch self {
            case .made: nil
            case .hidden(let payload), .overtaken(let payload, _, _, _): payload
            }
        }

        /// Under the lock: what events call it.
        func kind(
            of result: Result<Payload, any Error>, _ load: Load, _ home: Node
        ) -> ContainerEvent.Kind {
            if case .failure = result { return .failed }
            guard case .made = self else { return .overtaken }
            let cell = home.storage.existingCell(load.requested)
            guard let cell, cell.has(CellFlags.loaded), let info = cell.info else { return .notKept }
            return info.value.loadCount > 1 ? .reloaded : .loaded
        }

        func outcome(for made: LoadOutcome) -> LoadOutcome {
            guard case .overtaken(let payload, let home, let provenance, let lifetime) = self else { return made }
            let empty = Provenance(inputs: [], isLocal: false, reloads: false)
            return LoadOutcome(
                result: .success(payload), home: home, provenance: provenance ?? empty, lifetime: lifetime,
                isOutdated: false)
        }
    }

    /// Under the lock: puts what was made where it belongs.
    ///
    /// What was set meanwhile wins, and so does what someone else loaded there.
    private func keep(
        _ payload: Payload, _ home: Node, _ provenance: Provenance, _ lifetime: InstanceLifetime?, _ recorder: Load?,
        _ effects: inout Effects
    ) -> Ending {
        effects.garbage.add(lifetime, isForNobody: false)
        if asker.isEnded { return .made }
        rememberLast(provenance, &effects)
        if let (cell, owner) = asker.find(requested).present, let existing = cell.payload,
            !cell.has(CellFlags.loaded) || owner.depth <= home.depth
        {
            recordRead(of: cell, at: owner.depth, recorder)
            if owner.depth > home.depth {
                // Who does not see what was set below the home still shares what was loaded for it.
                if home.find(requested).present == nil { _ = place(payload, home, provenance, lifetime, &effects) }
                return .hidden(existing)
            }
            effects.garbage.add(lifetime, isForNobody: true)
            let state = cell.info?.value
            return .overtaken(existing, home: owner.object, provenance: state?.provenance, lifetime: state?.lifetime)
        }
        if let cell = place(payload, home, provenance, lifetime, &effects) {
            recordRead(of: cell, at: home.depth, recorder)
            if home !== asker, asker.isValid(provenance, of: home.depth) {
                asker.link(requested, to: cell)
            } else if home !== asker {
                // Something was set meanwhile that hides it from the asker, of which nobody told those who observe there:
                // nothing was there to hide.
                repeatIfObserved(&effects)
            }
        } else {
            recordUnkept(home, provenance, lifetime, recorder)
            if !state.value.isProvisional { repeatIfObserved(&effects) }
        }
        return .made
    }

    /// Under the lock: where the next load will live is guessed by this one.
    private func rememberLast(_ provenance: Provenance, _ effects: inout Effects) {
        let loads = family.loads(of: requested)
        let last = loads.value.lastProvenance.take()
        loads.value.lastProvenance = provenance
        // What lets go of a long chain does so outside the lock.
        if let last, last.length > 8 { effects.garbage.add(last) }
    }

    /// Under the lock: the instance is not kept, but whoever needed it was made from it.
    private func recordUnkept(_ home: Node, _ provenance: Provenance, _ lifetime: InstanceLifetime?, _ recorder: Load?)
    {
        let made = LoadOutcome(
            result: .success(Payload(())), home: home, provenance: provenance, lifetime: lifetime, isOutdated: false,
            isProvisional: state.value.isProvisional)
        recorder?.record(made, of: requested)
        asker.ownRecorder?.record(made, of: requested)
    }

    /// Under the lock: an instance that was reset, or that is made from old values, is loaded again at once if it is
    /// observed: those who observe know that the one before is gone, and would never hear of another.
    private func repeatIfObserved(_ effects: inout Effects) {
        let isReset = state.value.rare?.resets.isEmpty == false
        guard reloads || isReset, let followers = asker.storage.existingCell(requested)?.info?.value.followers else {
            return
        }
        followers.reload(holder, &effects)
    }

    /// Whose end those wait for who are told of this load.
    private var holder: (any CallFrame)? { outermost.flatMap { $0.isFinished ? nil : $0 } }

    /// Under the lock: what the asker gets of a load that failed: what was set meanwhile, if something was.
    private func discard(_ lifetime: InstanceLifetime?, _ recorder: Load?, _ effects: inout Effects) -> Ending {
        effects.garbage.add(lifetime, isForNobody: true)
        guard !asker.isEnded, let (cell, owner) = asker.find(requested).present, let existing = cell.payload,
            !cell.has(CellFlags.loaded)
        else { return .made }
        recordRead(of: cell, at: owner.depth, recorder)
        let home = state.value.home!
        if owner.depth > home.depth { return .hidden(existing) }
        let state = cell.info?.value
        return .overtaken(existing, home: owner.object, provenance: state?.provenance, lifetime: state?.lifetime)
    }

    /// Under the lock: stores what was made, if it is wanted.
    private func place(
        _ payload: Payload, _ home: Node, _ provenance: Provenance, _ lifetime: InstanceLifetime?,
        _ effects: inout Effects
    ) -> CellReference? {
        guard isWanted(at: home, provenance) else { return nil }
        let cell = home.storage.cell(requested)
        let flags = CellFlags.loaded | cell.heldFlags
        let time = family.tick()
        // What rules may drop again at once is not to be read before they have run.
        let isOpen = !reloads || home.isConfigured
        effects.garbage.add(cell.store(payload, flags: flags, at: time, isOpen: isOpen))
        if requested.kind != .property {
            let info = cell.makeInfo()
            info.value.provenance = provenance
            info.value.lifetime = lifetime
            info.value.loadCount &+= 1
            if !home.isRoot { home.link(requested) }
            if reloads { home.follow(provenance, by: requested) }
        }
        cell.countChange(at: time)
        #if DEBUG
        if !home.isRoot, isExternal || lifetime?.hasClosers == true { markMadeAgain(at: home, provenance) }
        #endif
        home.announce(requested, as: Node.Announcement(isLoad: true), holder, &effects)
        return cell
    }

    /// Under the lock: what is dear is made once more for a child, by the way that the provenance tells.
    private func markMadeAgain(at home: Node, _ provenance: Provenance) {
        guard !provenance.isLocal, limit == nil, let root = home.path.first(where: { $0.isRoot }),
            let way = provenance.way(.max, to: { home.holds($0) })
        else { return }
        let isThere = root.storage.existingCell(requested)?.has(CellFlags.loaded) == true
        guard isThere || family.existingLoads(of: requested)?.value.isMadeBelow == true else {
            family.loads(of: requested).value.isMadeBelow = true
            return
        }
        guard family.isNew(requested, requested) else { return }
        state.value.more().report = Messages.madeAgain(requested, [requested] + way)
    }

    private func recordRead(of cell: CellReference, at depth: Int, _ recorder: Load?) {
        recorder?.record(cell, at: depth)
        asker.ownRecorder?.record(cell, at: depth)
    }

    /// Whether what was made is to stay: the key was not reset meanwhile, what puts it below the root still stands, and,
    /// if it reloads, nothing changed that it was made from.
    private func isWanted(at home: Node, _ provenance: Provenance) -> Bool {
        guard !state.value.isProvisional, state.value.rare?.resets.contains(where: { $0 === home }) != true else {
            return false
        }
        guard home.isRoot || home.anchors(requested, provenance) else { return false }
        return !asker.isOutdated(provenance)
    }

    private func leave(_ effects: inout Effects) {
        family.existingLoads(of: requested)?.value.loads.remove(self)
        let drains = asker.endUnderWay()
        if !drains.isEmpty { effects.waiters += drains }
        state.value.container = nil
        state.value.pendingOutcome = nil
        state.value.task = nil
        guard let rare = state.value.rare else { return }
        if !rare.waiters.isEmpty { effects.waiters += rare.waiters.takeAll() }
        rare.seen = []
        rare.closers = []
        rare.needs = []
        rare.resets = []
    }
}

// Under the lock.
extension Load {
    /// Whether something changed by now that this load has read, so that who asks from now on must not be given what it
    /// makes.
    var isOutdated: Bool { reloads && state.value.inputs.contains { asker.hasChanged($0) } }
}

// Under the lock.
extension Node {
    /// Whether an instance made by `provenance` may stay in this node, which is no root: something here made it its home.
    func anchors(_ key: Key, _ provenance: Provenance) -> Bool {
        if provenance.isLocal || holds(key) { return true }
        // Nearly always it is a direct input.
        for input in provenance.inputs where input.depth == depth { if holds(input.key) { return true } }
        return holdsInput(of: provenance)
    }

    /// Whether something changed that was read for `provenance`, as this node sees it.
    func isStale(_ provenance: Provenance) -> Bool { provenance.inputs.contains { hasChanged($0) } }

    /// Whether that is so and the instance is not kept then.
    func isOutdated(_ provenance: Provenance) -> Bool { provenance.reloads && isStale(provenance) }

    func hasChanged(_ input: Input) -> Bool {
        if let (cell, owner) = find(input.key).present {
            return owner.depth != input.depth || cell.info?.value.changed != input.changed
        }
        // What was never there, the placeholder of a strict container say, has not gone; what is there is hidden.
        guard let owner = path.first(where: { $0.depth == input.depth }),
            let cell = owner.storage.existingCell(input.key), !cell.has(CellFlags.hasWord)
        else { return true }
        return cell.info?.value.changed != input.changed
    }
}
