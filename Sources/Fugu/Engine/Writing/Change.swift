extension Node {
    /// Sets a value for the first time if nobody else is concerned with the key: nobody observes it, loads it or was made
    /// from it.
    func setAlone(_ key: Key, _ payload: Payload) -> Bool {
        let replaced: Garbage? = family.lock.withLock { token in
            guard !isEnded(token), isRoot || storage[token].activeCount == 0, !family.hasEvents else { return nil }
            let cell = storage.cell(token, key)
            guard cell.isEmpty, cell.state?.isFollowed(token) != true else { return nil }
            let time = family.state[token].tick()
            storage[token].heldMask |= key.mask
            raiseEpoch(token, to: time)
            return cell.store(payload, flags: CellFlags.held, at: time)
        }
        replaced?.dispose()
        return replaced != nil
    }

    /// Sets, replaces or resets, when no `modify` of the key is under way here.
    func change(_ key: TypedKey, _ operation: Operation) { family.commit(Write(self, key, operation)) }

    /// Performs the operation.
    @inline(never)  // Many do.
    func apply(
        _ token: LockToken,
        _ operation: Operation, to key: Key, _ announcement: Announcement = Announcement(), isOpen: Bool = true,
        holder: (any CallFrame)?, _ effects: inout Effects
    ) {
        let cell = storage.cell(token, key)
        if case .layer(let answer) = operation, !cell.takes(answer) { return }
        if case .reset = operation {
            markResets(token, key)
            // What sources gave was not set by anyone; only the default that stands for a wrong value can go.
            guard cell.has(CellFlags.loaded) || cell.heldFlags == CellFlags.held else { return }
        }
        let wasHeld = cell.has(CellFlags.held)
        if cell.has(CellFlags.loaded) { forgetLoaded(token, cell, &effects.garbage) }
        // A value that hides an inherited one can be read only after links that pass this node have become invalid.
        let opensLater = isOpen && !wasHeld && !isRoot
        put(token, operation, into: cell, isOpen: isOpen && !opensLater, &effects.garbage)
        let isHeld = cell.has(CellFlags.held)
        emit(token, operation.kind(isNew: !wasHeld && !isRoot), key, &effects)
        if isHeld { storage[token].heldMask |= key.mask }
        if !announcement.isSilent { cell.markChanged(token, at: family.state[token].now) }
        if isHeld != wasHeld { raiseEpoch(token, to: family.state[token].now) }
        if opensLater { cell.openIfPresent() }
        if isHeld != wasHeld, !isRoot {
            if isHeld {
                hideInherited(token, by: key, announcement, holder, &effects)
            } else {
                dropUnanchored(token, holder, &effects)
                tellOfUncovered(token, holder, &effects)
            }
        }
        guard let cellState = cell.state, cellState.isFollowed(token) else { return }
        if isHeld || wasHeld, cellState[token].place.hasBelow { dropCopies(token, of: key, holder, &effects) }
        if !announcement.isSilent { dropDependents(token, of: key, cellState, holder, &effects) }
        announce(token, key, as: announcement, holder, &effects)
    }

    /// Records when a key last became set or unset here.
    ///
    /// What descendants see of the root they see through their cells.
    private func raiseEpoch(_ token: LockToken, to time: UInt64) {
        storage.raiseEpoch(token, to: time, reachesDescendants: !isRoot && hasChildren(token))
    }

    /// Changes the cell itself.
    private func put(
        _ token: LockToken, _ operation: Operation, into cell: CellReference, isOpen: Bool, _ garbage: inout Garbage
    ) {
        let time = family.state[token].tick()
        switch operation {
        case .set(let payload):
            takeReplacement(token, cell, &garbage)
            garbage.add(cell.store(payload, flags: CellFlags.held, at: time, isOpen: isOpen))
        case .replace(let replacement):
            takeReplacement(token, cell, &garbage)
            garbage.add(cell.clear(flags: CellFlags.held, at: time))
            cell.makeState()[token].replacement = replacement
            markResets(token, cell.key)
        case .reset:
            let isLayered = cell.has(CellFlags.layered)
            takeReplacement(token, cell, &garbage)
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
    private func takeReplacement(_ token: LockToken, _ cell: CellReference, _ garbage: inout Garbage) {
        guard let cellState = cell.state, let replacement = cellState[token].replacement else { return }
        garbage.add(replacement)
        cellState[token].replacement = nil
    }

    /// Marks the loads of the key under way here and below, so that what they make is not kept here.
    private func markResets(_ token: LockToken, _ key: Key) {
        guard let loads = family.existingRootState(token, of: key) else { return }
        for load in loads[token].loads where load.asker.isWithin(self) {
            load.state[token].more().resets.append(self)
        }
    }

    /// Takes away what the load of a cell left beside its value.
    func forgetLoaded(_ token: LockToken, _ cell: CellReference, _ garbage: inout Garbage) {
        guard let cellState = cell.state, let provenance = cellState[token].provenance.take() else { return }
        if provenance.reloads { unfollow(token, provenance, by: cell.key) }
        garbage.add(provenance)
        if let lifetime = cellState[token].lifetime.take() { garbage.add(lifetime, isForNobody: false) }
        cellState.unlinkIfIdle(token)
    }

    /// Takes everything out of a cell whose container goes away.
    ///
    /// No closers run.
    func giveUp(_ token: LockToken, _ cell: CellReference, _ garbage: inout Garbage) {
        if let cellState = cell.state {
            if let lifetime = cellState[token].lifetime {
                for (key, closers) in lifetime.abandon() {
                    garbage.addAbandoned(key)
                    garbage.add(Retained(closers))
                }
            }
            if let followers = cellState[token].followers {
                garbage.add(Retained(followers.end(token)))
                garbage.add(drop(token, followers, cell))
            }
        }
        forgetLoaded(token, cell, &garbage)
        garbage.add(cell.clear(at: family.state[token].tick()))
        garbage.add(cell.takeState())
    }

    /// Takes a loaded instance away, so that the next read loads again.
    func dropLoaded(_ token: LockToken, _ cell: CellReference, _ effects: inout Effects) {
        forgetLoaded(token, cell, &effects.garbage)
        effects.garbage.add(cell.clear(flags: cell.heldFlags, at: family.state[token].tick()))
        cell.markChanged(token, at: family.state[token].now)
        emit(token, .dropped, cell.key, &effects)
    }

    /// After a key is no longer held here: copies go that were here because of it.
    private func dropUnanchored(_ token: LockToken, _ holder: (any CallFrame)?, _ effects: inout Effects) {
        let copies = storage.cells(token).filter { cell in
            guard cell.has(CellFlags.loaded), let provenance = cell.state?[token].provenance else { return false }
            return !anchors(token, cell.key, provenance)
        }
        for cell in copies {
            guard let cellState = cell.state, let provenance = cellState[token].provenance else { continue }
            let reloads = provenance.reloads
            dropLoaded(token, cell, &effects)
            dropDependents(token, of: cell.key, cellState, holder, &effects)
            if reloads || find(token, cell.key).present != nil { announce(token, cell.key, holder, &effects) }
        }
    }

    /// After a key is no longer held here: those who know that a value is gone may see an inherited one again.
    private func tellOfUncovered(_ token: LockToken, _ holder: (any CallFrame)?, _ effects: inout Effects) {
        for node in activeNodes(token) where node.storage[token].followerCount > 0 {
            for cell in node.storage.cells(token) {
                cell.state?[token].followers?.lookAgain(token, holder, &effects)
            }
        }
    }

    /// After a key was set or reset here: what descendants had loaded for it gives way, unless something nearer hides it.
    private func dropCopies(_ token: LockToken, of key: Key, _ holder: (any CallFrame)?, _ effects: inout Effects) {
        if key.kind == .property { return }
        forEachLinked(token, key) { node, cellState in
            guard node !== self, let cell = node.storage.existingCell(token, key), cell.has(CellFlags.loaded) else {
                return
            }
            node.dropLoaded(token, cell, &effects)
            node.dropDependents(token, of: key, cellState, holder, &effects)
        }
    }

    /// After a key changed here: instances that read it and reload go, and those that reload from them.
    private func dropDependents(
        _ token: LockToken,
        of key: Key, _ cellState: FamilyLocked<CellState>, _ holder: (any CallFrame)?, _ effects: inout Effects
    ) {
        if cellState[token].dependents.isEmpty { return }
        var open = cellState[token].dependents.map { (dependent: $0, input: key, owner: self) }
        while let (dependent, input, owner) = open.popLast() {
            let node = dependent.node.node
            guard let cell = node.storage.existingCell(token, dependent.key), let cellState = cell.state,
                cellState[token].provenance?.inputs.contains(where: { $0.key == input }) == true,
                !node.isShadowed(token, input, below: owner)
            else { continue }
            node.dropLoaded(token, cell, &effects)
            open += cellState[token].dependents.map { (dependent: $0, input: cell.key, owner: node) }
            node.announce(token, dependent.key, holder, &effects)
        }
    }

    /// After a key became held here: it hides inherited instances that were made from it.
    ///
    /// Drops the instances here and below that reload and were made from the key, directly or through others. Those who
    /// observe what is hidden get an instance of their own at once, if it reloads.
    private func hideInherited(
        _ token: LockToken,
        by key: Key, _ announcement: Announcement, _ holder: (any CallFrame)?, _ effects: inout Effects
    ) {
        let own = storage.cell(token, key).makeState()
        for node in activeNodes(token) where !node.isShadowed(token, key, below: self) {
            for cell in Array(node.storage.cells(token)) {
                guard let cellState = cell.state else { continue }
                switch cellState[token].provenance?.relation(to: key, above: depth) {
                case .direct? where announcement.isSilent:
                    // It is what was read; from now on its changes are those that matter, none of which takes a short cut.
                    storage.cell(token, key).mark(CellFlags.special)
                    own[token].dependents.insert(Dependent(node: NodeIdentity(node: node), key: cell.key))
                case .direct?, .indirect?:
                    node.dropLoaded(token, cell, &effects)
                    node.dropDependents(token, of: cell.key, cellState, holder, &effects)
                    node.announce(token, cell.key, holder, &effects)
                case .none?, nil: break
                }
                guard let followers = cellState[token].followers else { continue }
                if followers.reloads(token, from: key) {
                    followers.refresh(token, holder, &effects)
                } else {
                    followers.lookAgain(token, holder, &effects)
                }
            }
        }
    }
}

extension Node {
    /// Records that `key`, loaded here, is to be dropped when one of its inputs changes.
    func follow(_ token: LockToken, _ provenance: Provenance, by key: Key) {
        let dependent = Dependent(node: NodeIdentity(node: self), key: key)
        for input in provenance.inputs {
            guard let owner = path.first(where: { $0.depth == input.depth }) else { continue }
            owner.storage.cell(token, input.key).makeState()[token].dependents.insert(dependent)
        }
        countActive(token, 1)
    }

    private func unfollow(_ token: LockToken, _ provenance: Provenance, by key: Key) {
        let dependent = Dependent(node: NodeIdentity(node: self), key: key)
        for input in provenance.inputs {
            // Something equal may have been set meanwhile, nearer than where it was read.
            for node in path {
                if node.depth < input.depth { break }
                node.storage.existingCell(token, input.key)?.state?[token].dependents.remove(dependent)
            }
        }
        countActive(token, -1)
    }
}

/// What an instance that reloads has to do with a key that is set below where it was read.
private enum Relation {
    case direct, indirect, none
}

extension Provenance {
    /// Returns whether the instance reloads and read the key, or something made from it, from a container above a
    /// depth.
    fileprivate func relation(to key: Key, above depth: Int) -> Relation {
        guard reloads, mask & key.mask != 0 else { return .none }
        if others.contains(key) { return .indirect }
        var relation = Relation.none
        for input in inputs where input.depth < depth {
            if input.key == key { relation = .direct }
            if input.provenance?.object.contains(key.mask, where: { $0 == key }) == true { return .indirect }
        }
        return relation
    }
}

extension Followers {
    /// Returns whether what was told last was made from the key and reloads.
    fileprivate func reloads(_ token: LockToken, from key: Key) -> Bool {
        guard case .state(let state) = state[token].known, let cellState = state.cell.state,
            let provenance = cellState[token].provenance,
            provenance.reloads
        else { return false }
        return provenance.contains(key.mask) { $0 == key }
    }

    /// Ends all deliveries, since the container goes away.
    ///
    /// What is returned is to be released outside the lock.
    fileprivate func end(_ token: LockToken) -> FollowersLeft {
        let endings = state[token].observers.slots.compactMap { $0?.end() }
        defer {
            state[token].observers = ObserverList()
            state[token].events = EventQueue()
            state[token].reloader = nil
        }
        return FollowersLeft(observers: state[token].observers, events: state[token].events, endings: endings)
    }
}

/// What followers leave behind.
private struct FollowersLeft: Sendable {
    let observers: ObserverList
    let events: EventQueue
    let endings: [Observer.Ending]
}

extension Node {
    /// Resets every key that was set or loaded here.
    func resetAll() {
        let keys = family.lock.withLock { token in
            let present = storage.cells(token).filter { $0.has(CellFlags.held | CellFlags.loaded) }.map(\.key)
            let loading = family.loads(token).filter { $0.asker.isWithin(self) && !present.contains($0.requested) }
            return present + loading.map(\.requested)
        }
        for key in keys { change(TypedKey(resetting: key), .reset) }
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

extension CellReference {
    /// Whether the sources' answer changes anything: code comes first, and nothing is no reason to drop a default.
    fileprivate func takes(_ answer: SourceAnswer<Payload>) -> Bool {
        let isLayered = has(CellFlags.layered)
        if case .nothing = answer { return isLayered }
        return isLayered || !has(CellFlags.held)
    }
}
