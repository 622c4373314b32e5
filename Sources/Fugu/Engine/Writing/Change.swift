/// What happens to one key in one node, under the lock of the family: a write, and what follows from it.
struct Change {
    let node: Node
    let cell: CellReference

    var key: Key { cell.key }
    private var family: Family { node.family }

    /// Sets a value for the first time if nothing is known of the key here.
    fileprivate func setAlone(_ token: LockToken, _ payload: Payload) -> Garbage? {
        guard cell.isEmpty, cell.state?.isFollowed(token) != true else { return nil }
        let time = family.state[token].tick()
        node.storage[token].heldMask |= key.mask
        raiseEpoch(token, to: time)
        return cell.store(payload, flags: CellFlags.held, at: time)
    }

    /// Performs the operation.
    @inline(never)  // Many do.
    func apply(
        _ token: LockToken, _ operation: Operation, as announcement: Announcement = Announcement(), isOpen: Bool = true,
        _ effects: inout Effects
    ) {
        if case .layer(let answer) = operation, !takes(answer) { return }
        if case .reset = operation {
            markResets(token)
            // What sources gave was not set by anyone; only the default that stands for a wrong value can go.
            guard cell.has(CellFlags.loaded) || cell.heldFlags == CellFlags.held else { return }
        }
        let wasHeld = cell.has(CellFlags.held)
        if cell.has(CellFlags.loaded) { forgetLoaded(token, &effects.garbage) }
        // A value that hides an inherited one can be read only after links that pass this node have become invalid.
        let opensLater = isOpen && !wasHeld && !node.isRoot
        put(token, operation, isOpen: isOpen && !opensLater, &effects.garbage)
        let isHeld = cell.has(CellFlags.held)
        emit(token, operation.kind(isNew: !wasHeld && !node.isRoot), &effects)
        if isHeld { node.storage[token].heldMask |= key.mask }
        if !announcement.isSilent { cell.markChanged(token, at: family.state[token].now) }
        if isHeld != wasHeld { raiseEpoch(token, to: family.state[token].now) }
        if opensLater { cell.openIfPresent() }
        if isHeld != wasHeld, !node.isRoot {
            if isHeld {
                hideInherited(token, announcement, &effects)
            } else {
                dropUnanchored(token, &effects)
                tellOfUncovered(token, &effects)
            }
        }
        guard let cellState = cell.state, cellState.isFollowed(token) else { return }
        if isHeld || wasHeld, cellState[token].place.hasBelow { dropCopies(token, &effects) }
        if !announcement.isSilent { dropDependents(token, &effects) }
        announce(token, as: announcement, &effects)
    }

    /// Whether the sources' answer changes anything: code comes first, and nothing is no reason to drop a default.
    private func takes(_ answer: SourceAnswer<Payload>) -> Bool {
        let isLayered = cell.has(CellFlags.layered)
        if case .nothing = answer { return isLayered }
        return isLayered || !cell.has(CellFlags.held)
    }

    /// Records when a key last became set or unset here.
    ///
    /// What descendants see of the root they see through their cells.
    private func raiseEpoch(_ token: LockToken, to time: UInt64) {
        node.storage.raiseEpoch(token, to: time, reachesDescendants: !node.isRoot && node.hasChildren(token))
    }

    /// Changes the cell itself.
    private func put(_ token: LockToken, _ operation: Operation, isOpen: Bool, _ garbage: inout Garbage) {
        let time = family.state[token].tick()
        switch operation {
        case .set(let payload):
            takeReplacement(token, &garbage)
            garbage.add(cell.store(payload, flags: CellFlags.held, at: time, isOpen: isOpen))
        case .replace(let replacement):
            takeReplacement(token, &garbage)
            garbage.add(cell.clear(flags: CellFlags.held, at: time))
            cell.makeState()[token].replacement = replacement
            markResets(token)
        case .reset:
            let isLayered = cell.has(CellFlags.layered)
            takeReplacement(token, &garbage)
            garbage.add(cell.clear(flags: isLayered ? cell.heldFlags : 0, at: time))
            if !isLayered { cell.state?[token].answered = nil }
        case .layer(.value(let payload)):
            let flags = CellFlags.held | CellFlags.layered
            garbage.add(cell.store(payload, flags: flags, at: time, isOpen: isOpen))
        case .layer(.failure):
            // Held without a value: the default is loaded in its place, here.
            garbage.add(cell.clear(flags: CellFlags.held | CellFlags.layered, at: time))
        case .layer(.nothing):
            garbage.add(cell.clear(at: time))
        }
    }

    /// Takes a replaced loader away, to be released outside the lock.
    private func takeReplacement(_ token: LockToken, _ garbage: inout Garbage) {
        guard let cellState = cell.state, let replacement = cellState[token].replacement else { return }
        garbage.add(replacement)
        cellState[token].replacement = nil
    }

    /// Marks the loads of the key under way here and below, so that what they make is not kept here.
    private func markResets(_ token: LockToken) {
        guard let loads = family.existingRootState(token, of: key) else { return }
        for load in loads[token].loads where load.asker.isWithin(node) {
            load.state[token].more().resets.append(node)
        }
    }

    /// After the key is no longer held here: copies go that were here because of it.
    private func dropUnanchored(_ token: LockToken, _ effects: inout Effects) {
        let copies = node.storage.cells(token).filter { copy in
            guard copy.has(CellFlags.loaded), let provenance = copy.state?[token].provenance else { return false }
            return !provenance.isAnchored(token, at: node, for: copy.key)
        }
        for cell in copies {
            guard let reloads = cell.state?[token].provenance?.reloads else { continue }
            let copy = Change(node: node, cell: cell)
            copy.dropLoaded(token, &effects)
            copy.dropDependents(token, &effects)
            if reloads || Lookup(token, copy.key, for: node).present != nil { copy.announce(token, &effects) }
        }
    }

    /// After the key is no longer held here: those who know that a value is gone may see an inherited one again.
    private func tellOfUncovered(_ token: LockToken, _ effects: inout Effects) {
        for node in node.activeNodes(token) where node.storage[token].followerCount > 0 {
            for cell in node.storage.cells(token) { cell.state?[token].followers?.lookAgain(token, &effects) }
        }
    }

    /// After the key was set or reset here: what descendants had loaded for it gives way, unless something nearer hides
    /// it.
    private func dropCopies(_ token: LockToken, _ effects: inout Effects) {
        if key.kind == .property { return }
        node.forEachLinked(token, key) { below, _ in
            guard below !== node, let cell = below.storage.existingCell(token, key), cell.has(CellFlags.loaded) else {
                return
            }
            let copy = Change(node: below, cell: cell)
            copy.dropLoaded(token, &effects)
            copy.dropDependents(token, &effects)
        }
    }

    /// After the key changed here: instances that read it and reload go, and those that reload from them.
    private func dropDependents(_ token: LockToken, _ effects: inout Effects) {
        guard let cellState = cell.state, !cellState[token].dependents.isEmpty else { return }
        var open = cellState[token].dependents.map { (dependent: $0, input: self) }
        while let (dependent, input) = open.popLast() {
            let node = dependent.node.object
            guard let cell = node.storage.existingCell(token, dependent.key), let cellState = cell.state,
                cellState[token].provenance?.inputs.contains(where: { $0.key == input.key }) == true,
                !node.isShadowed(token, input.key, below: input.node)
            else { continue }
            let change = Change(node: node, cell: cell)
            change.dropLoaded(token, &effects)
            open += cellState[token].dependents.map { (dependent: $0, input: change) }
            change.announce(token, &effects)
        }
    }

    /// After the key became held here: it hides inherited instances that were made from it.
    ///
    /// Drops the instances here and below that reload and were made from the key, directly or through others. Those who
    /// observe what is hidden get an instance of their own at once, if it reloads.
    private func hideInherited(_ token: LockToken, _ announcement: Announcement, _ effects: inout Effects) {
        let own = cell.makeState()
        for below in node.activeNodes(token) where !below.isShadowed(token, key, below: node) {
            for cell in Array(below.storage.cells(token)) {
                guard let cellState = cell.state else { continue }
                let instance = Change(node: below, cell: cell)
                switch cellState[token].provenance?.hasRead(key, above: node.depth) {
                case true? where announcement.isSilent:
                    // It is what was read; from now on its changes are those that matter, none of which takes a short cut.
                    self.cell.mark(CellFlags.special)
                    own[token].dependents.insert(instance.dependent)
                case .some:
                    instance.dropLoaded(token, &effects)
                    instance.dropDependents(token, &effects)
                    instance.announce(token, &effects)
                case nil: break
                }
                cellState[token].followers?.lookAgain(token, behind: key, &effects)
            }
        }
    }
}

// What was loaded.
extension Change {
    /// Takes a loaded instance away, so that the next read loads again.
    func dropLoaded(_ token: LockToken, _ effects: inout Effects) {
        forgetLoaded(token, &effects.garbage)
        effects.garbage.add(cell.clear(flags: cell.heldFlags, at: family.state[token].tick()))
        cell.markChanged(token, at: family.state[token].now)
        emit(token, .dropped, &effects)
    }

    /// Takes away what the load of a cell left beside its value.
    private func forgetLoaded(_ token: LockToken, _ garbage: inout Garbage) {
        guard let cellState = cell.state, let provenance = cellState[token].provenance.take() else { return }
        if provenance.reloads { unfollow(token, provenance) }
        garbage.add(provenance)
        if let lifetime = cellState[token].lifetime.take() { garbage.add(lifetime, isForNobody: false) }
        cellState.unlinkIfIdle(token)
    }

    /// Takes everything out of a cell whose container goes away.
    ///
    /// No closers run.
    func giveUp(_ token: LockToken, _ garbage: inout Garbage) {
        if let cellState = cell.state {
            if let lifetime = cellState[token].lifetime {
                for (key, closers) in lifetime.abandon() {
                    garbage.addAbandoned(key)
                    garbage.add(Retained(closers))
                }
            }
            cellState[token].followers?.giveUp(token, cell, &garbage)
        }
        forgetLoaded(token, &garbage)
        garbage.add(cell.clear(at: family.state[token].tick()))
        garbage.add(cell.takeState())
    }

    /// Records that the instance, which was loaded here, is to be dropped when one of its inputs changes.
    func follow(_ token: LockToken, _ provenance: Provenance) {
        for input in provenance.inputs {
            guard let owner = node.path.first(where: { $0.depth == input.depth }) else { continue }
            owner.storage.cell(token, input.key).makeState()[token].dependents.insert(dependent)
        }
        node.countActive(token, 1)
    }

    private func unfollow(_ token: LockToken, _ provenance: Provenance) {
        for input in provenance.inputs {
            // Something equal may have been set meanwhile, nearer than where it was read.
            for node in node.path {
                if node.depth < input.depth { break }
                node.storage.existingCell(token, input.key)?.state?[token].dependents.remove(dependent)
            }
        }
        node.countActive(token, -1)
    }

    /// The instance, as those know it from which it was made.
    private var dependent: Dependent { Dependent(node: UnmanagedReference(node), key: key) }
}

extension Node {
    /// Sets a value for the first time if nobody else is concerned with the key: nobody observes it, loads it or was made
    /// from it.
    func setAlone(_ key: Key, _ payload: Payload) -> Bool {
        let replaced: Garbage? = family.lock.withLock { token in
            guard !isEnded(token), isRoot || storage[token].activeCount == 0, !family.hasEvents else { return nil }
            return Change(node: self, cell: storage.cell(token, key)).setAlone(token, payload)
        }
        replaced?.dispose()
        return replaced != nil
    }

    /// Sets, replaces or resets, when no `modify` of the key is under way here.
    func change(_ key: TypedKey, _ operation: Operation) { family.commit(Write(self, key, operation)) }
}

extension Provenance {
    /// Returns whether an instance that reloads has read the key itself from a container above a depth, rather than
    /// something that was made from it; nil if it was not made from it, or does not reload.
    fileprivate func hasRead(_ key: Key, above depth: Int) -> Bool? {
        guard reloads, mask & key.mask != 0 else { return nil }
        if others.contains(key) { return false }
        var hasRead: Bool?
        for input in inputs where input.depth < depth {
            if input.key == key { hasRead = true }
            if input.provenance?.object.contains(key.mask, where: { $0 == key }) == true { return false }
        }
        return hasRead
    }
}

extension Operation {
    /// What events call it.
    fileprivate func kind(isNew: Bool) -> ContainerEvent.Kind {
        switch self {
        case .set, .replace: if isNew { return .overridden }
        case .reset: return .reset
        case .layer: return .supplied
        }
        if case .replace = self { return .replaced }
        return .set
    }
}
