/// What is to be done outside the lock after something changed under it.
struct Effects {
    var garbage = Garbage()
    var waiters: [Waiter] = []
    /// The records that have new events.
    var records: [KeyRecord] = []

    /// Does it. Events of a change made inside an activity wait for the end of the outermost.
    func perform(in family: Family) {
        garbage.dispose()
        for waiter in waiters { waiter.wake() }
        for record in records { family.deliver(record) }
    }
}

extension Flight {
    /// Ends the load: keeps what was made, unless something else stands there by now, and wakes those who waited.
    /// Returns what the load's own asker gets.
    func end(with result: Result<Payload, any Error>, _ recorder: Flight?) -> Outcome {
        let holder = parent
        var effects = Effects()
        let outcome = family.lock.withLock {
            let (home, recipe) = settle()
            let made = Outcome(result: result, home: home, recipe: recipe, lease: makeLease(home))
            facts.value.home = home
            // First of all: as soon as the instance is in its cell, others may read through the handle that it kept.
            finish()
            if !asker.isEnded, made.isSuccess { family.record(requested).facts.value.lastRecipe = recipe }
            let ending = keep(made, recorder, holder, &effects)
            facts.value.landing?.outcome.withLock { $0 = ending.forWaiters }
            if made.isSuccess {
                effects.garbage.add(Retained(facts.value.failedNeeds))
                facts.value.failedNeeds = []
            }
            leave(&effects)
            return ending.forAsker.withoutLease
        }
        effects.perform(in: family)
        if case .failure(let error) = outcome.result { parent?.needFailed(failedWay(error), error) }
        return outcome
    }

    /// Under the lock: where the instance will live. An older instance stays as it is for all who share it: where the new
    /// one would take its place, the override that hides the older one from the asker decides.
    private func settle() -> (home: Node, recipe: Recipe) {
        var (home, isLocal, overrides) = (home, isLocal, [Key]())
        while home !== asker, let (cell, owner) = home.find(requested).present, let older = cell.info?.value.recipe,
            !asker.isValid(older, of: owner)
        {
            let path = Array(asker.path.prefix { $0 !== home })
            if older.isLocal { isLocal = true }
            home = isLocal ? asker : path.first { $0.holdsInput(of: older) }!
            overrides += older.keys.filter { home.holds($0) }
        }
        return (home, Recipe(inputs: facts.value.inputs, isLocal: isLocal, reloads: reloads, overrides: overrides))
    }

    /// Only what has closers, or was made from something that has, needs a lease.
    private func makeLease(_ home: Node) -> Lease? {
        guard !facts.value.closers.isEmpty || !facts.value.needs.isEmpty else { return nil }
        return Lease(
            requested, home: home, serial: family.nextSerial(), closers: facts.value.closers, needs: facts.value.needs)
    }

    /// Under the lock: puts what was made where it belongs. What was set meanwhile wins, and so does what someone else
    /// loaded there. Returns what the load's own asker gets, and those who waited and find nothing: since it may have left
    /// its cell again when they come, they are handed its lease, too.
    private func keep(
        _ made: Outcome, _ recorder: Flight?, _ holder: (any Activity)?, _ effects: inout Effects
    ) -> (forAsker: Outcome, forWaiters: Outcome) {
        effects.garbage.add(made.lease, isForNobody: !made.isSuccess)
        if asker.isEnded { return (made, made) }
        if let (cell, owner) = asker.find(requested).present, let standing = cell.payload,
            !cell.has(CellState.loaded) || owner.depth <= made.home.depth && made.isSuccess
        {
            note(cell, of: owner, recorder)
            let overtaken = Outcome(result: .success(standing), home: made.home, recipe: made.recipe, lease: nil)
            if owner.depth > made.home.depth {
                // Who does not see what was set below the home still shares what was loaded for it.
                if made.home.find(requested).present == nil { _ = place(made, holder, &effects) }
                return (overtaken, made)
            }
            effects.garbage.add(made.lease, isForNobody: true)
            let facts = cell.info?.value
            let recipe = facts?.recipe ?? Recipe(inputs: [], isLocal: false, reloads: false)
            return (overtaken, Outcome(result: overtaken.result, home: owner, recipe: recipe, lease: facts?.lease))
        }
        guard made.isSuccess else { return (made, made) }
        guard let cell = place(made, holder, &effects) else {
            recorder?.record(made, of: requested)
            asker.recorder?.record(made, of: requested)
            return (made, made)
        }
        note(cell, of: made.home, recorder)
        if made.home !== asker { asker.link(requested, to: cell) }
        return (made, made)
    }

    /// Under the lock: stores what was made, if it is wanted.
    private func place(_ made: Outcome, _ holder: (any Activity)?, _ effects: inout Effects) -> CellReference? {
        let (home, recipe) = (made.home, made.recipe)
        guard case .success(let payload) = made.result, isWanted(at: home, recipe) else { return nil }
        let record = family.record(requested)
        let cell = home.storage.cell(requested)
        // What rules may drop again at once is not to be read before they have run.
        let flags = CellState.loaded | cell.standing
        effects.garbage.add(cell.store(payload, flags: flags, isOpen: !reloads || home.isConfigured))
        cell.countChange()
        if requested.kind != .property {
            cell.makeInfo().value.recipe = recipe
            cell.makeInfo().value.lease = made.lease
        }
        if home.parent != nil { record.facts.value.copies.insert(NodeIdentity(node: home)) }
        if reloads { family.follow(recipe, by: requested, at: home) }
        family.announce(record, at: home, isFirstLoad: true, holder, &effects)
        return cell
    }

    private func note(_ cell: CellReference, of owner: Node, _ recorder: Flight?) {
        recorder?.record(cell, of: owner)
        asker.recorder?.record(cell, of: owner)
    }

    /// Whether what was made is to stay: the key was not reset meanwhile, what puts it below the root still stands, and,
    /// if it reloads, nothing changed that it was made from.
    private func isWanted(at home: Node, _ recipe: Recipe) -> Bool {
        guard !facts.value.resets.contains(where: { $0 === home }) else { return false }
        guard home.parent == nil || home.anchors(requested, recipe) else { return false }
        return !reloads || !asker.isStale(recipe)
    }

    private func leave(_ effects: inout Effects) {
        family.existingRecord(requested)?.facts.value.flights.removeAll { $0 === self }
        effects.waiters += facts.value.waiters + facts.value.witnesses.map { .task($0) }
        facts.value.witnesses = []
        effects.garbage.add(facts.value.container)
        facts.value.waiters = []
        facts.value.landing = nil
        facts.value.container = nil
        facts.value.task = nil
        facts.value.inputs = []
        facts.value.seen = []
        facts.value.closers = []
        facts.value.needs = []
        facts.value.resets = []
    }
}

// Under the lock.
extension Node {
    /// Whether an instance made by `recipe` may stay in this node, which is no root: something here made it its home.
    func anchors(_ key: Key, _ recipe: Recipe) -> Bool { recipe.isLocal || holds(key) || holdsInput(of: recipe) }

    /// Whether something changed that was read for `recipe`, as this node sees it.
    func isStale(_ recipe: Recipe) -> Bool {
        recipe.inputs.contains { input in
            guard let (cell, owner) = find(input.key).present else { return true }
            return owner.depth != input.depth || cell.info?.value.changes != input.changes
        }
    }
}

extension Family {
    /// Under the lock: notes that `key`, loaded at `node`, is to be dropped when one of its inputs changes.
    func follow(_ recipe: Recipe, by key: Key, at node: Node) {
        for (input, dependent) in dependents(recipe, key, node) {
            record(input).facts.value.dependents.insert(dependent)
        }
    }

    func unfollow(_ recipe: Recipe, by key: Key, at node: Node) {
        for (input, dependent) in dependents(recipe, key, node) {
            existingRecord(input)?.facts.value.dependents.remove(dependent)
        }
    }

    private func dependents(_ recipe: Recipe, _ key: Key, _ node: Node) -> [(Key, Dependent)] {
        recipe.inputs.flatMap { input in
            let direct = Dependent(node: NodeIdentity(node: node), key: key, depth: input.depth)
            var indirect = direct
            indirect.isIndirect = true
            return [(input.key, direct)] + (input.recipe?.keys ?? []).map { ($0, indirect) }
        }
    }
}
