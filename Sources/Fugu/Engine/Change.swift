extension Node {
    /// Sets a value for the first time if nobody else is concerned with the key: nobody observes it, loads it or was made
    /// from it.
    func setAlone(_ key: Key, _ payload: Payload) -> Bool {
        let replaced: Garbage? = family.lock.withLock {
            guard !isEnded, family.existingLoads(of: key)?.value.isIdle != false else { return nil }
            let cell = storage.cell(key)
            guard cell.isEmpty else { return nil }
            storage.facts.heldMask |= key.mask
            if !isRoot { storage.raiseEpoch(reachesDescendants: hasChildren) }
            return cell.store(payload, flags: CellState.held)
        }
        replaced?.dispose()
        return replaced != nil
    }

    /// Sets, replaces or resets, when no `modify` of the key is under way here.
    func change(_ key: TypedKey, _ operation: Operation) {
        family.commit(Write(self, key, operation))
    }

    /// Under the lock: the present value with its stamp, if its change would concern somebody: an observer, one who
    /// reloads or one who becomes stale.
    func concerningValue(_ key: Key) -> (Payload, UInt32)? { concerningValue(key, storage.existingCell(key)) }

    /// The same, for those who have this node's cell already.
    func concerningValue(_ key: Key, _ cell: CellReference?) -> (Payload, UInt32)? {
        let isInput = cell?.info?.value.isInput == true
        guard isInput || family.existingRecord(key)?.facts.value.isFollowed == true else { return nil }
        if let cell, cell.has(CellState.held), let payload = cell.payload {
            return (payload, cell.version &+ (cell.info?.value.changes ?? 0) &+ UInt32(truncatingIfNeeded: depth))
        }
        guard let (payload, cell, owner) = present(key) else { return nil }
        return (payload, cell.version &+ cell.makeInfo().value.changes &+ UInt32(truncatingIfNeeded: owner.depth))
    }

    /// Under the lock: does it.
    @inline(never)  // Many do.
    func apply(
        _ operation: Operation, to key: Key, isSilent: Bool = false, isOpen: Bool = true, isFirstLoad: Bool = false,
        holder: (any Activity)?, _ effects: inout Effects
    ) {
        let cell = storage.cell(key)
        if case .layer(let answer) = operation, !cell.takes(answer) { return }
        if case .reset = operation {
            markResets(key)
            // What sources gave was not set by anyone; only the default that stands for a wrong value can go.
            guard cell.has(CellState.loaded) || cell.standing == CellState.held else { return }
        }
        let lost = cell.has(CellState.held) ? nil : cell.info?.value.recipe
        if cell.has(CellState.loaded) { forgetLoaded(cell, &effects.garbage) }
        let wasHeld = cell.has(CellState.held)
        switch operation {
        case .set(let payload):
            takeReplacement(cell, &effects.garbage)
            effects.garbage.add(cell.store(payload, flags: CellState.held, isOpen: isOpen))
        case .replace(let replacement):
            takeReplacement(cell, &effects.garbage)
            effects.garbage.add(cell.clear(flags: CellState.held))
            cell.makeInfo().value.replacement = replacement
            markResets(key)
        case .reset:
            let isLayered = cell.has(CellState.layered)
            takeReplacement(cell, &effects.garbage)
            effects.garbage.add(cell.clear(flags: isLayered ? cell.standing : 0))
            if !isLayered { cell.info?.value.answered = nil }
        case .layer(.value(let payload)):
            effects.garbage.add(cell.store(payload, flags: CellState.held | CellState.layered, isOpen: isOpen))
        case .layer(.failure):
            // Held without a value: the default is loaded in its place, here.
            effects.garbage.add(cell.clear(flags: CellState.held | CellState.layered))
        case .layer(.nothing):
            effects.garbage.add(cell.clear())
        }
        if !isSilent { cell.countChange() }
        let isHeld = cell.has(CellState.held)
        if isHeld { storage.facts.heldMask |= key.mask }
        if isHeld != wasHeld, !isRoot { storage.raiseEpoch(reachesDescendants: hasChildren) }
        if wasHeld, !isHeld { dropUnanchored(holder, &effects) }
        if isHeld, !wasHeld { awakenHidden(by: key, holder, &effects) }
        guard let record = family.existingRecord(key) else { return }
        if isHeld || wasHeld { dropCopies(of: record, holder, &effects) }
        if isHeld, !wasHeld { dropHidden(record, holder, &effects) }
        if isSilent { return }
        dropDependents(of: record, holder, &effects)
        family.announce(record, at: self, lost: lost, isFirstLoad: isFirstLoad, holder, &effects)
    }

    /// Takes a replaced loader away, to be released outside the lock.
    private func takeReplacement(_ cell: CellReference, _ garbage: inout Garbage) {
        guard let info = cell.info, let replacement = info.value.replacement else { return }
        garbage.add(replacement)
        info.value.replacement = nil
    }

    /// Loads in flight are not to be kept here.
    private func markResets(_ key: Key) {
        guard let loads = family.existingLoads(of: key) else { return }
        for flight in loads.value.flights where flight.asker.isWithin(self) {
            flight.facts.value.more().resets.append(self)
        }
    }

    /// Takes away what the load of a cell left beside its value.
    func forgetLoaded(_ cell: CellReference, _ garbage: inout Garbage) {
        unlinkLoaded(cell)
        guard let info = cell.info, let recipe = info.value.recipe else { return }
        garbage.add(recipe)
        garbage.add(info.value.lease, isForNobody: false)
        info.value.recipe = nil
        info.value.lease = nil
    }

    /// Lets the family forget that there is something loaded in the cell.
    private func unlinkLoaded(_ cell: CellReference) {
        if !isRoot { family.existingRecord(cell.key)?.facts.value.copies.remove(NodeIdentity(node: self)) }
        if let recipe = cell.info?.value.recipe, recipe.reloads { family.unfollow(recipe, by: cell.key, at: self) }
    }

    /// Takes everything out of a cell whose container goes away. No closers run.
    func giveUp(_ cell: CellReference, _ garbage: inout Garbage) {
        if cell.has(CellState.loaded) {
            unlinkLoaded(cell)
            if let lease = cell.info?.value.lease {
                for (key, closers) in lease.abandon() {
                    garbage.addAbandoned(key)
                    garbage.add(Retained(closers))
                }
                garbage.add(lease, isForNobody: false)
            }
        }
        garbage.add(cell.clear())
        garbage.add(cell.takeInfo())
    }

    /// Takes a loaded instance away, so that the next read loads again.
    func dropLoaded(_ key: Key, _ effects: inout Effects) {
        guard let cell = storage.existingCell(key), cell.has(CellState.loaded) else { return }
        forgetLoaded(cell, &effects.garbage)
        effects.garbage.add(cell.clear(flags: cell.standing))
        cell.countChange()
    }

    /// Takes a loaded instance away, and with it those that reload from it. Returns what it was made from.
    @discardableResult
    private func dropWithDependents(_ key: Key, _ holder: (any Activity)?, _ effects: inout Effects) -> Recipe? {
        let recipe = storage.existingCell(key)?.info?.value.recipe
        dropLoaded(key, &effects)
        if let record = family.existingRecord(key) { dropDependents(of: record, holder, &effects) }
        return recipe
    }

    /// After a key is no longer held here: copies go that were here because of it.
    private func dropUnanchored(_ holder: (any Activity)?, _ effects: inout Effects) {
        guard !isRoot else { return }
        for cell in storage.cells where cell.has(CellState.loaded) {
            guard let recipe = cell.info?.value.recipe, !anchors(cell.key, recipe) else { continue }
            dropWithDependents(cell.key, holder, &effects)
            guard let record = family.existingRecord(cell.key), recipe.reloads || find(cell.key).present != nil
            else { continue }
            family.announce(record, at: self, lost: recipe, holder, &effects)
        }
    }

    /// After a key became or is no longer held here: what descendants had loaded for it gives way, unless something
    /// nearer hides it.
    private func dropCopies(of record: KeyRecord, _ holder: (any Activity)?, _ effects: inout Effects) {
        if record.facts.value.copies.isEmpty { return }
        for copy in record.facts.value.copies
        where copy.node !== self && copy.node.isWithin(self) && !copy.node.isShadowed(record.key, below: self) {
            copy.node.dropWithDependents(record.key, holder, &effects)
        }
    }

    /// After a key changed here: instances that reload go, and those that reload from them.
    private func dropDependents(of record: KeyRecord, _ holder: (any Activity)?, _ effects: inout Effects) {
        if record.facts.value.dependents.isEmpty { return }
        drop(record.facts.value.dependents.filter { !$0.isIndirect && $0.depth <= depth }, of: record, holder, &effects)
    }

    /// After a key became held here: it hides inherited instances that were made from it, and so changes what was made
    /// here or below from those.
    private func dropHidden(_ record: KeyRecord, _ holder: (any Activity)?, _ effects: inout Effects) {
        if record.facts.value.dependents.isEmpty { return }
        drop(record.facts.value.dependents.filter { $0.isIndirect && $0.depth < depth }, of: record, holder, &effects)
    }

    /// After a key became held here: those who observe here or below what was inherited, was made from the key and
    /// reloads, are to have their own at once.
    private func awakenHidden(by key: Key, _ holder: (any Activity)?, _ effects: inout Effects) {
        guard let parent, hasChildren || storage.facts.observerCount > 0 else { return }
        for record in family.records where !record.facts.value.observers.isEmpty {
            guard let (cell, owner) = parent.find(record.key).present, let recipe = cell.info?.value.recipe,
                recipe.reloads, recipe.mask & key.mask != 0, recipe.keys.contains(key), !shares(recipe, of: owner),
                !recipe.keys.contains(where: { $0 != key && holds($0) })
            else { continue }
            family.announce(record, at: self, holder, &effects)
        }
    }

    private func drop(
        _ dependents: Set<Dependent>, of record: KeyRecord, _ holder: (any Activity)?, _ effects: inout Effects
    ) {
        for dependent in dependents {
            let node = dependent.node.node
            guard record.facts.value.dependents.contains(dependent), node.isWithin(self),
                !node.isShadowed(record.key, below: self)
            else { continue }
            let lost = node.dropWithDependents(dependent.key, holder, &effects)
            family.announce(family.record(dependent.key), at: node, lost: lost, holder, &effects)
        }
    }
}

extension Node {
    /// Resets every key that was set or loaded here.
    func resetAll() {
        let keys = family.lock.withLock {
            let present = storage.cells.filter { $0.has(CellState.held | CellState.loaded) }.map(\.key)
            let loading = family.flights.filter { $0.asker.isWithin(self) && !present.contains($0.requested) }
            return present + loading.map(\.requested)
        }
        for key in keys { change(TypedKey(resetting: key), .reset) }
    }
}

extension CellReference {
    /// Whether the sources' answer changes anything: code comes first, and nothing is no reason to drop a default.
    fileprivate func takes(_ answer: SourceAnswer<Payload>) -> Bool {
        let isLayered = has(CellState.layered)
        if case .nothing = answer { return isLayered }
        return isLayered || !has(CellState.held)
    }
}
