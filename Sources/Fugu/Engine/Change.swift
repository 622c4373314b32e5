// All changes: one commit for all writes.

/// A part of a commit: what an origin gives for a key in a node from now on.
package struct Write {
    package let node: Node
    package let key: Key
    let equal: Equality
    package let origin: Origin
    package let setting: Setting
    /// What was set in the node before the commit, if the new value equals it.
    private var equalValue: Payload?
    /// Whether the container was released, so that the write isn't done but reported, unlike others of the commit.
    fileprivate var isTooLate = false

    init(_ node: Node, _ key: TypedKey, _ setting: Setting, by origin: Origin) {
        self.init(node, key.key, key.equal, setting, by: origin)
    }

    init(_ node: Node, _ key: Key, _ equal: Equality, _ setting: Setting, by origin: Origin) {
        self.node = node
        self.key = key
        self.equal = equal
        self.origin = origin
        self.setting = setting
    }
}

// MARK: One key in one node

extension Write {
    private var family: Family { node.family }

    /// Outside the lock, since `==` is user code: notes what was set in the node, if the new value equals it.
    ///
    /// If another write replaces that before the commit, the new value counts as different.
    fileprivate mutating func compare() {
        guard let new = setting.value else { return }
        let old = family.lock.withLock { token in node.cell(token, key).flatMap { compared(in: $0) } }
        if let old, equal(old, new) { equalValue = old }
    }

    /// Returns the value that was set in a cell, if anything would notice a change of it.
    @inline(__always)
    private func compared(in cell: CellReference) -> Payload? {
        let (status, isSet) = (cell.status, CellFlags.held | CellFlags.hasWord)
        guard status & CellFlags.noticed != 0, status & (isSet | CellFlags.loaded) == isSet else { return nil }
        return cell.payload(status)
    }

    /// Whether the new value equals what was set in a cell.
    @inline(__always)
    private func isEqual(toValueIn cell: CellReference) -> Bool {
        guard let new = setting.value, let old = compared(in: cell) else { return false }
        return equalValue?.isIdentical(to: old) ?? (equal.isQuick && equal(old, new))
    }

    /// Performs the write in the key's cell, under the lock.
    ///
    /// Returns the change to announce, or `nil` if there's none.
    ///
    /// - `isOpen`: Whether readers may see the value at once.
    fileprivate func apply(
        _ token: LockToken, to cell: CellReference, isOpen: Bool, _ effects: inout Effects
    ) -> ChangeKind? {
        let (former, isByCode) = (cell.origin(token), origin == .code)
        let wasLoaded = cell.has(CellFlags.loaded) || cell.place?.former(token) != nil
        let (value, givesNothing, isEqual) = (setting.value, setting.isNothing, isEqual(toValueIn: cell))
        // A value that code gives is only in the cell.
        let isRecorded = !givesNothing && !(isByCode && value != nil)
        let binding = isRecorded ? node.place(token, key)[token].moreBinding() : cell.binding(token)
        binding?.put(isRecorded ? setting : .nothing, by: origin, &effects.garbage)
        if isByCode, value == nil { node.markReset(token, key) }
        // A reset drops what was loaded here, too.
        guard Binding.changes(origin, givesNothing: givesNothing, over: former) || isByCode && wasLoaded else {
            // Observers that miss the key try again.
            return isByCode && givesNothing ? .dropped : nil
        }
        if wasLoaded { cell.place?.forget(token, &effects.garbage) }
        // An equal value keeps the time, so that nothing seems to have changed.
        let time = isEqual ? cell.time : family.state[token].tick()
        // A value that hides an inherited one becomes readable only after the links past this node have become invalid.
        let wasHeld = former != nil
        let opensLater = isOpen && !wasHeld && !node.isRoot
        cell.publish(token, isByCode ? setting : .nothing, at: time, isOpen: isOpen && !opensLater, &effects.garbage)
        let isHeld = cell.has(CellFlags.held)
        if isHeld != wasHeld {
            if isHeld { node.storage[token].heldMask |= key.mask }
            node.raiseEpoch(token, to: time)
            if !isHeld { cell.place?.watchAbove(token) }
        }
        if opensLater { cell.openIfPresent() }
        let kind: ChangeKind? = isEqual ? nil : isHeld == wasHeld ? .changed : isHeld ? .held : .unset
        family.emit(token, .wrote(self, kind, isNew: !wasHeld && !node.isRoot), &effects)
        return kind
    }
}

// MARK: The commit

extension Family {
    /// Performs all writes at once, and notifies the observers of values that have changed.
    ///
    /// Returns whether the writes were done.
    ///
    /// - `isObsolete`: Called under the lock. If it returns `true`, nothing is done.
    /// - `alongside`: Called under the lock, after the writes.
    @discardableResult
    func commit(
        _ writes: consuming [Write], unless isObsolete: (LockToken) -> Bool = { _ in false },
        alongside: (LockToken) -> Void = { _ in }
    ) -> Bool {
        var writes = writes
        for index in writes.indices where !writes[index].equal.isQuick { writes[index].compare() }
        var effects = Effects()
        let isDone = lock.withLock { token in
            if isObsolete(token) { return false }
            for index in writes.indices where writes[index].node.isEnded(token) { writes[index].isTooLate = true }
            perform(token, writes, &effects)
            alongside(token)
            return true
        }
        for write in writes where write.isTooLate {
            reports.report(Messages.changeAfterEnd(.key(Work.way(to: write.key))))
        }
        effects.perform()
        return isDone
    }

    /// Performs the writes.
    ///
    /// Readers must never see an old value after a new one, so several cells are closed before the first one is changed, and a cell on
    /// which something depends until that is dropped.
    private func perform(_ token: LockToken, _ writes: [Write], _ effects: inout Effects) {
        let isOne = writes.count == 1
        let old = OldValues(token, writes)
        if !isOne {
            for write in writes where !write.isTooLate { write.node.storage.cell(token, write.key).close() }
        }
        var changes: [(place: Place, kind: ChangeKind)] = []
        for index in writes.indices where !writes[index].isTooLate {
            perform(token, writes[index], isOne: isOne, &effects, &changes)
        }
        for change in changes { effects.announce(token, change.place, change.kind) }
        if !isOne {
            for write in writes where !write.isTooLate {
                write.node.cell(token, write.key)?.openIfPresent()
            }
        }
        old.reportKept(token, writes, &effects)
    }

    /// Performs one write, and announces its change, or adds it to those that are announced after all writes.
    @inline(never)
    private func perform(
        _ token: LockToken, _ write: Write, isOne: Bool, _ effects: inout Effects,
        _ changes: inout [(place: Place, kind: ChangeKind)]
    ) {
        let cell = write.node.storage.cell(token, write.key)
        let isOpen = isOne && cell.place?[token].watchers.isEmpty ?? true
        let kind = write.apply(token, to: cell, isOpen: isOpen, &effects)
        if let kind, let place = cell.place {
            if isOne { effects.announce(token, place, kind) } else { changes.append((place, kind)) }
        }
        if isOne, !isOpen { cell.openIfPresent() }
    }

    /// Resets every key that was set, loaded, or observed in a node, or that's being loaded for it or a descendant.
    func resetAll(in node: Node) {
        let keys = lock.withLock { token in
            // A place without a value may be that of a follower whose load has failed.
            let cells = node.storage.cells(token).filter {
                $0.has(CellFlags.held | CellFlags.loaded) || $0.place != nil
            }
            var keys = Set(cells.map(\.key))
            guard node.subtree(token).contains(where: { $0.storage[token].inProgress > 0 }) else { return keys }
            for load in loads(token) where load.node.isWithin(node) { keys.insert(load.key) }
            return keys
        }
        commit(keys.map { Write(node, TypedKey(resetting: $0), .nothing, by: .code) })
    }
}

extension Node {
    /// Marks a key as reset, so that a load in progress isn't kept here or below.
    fileprivate func markReset(_ token: LockToken, _ key: Key) {
        guard family.record(token, of: key)?.loads.isEmpty == false else { return }
        let time = family.state[token].tick()
        place(token, key)[token].more().resetTime = time
        family.state[token].lastReset = time
    }

    /// Whether the key was reset or replaced here or above after a load of it began.
    ///
    /// It can't be inlined: the compiler (6.3.1) fails otherwise.
    @inline(never)
    func wasReset(_ token: LockToken, _ key: Key, since begun: UInt64) -> Bool {
        if family.state[token].lastReset <= begun { return false }
        return path.contains { $0.cell(token, key)?.place?[token].rare.map { $0.resetTime > begun } ?? false }
    }

    /// Sets a value for the first time, unless something observes, loads, or depends on the key; returns whether it did.
    func setAlone(_ key: Key, _ payload: Payload) -> Bool {
        let replaced: Garbage? = family.lock.withLock { token in
            if isEnded(token) || family.isHeard || family.isListened || mayBeRead(token, key) { return nil }
            let cell = storage.cell(token, key)
            guard cell.isEmpty, cell.place == nil else { return nil }
            let time = family.state[token].tick()
            storage[token].heldMask |= key.mask
            raiseEpoch(token, to: time)
            return cell.store(payload, flags: CellFlags.held, at: time)
        }
        replaced?.dispose()
        return replaced != nil
    }
}
