/// What is to be done outside the lock after something changed under it.
struct Effects {
    var garbage = Garbage()
    var waiters: [Waiter] = []
    /// The records that have new events.
    private var record: KeyRecord?
    private var moreRecords: [KeyRecord] = []
    private let beginsAtOnce: Bool
    /// The first event of `record`, if its delivery has begun. In parts, which cost less than an optional whole.
    private var payload = Payload(())
    private var observers: [Observer] = []

    /// - Parameter beginsAtOnce: Whether the last thing that is changed is the first to be told, so that its delivery may
    ///   begin in the same turn of the lock.
    init(beginsAtOnce: Bool = false) { self.beginsAtOnce = beginsAtOnce }

    /// Under the lock: tells observers of a value, later.
    mutating func tell(
        _ payload: Payload, to observers: [Observer], of record: KeyRecord, until holder: (any Activity)?
    ) {
        let isFirst = self.record == nil && beginsAtOnce && garbage.isEmpty && waiters.isEmpty
        if isFirst, holder == nil, record.beginDelivery() {
            self.record = record
            self.payload = payload
            self.observers = observers
        } else {
            add([Event(payload: payload, observers: observers, holder: holder)], of: record)
        }
    }

    /// Under the lock: queues events. Those of a change made inside an activity wait for the end of the outermost.
    mutating func add(_ events: [Event], of record: KeyRecord) {
        if self.record == nil { self.record = record } else { moreRecords.append(record) }
        record.facts.value.events += events
    }

    /// Does it.
    func perform(in family: Family) {
        if !garbage.isEmpty { garbage.dispose() }
        if !waiters.isEmpty { for waiter in waiters { waiter.wake() } }
        guard let record else { return }
        if observers.isEmpty {
            family.deliver(record)
        } else {
            observers.call(with: payload)
            family.deliver(record, hasBegun: true)
        }
        if !moreRecords.isEmpty { for record in moreRecords { family.deliver(record) } }
    }
}

extension Flight {
    /// Ends the load: keeps what was made, unless something else stands there by now, and wakes those who waited.
    /// Returns what the load's own asker gets, and where the instance lives.
    func end(
        with result: Result<Payload, any Error>, _ recorder: Flight?
    ) -> (result: Result<Payload, any Error>, home: Node) {
        var effects = Effects()
        let (given, home): (Result<Payload, any Error>, Node) = family.lock.withLock {
            let (home, recipe) = settle()
            let lease = makeLease(home)
            facts.value.home = Unowned(home)
            // First of all: as soon as the instance is in its cell, others may read through the handle that it kept.
            finish()
            let ending: Ending
            switch result {
            case .success(let payload): ending = keep(payload, home, recipe, lease, recorder, &effects)
            case .failure: ending = discard(lease, recorder, &effects)
            }
            if let landing = facts.value.landing {
                let made = Outcome(result: result, home: home, recipe: recipe, lease: lease)
                landing.outcome.withLock { $0 = ending.outcome(for: made) }
            }
            if case .success = result, let rare = facts.value.rare, !rare.failedNeeds.isEmpty {
                effects.garbage.add(Retained(rare.failedNeeds))
                rare.failedNeeds = []
            }
            leave(&effects)
            return (ending.standing.map { .success($0) } ?? result, home)
        }
        effects.perform(in: family)
        if case .failure(let error) = given { parent?.needFailed(failedWay(error), error) }
        return (given, home)
    }

    /// Under the lock: where the instance will live. An older instance stays as it is for all who share it: where the new
    /// one would take its place, or would be shared by those who see the older one of something it was made from, the
    /// override that hides the older one from the asker decides.
    private func settle() -> (home: Node, recipe: Recipe) {
        var (home, isLocal, overrides) = (home, isLocal, [Key]())
        while home !== asker, let older = olderInstance(hiddenAt: home) {
            let path = Array(asker.path.prefix { $0 !== home })
            if older.isLocal { isLocal = true }
            home = isLocal ? asker : path.first { $0.holdsInput(of: older) }!
            overrides += older.keys.filter { home.holds($0) }
        }
        // Moved, not copied.
        var inputs: [Input] = []
        swap(&inputs, &facts.value.inputs)
        return (home, Recipe(inputs: inputs, isLocal: isLocal, reloads: reloads, overrides: overrides))
    }

    /// Under the lock: the recipe of an instance that `home` sees, and the asker does not, of what is loaded or of what the
    /// load has read.
    private func olderInstance(hiddenAt home: Node) -> Recipe? {
        func older(_ key: Key) -> Recipe? {
            guard let (cell, owner) = home.find(key).present, let recipe = cell.info?.value.recipe else { return nil }
            return asker.isValid(recipe, of: owner) ? nil : recipe
        }
        if let recipe = older(requested) { return recipe }
        for input in facts.value.inputs { if let recipe = older(input.key) { return recipe } }
        return nil
    }

    /// Only what has closers, or was made from something that has, needs a lease.
    private func makeLease(_ home: Node) -> Lease? {
        guard let rare = facts.value.rare, !rare.closers.isEmpty || !rare.needs.isEmpty else { return nil }
        return Lease(requested, home: home, serial: family.nextSerial(), closers: rare.closers, needs: rare.needs)
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

        func outcome(for made: Outcome) -> Outcome {
            guard case .overtaken(let payload, let home, let recipe, let lease) = self else { return made }
            let empty = Recipe(inputs: [], isLocal: false, reloads: false)
            return Outcome(result: .success(payload), home: home, recipe: recipe ?? empty, lease: lease)
        }
    }

    /// Under the lock: puts what was made where it belongs. What was set meanwhile wins, and so does what someone else
    /// loaded there.
    private func keep(
        _ payload: Payload, _ home: Node, _ recipe: Recipe, _ lease: Lease?, _ recorder: Flight?,
        _ effects: inout Effects
    ) -> Ending {
        effects.garbage.add(lease, isForNobody: false)
        if asker.isEnded { return .made }
        family.loads(of: requested).value.lastRecipe = recipe
        if let (cell, owner) = asker.find(requested).present, let standing = cell.payload,
            !cell.has(CellState.loaded) || owner.depth <= home.depth
        {
            note(cell, of: owner, recorder)
            if owner.depth > home.depth {
                // Who does not see what was set below the home still shares what was loaded for it.
                if home.find(requested).present == nil { _ = place(payload, home, recipe, lease, &effects) }
                return .hidden(standing)
            }
            effects.garbage.add(lease, isForNobody: true)
            let facts = cell.info?.value
            return .overtaken(standing, home: owner, recipe: facts?.recipe, lease: facts?.lease)
        }
        if let cell = place(payload, home, recipe, lease, &effects) {
            note(cell, of: home, recorder)
            if home !== asker { asker.link(requested, to: cell) }
        } else {
            let made = Outcome(result: .success(payload), home: home, recipe: recipe, lease: lease)
            recorder?.record(made, of: requested)
            asker.ownRecorder?.record(made, of: requested)
        }
        return .made
    }

    /// Under the lock: what the asker gets of a load that failed: what was set meanwhile, if something was.
    private func discard(_ lease: Lease?, _ recorder: Flight?, _ effects: inout Effects) -> Ending {
        effects.garbage.add(lease, isForNobody: true)
        guard !asker.isEnded, let (cell, owner) = asker.find(requested).present, let standing = cell.payload,
            !cell.has(CellState.loaded)
        else { return .made }
        note(cell, of: owner, recorder)
        let home = facts.value.home!.object
        if owner.depth > home.depth { return .hidden(standing) }
        let facts = cell.info?.value
        return .overtaken(standing, home: owner, recipe: facts?.recipe, lease: facts?.lease)
    }

    /// Under the lock: stores what was made, if it is wanted.
    private func place(
        _ payload: Payload, _ home: Node, _ recipe: Recipe, _ lease: Lease?, _ effects: inout Effects
    ) -> CellReference? {
        guard isWanted(at: home, recipe) else { return nil }
        let cell = home.storage.cell(requested)
        // What rules may drop again at once is not to be read before they have run.
        let flags = CellState.loaded | cell.standing
        effects.garbage.add(cell.store(payload, flags: flags, isOpen: !reloads || home.isConfigured))
        let info = cell.makeInfo()
        info.value.changes &+= 1
        if requested.kind != .property {
            info.value.recipe = recipe
            info.value.lease = lease
        }
        if !home.isRoot { family.record(requested).facts.value.copies.insert(NodeIdentity(node: home)) }
        if reloads { family.follow(recipe, by: requested, at: home) }
        if let record = family.existingRecord(requested) {
            family.announce(record, at: home, isFirstLoad: true, parent, &effects)
        }
        return cell
    }

    private func note(_ cell: CellReference, of owner: Node, _ recorder: Flight?) {
        recorder?.record(cell, of: owner)
        asker.ownRecorder?.record(cell, of: owner)
    }

    /// Whether what was made is to stay: the key was not reset meanwhile, what puts it below the root still stands, and,
    /// if it reloads, nothing changed that it was made from.
    private func isWanted(at home: Node, _ recipe: Recipe) -> Bool {
        guard facts.value.rare?.resets.contains(where: { $0 === home }) != true else { return false }
        guard home.isRoot || home.anchors(requested, recipe) else { return false }
        return !reloads || !asker.isStale(recipe)
    }

    private func leave(_ effects: inout Effects) {
        family.existingLoads(of: requested)?.value.flights.remove(self)
        effects.waiters += asker.endUnderWay()
        facts.value.container = nil
        facts.value.landing = nil
        facts.value.task = nil
        guard let rare = facts.value.rare else { return }
        effects.waiters += rare.waiters.takeAll()
        rare.seen = []
        rare.closers = []
        rare.needs = []
        rare.resets = []
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
