extension Flight {
    /// Ends the load: keeps what was made, unless something else stands there by now, and wakes those who waited.
    ///
    /// Returns what the load's own asker gets, and where the instance lives.
    func end(
        with result: Result<Payload, any Error>, _ recorder: Flight?, _ span: LoadSpan?
    ) -> (result: Result<Payload, any Error>, home: Node) {
        var effects = Effects()
        let duration = span?.duration
        var failed: Recipe?
        let (given, home): (Result<Payload, any Error>, Node) = family.lock.withLock {
            let (home, recipe) = settle(duration)
            let lease = makeLease(home)
            facts.value.home = Unowned(home)
            // First of all: as soon as the instance is in its cell, others may read through the handle that it kept.
            finish()
            let ending: Ending
            switch result {
            case .success(let payload): ending = keep(payload, home, recipe, lease, recorder, &effects)
            case .failure:
                ending = discard(lease, recorder, &effects)
                failed = recipe
            }
            span?.note(ending.kind(of: result, self, home), of: self, home, duration, result, &effects)
            if let landing = facts.value.landing {
                let made = Outcome(
                    result: result, home: home, recipe: recipe, lease: lease,
                    isOutdated: asker.isOutdated(recipe), isProvisional: facts.value.isProvisional)
                landing.outcome.withLock { $0 = ending.outcome(for: made) }
            }
            if case .success = result, let rare = facts.value.rare, !rare.failedNeeds.isEmpty {
                effects.garbage.add(Retained(rare.failedNeeds))
                rare.failedNeeds = []
            }
            leave(&effects)
            return (ending.standing.map { .success($0) } ?? result, home)
        }
        effects.perform()
        #if DEBUG
        if let report = family.lock.withLock({ facts.value.rare?.report }) { family.reports.report(report) }
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
    private func settle(_ duration: Duration?) -> (home: Node, recipe: Recipe) {
        var (home, isLocal, overrides) = (home, isLocal, Set<Key>())
        while home !== asker, let older = olderInstance(hiddenAt: home) {
            if older.isLocal { isLocal = true }
            home = isLocal ? asker : asker.path.first { $0.holdsInput(of: older) }!
            overrides.formUnion(older.keys { home.holds($0) })
        }
        // Moved, not copied.
        var inputs: [Input] = []
        swap(&inputs, &facts.value.inputs)
        let recipe = Recipe.make(
            inputs, isLocal: isLocal, reloads: reloads, others: Array(overrides), longest: family.longestChain,
            duration)
        return (home, recipe)
    }

    /// Under the lock: the recipe of an instance that `home` sees, and the asker does not, of what is loaded or of what the
    /// load has read.
    private func olderInstance(hiddenAt home: Node) -> Recipe? {
        func older(_ key: Key) -> Recipe? {
            guard let (cell, owner) = home.find(key).present, let recipe = cell.info?.value.recipe else { return nil }
            return asker.isValid(recipe, of: owner.depth) ? nil : recipe
        }
        if let recipe = older(requested) { return recipe }
        for input in facts.value.inputs { if let recipe = older(input.key) { return recipe } }
        return nil
    }

    /// Only what has closers, or was made from something that has, needs a lease.
    private func makeLease(_ home: Node) -> Lease? {
        guard let rare = facts.value.rare, !rare.closers.isEmpty || !rare.needs.isEmpty else { return nil }
        return Lease(requested, home: home, serial: family.tick(), closers: rare.closers, needs: rare.needs)
    }

    /// What becomes of what was made.
    private enum Ending {
        /// All get it.
        case made
        /// The load's own asker gets what stands in its way; those who waited what was made.
        case hidden(Payload)
        /// All get what someone else has put there. Since it may have left its cell again when they come, those who waited
        /// are handed its lease, too.
        case overtaken(Payload, home: Node, recipe: Recipe?, lease: Lease?)

        /// What the load's own asker gets in place of what was made.
        var standing: Payload? {
            switch self {
            case .made: nil
            case .hidden(let payload), .overtaken(let payload, _, _, _): payload
            }
        }

        /// Under the lock: what events call it.
        func kind(
            of result: Result<Payload, any Error>, _ flight: Flight, _ home: Node
        ) -> ContainerEvent.Kind {
            if case .failure = result { return .failed }
            guard case .made = self else { return .overtaken }
            let cell = home.storage.existingCell(flight.requested)
            guard let cell, cell.has(CellState.loaded), let info = cell.info else { return .notKept }
            return info.value.loadCount > 1 ? .reloaded : .loaded
        }

        func outcome(for made: Outcome) -> Outcome {
            guard case .overtaken(let payload, let home, let recipe, let lease) = self else { return made }
            let empty = Recipe(inputs: [], isLocal: false, reloads: false)
            return Outcome(
                result: .success(payload), home: home, recipe: recipe ?? empty, lease: lease, isOutdated: false)
        }
    }

    /// Under the lock: puts what was made where it belongs.
    ///
    /// What was set meanwhile wins, and so does what someone else loaded there.
    private func keep(
        _ payload: Payload, _ home: Node, _ recipe: Recipe, _ lease: Lease?, _ recorder: Flight?,
        _ effects: inout Effects
    ) -> Ending {
        effects.garbage.add(lease, isForNobody: false)
        if asker.isEnded { return .made }
        noteLast(recipe, &effects)
        if let (cell, owner) = asker.find(requested).present, let standing = cell.payload,
            !cell.has(CellState.loaded) || owner.depth <= home.depth
        {
            note(cell, at: owner.depth, recorder)
            if owner.depth > home.depth {
                // Who does not see what was set below the home still shares what was loaded for it.
                if home.find(requested).present == nil { _ = place(payload, home, recipe, lease, &effects) }
                return .hidden(standing)
            }
            effects.garbage.add(lease, isForNobody: true)
            let facts = cell.info?.value
            return .overtaken(standing, home: owner.object, recipe: facts?.recipe, lease: facts?.lease)
        }
        if let cell = place(payload, home, recipe, lease, &effects) {
            note(cell, at: home.depth, recorder)
            if home !== asker, asker.isValid(recipe, of: home.depth) {
                asker.link(requested, to: cell)
            } else if home !== asker {
                // Something was set meanwhile that hides it from the asker, of which nobody told those who observe there:
                // nothing was there to hide.
                repeatIfObserved(&effects)
            }
        } else {
            recordUnkept(home, recipe, lease, recorder)
            if !facts.value.isProvisional { repeatIfObserved(&effects) }
        }
        return .made
    }

    /// Under the lock: where the next load will live is guessed by this one.
    private func noteLast(_ recipe: Recipe, _ effects: inout Effects) {
        let loads = family.loads(of: requested)
        let last = loads.value.lastRecipe.take()
        loads.value.lastRecipe = recipe
        // What lets go of a long chain does so outside the lock.
        if let last, last.length > 8 { effects.garbage.add(last) }
    }

    /// Under the lock: the instance is not kept, but whoever needed it was made from it.
    private func recordUnkept(_ home: Node, _ recipe: Recipe, _ lease: Lease?, _ recorder: Flight?) {
        let made = Outcome(
            result: .success(Payload(())), home: home, recipe: recipe, lease: lease, isOutdated: false,
            isProvisional: facts.value.isProvisional)
        recorder?.record(made, of: requested)
        asker.ownRecorder?.record(made, of: requested)
    }

    /// Under the lock: an instance that was reset, or that is made from old values, is loaded again at once if it is
    /// observed: those who observe know that the one before is gone, and would never hear of another.
    private func repeatIfObserved(_ effects: inout Effects) {
        let isReset = facts.value.rare?.resets.isEmpty == false
        guard reloads || isReset, let followers = asker.storage.existingCell(requested)?.info?.value.followers else {
            return
        }
        followers.reload(holder, &effects)
    }

    /// Whose end those wait for who are told of this load.
    private var holder: (any Activity)? { outermost.flatMap { $0.isFinished ? nil : $0 } }

    /// Under the lock: what the asker gets of a load that failed: what was set meanwhile, if something was.
    private func discard(_ lease: Lease?, _ recorder: Flight?, _ effects: inout Effects) -> Ending {
        effects.garbage.add(lease, isForNobody: true)
        guard !asker.isEnded, let (cell, owner) = asker.find(requested).present, let standing = cell.payload,
            !cell.has(CellState.loaded)
        else { return .made }
        note(cell, at: owner.depth, recorder)
        let home = facts.value.home!
        if owner.depth > home.depth { return .hidden(standing) }
        let facts = cell.info?.value
        return .overtaken(standing, home: owner.object, recipe: facts?.recipe, lease: facts?.lease)
    }

    /// Under the lock: stores what was made, if it is wanted.
    private func place(
        _ payload: Payload, _ home: Node, _ recipe: Recipe, _ lease: Lease?, _ effects: inout Effects
    ) -> CellReference? {
        guard isWanted(at: home, recipe) else { return nil }
        let cell = home.storage.cell(requested)
        let flags = CellState.loaded | cell.standing
        let time = family.tick()
        // What rules may drop again at once is not to be read before they have run.
        let isOpen = !reloads || home.isConfigured
        effects.garbage.add(cell.store(payload, flags: flags, at: time, isOpen: isOpen))
        if requested.kind != .property {
            let info = cell.makeInfo()
            info.value.recipe = recipe
            info.value.lease = lease
            info.value.loadCount &+= 1
            if !home.isRoot { home.link(requested) }
            if reloads { home.follow(recipe, by: requested) }
        }
        cell.countChange(at: time)
        #if DEBUG
        if !home.isRoot, isExternal || lease?.hasClosers == true { noteMadeAgain(at: home, recipe) }
        #endif
        home.announce(requested, as: Node.Announcement(isLoad: true), holder, &effects)
        return cell
    }

    /// Under the lock: what is dear is made once more for a child, by the way that the recipe tells.
    private func noteMadeAgain(at home: Node, _ recipe: Recipe) {
        guard !recipe.isLocal, limit == nil, let root = home.path.first(where: { $0.isRoot }),
            let way = recipe.way(.max, to: { home.holds($0) })
        else { return }
        let isThere = root.storage.existingCell(requested)?.has(CellState.loaded) == true
        guard isThere || family.existingLoads(of: requested)?.value.isMadeBelow == true else {
            family.loads(of: requested).value.isMadeBelow = true
            return
        }
        guard family.isNew(requested, requested) else { return }
        facts.value.more().report = Messages.madeAgain(requested, [requested] + way)
    }

    private func note(_ cell: CellReference, at depth: Int, _ recorder: Flight?) {
        recorder?.record(cell, at: depth)
        asker.ownRecorder?.record(cell, at: depth)
    }

    /// Whether what was made is to stay: the key was not reset meanwhile, what puts it below the root still stands, and,
    /// if it reloads, nothing changed that it was made from.
    private func isWanted(at home: Node, _ recipe: Recipe) -> Bool {
        guard !facts.value.isProvisional, facts.value.rare?.resets.contains(where: { $0 === home }) != true else {
            return false
        }
        guard home.isRoot || home.anchors(requested, recipe) else { return false }
        return !asker.isOutdated(recipe)
    }

    private func leave(_ effects: inout Effects) {
        family.existingLoads(of: requested)?.value.flights.remove(self)
        let drains = asker.endUnderWay()
        if !drains.isEmpty { effects.waiters += drains }
        facts.value.container = nil
        facts.value.landing = nil
        facts.value.task = nil
        guard let rare = facts.value.rare else { return }
        if !rare.waiters.isEmpty { effects.waiters += rare.waiters.takeAll() }
        rare.seen = []
        rare.closers = []
        rare.needs = []
        rare.resets = []
    }
}

// Under the lock.
extension Flight {
    /// Whether something changed by now that this load has read, so that who asks from now on must not be given what it
    /// makes.
    var isOutdated: Bool { reloads && facts.value.inputs.contains { asker.hasChanged($0) } }
}

// Under the lock.
extension Node {
    /// Whether an instance made by `recipe` may stay in this node, which is no root: something here made it its home.
    func anchors(_ key: Key, _ recipe: Recipe) -> Bool {
        if recipe.isLocal || holds(key) { return true }
        // Nearly always it is a direct input.
        for input in recipe.inputs where input.depth == depth { if holds(input.key) { return true } }
        return holdsInput(of: recipe)
    }

    /// Whether something changed that was read for `recipe`, as this node sees it.
    func isStale(_ recipe: Recipe) -> Bool { recipe.inputs.contains { hasChanged($0) } }

    /// Whether that is so and the instance is not kept then.
    func isOutdated(_ recipe: Recipe) -> Bool { recipe.reloads && isStale(recipe) }

    func hasChanged(_ input: Input) -> Bool {
        if let (cell, owner) = find(input.key).present {
            return owner.depth != input.depth || cell.info?.value.changed != input.changed
        }
        // What was never there, the placeholder of a strict container say, has not gone; what is there is hidden.
        guard let owner = path.first(where: { $0.depth == input.depth }),
            let cell = owner.storage.existingCell(input.key), !cell.has(CellState.hasWord)
        else { return true }
        return cell.info?.value.changed != input.changed
    }
}
