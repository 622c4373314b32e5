// All changes: one commit for all writes.

/// A part of a commit: what an origin gives for a key in a node from now on.
struct Write {
    let node: Node
    let key: Key
    let equal: Equality
    let origin: Origin
    let setting: Setting
    /// Whether the value equals the one that's seen now, which has this time, once that's known.
    fileprivate var comparison: (time: UInt64, isEqual: Bool)?
    /// Whether the container was released, so that the write isn't done but reported, unlike others of the commit.
    fileprivate var isTooLate = false

    init(_ node: Node, _ key: TypedKey, _ setting: Setting, by origin: Origin = .code) {
        self.init(node, key.key, key.equal, setting, by: origin)
    }

    init(_ node: Node, _ key: Key, _ equal: Equality, _ setting: Setting, by origin: Origin = .code) {
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
    /// The time of the value that's seen now, if the new one equals it.
    fileprivate var equalTime: UInt64? { comparison.flatMap { $0.isEqual ? $0.time : nil } }

    /// Performs the write in the key's cell, under the lock.
    ///
    /// Returns the change to announce, or `nil` if there's none.
    ///
    /// - `isOpen`: Whether readers may see the value at once.
    fileprivate func apply(
        _ token: LockToken, to cell: CellReference, isOpen: Bool, _ effects: inout Effects
    ) -> ChangeKind? {
        let (former, wasLoaded, isByCode) = (cell.origin(token), cell.has(CellFlags.loaded), origin == .code)
        let (value, givesNothing) = (setting.value, setting.isNothing)
        // Neither observers nor instances that were made from the equal value notice.
        if equalTime != nil, let value, isByCode, former == .code, !wasLoaded, cell.has(CellFlags.hasWord) {
            effects.garbage.add(cell.exchange(value))
            family.emit(token, .wrote(self, nil, isNew: false), &effects)
            return nil
        }
        // A value that code gives is only in the cell.
        let isRecorded = !givesNothing && !(isByCode && value != nil)
        let binding = isRecorded ? node.place(token, key)[token].moreBinding() : cell.binding(token)
        binding?.put(isRecorded ? setting : .nothing, by: origin, &effects.garbage)
        if isByCode, value == nil { node.markReset(token, key, changesLoader: isRecorded || former != nil) }
        // A reset drops what was loaded here, too.
        guard Binding.changes(origin, givesNothing: givesNothing, over: former) || isByCode && wasLoaded else {
            if isByCode, let place = cell.place { effects.noteReset(token, place) }
            return nil
        }
        if wasLoaded { cell.place?.forget(token, &effects.garbage) }
        let time = family.state[token].tick()
        // A value that hides an inherited one becomes readable only after the links past this node have become invalid.
        let wasHeld = former != nil
        let opensLater = isOpen && !wasHeld && !node.isRoot
        // An equal value keeps the time, so that nothing seems to have changed.
        cell.publish(
            token, isByCode ? setting : .nothing, at: equalTime ?? time, isOpen: isOpen && !opensLater, &effects.garbage
        )
        let isHeld = cell.has(CellFlags.held)
        if isHeld != wasHeld {
            if isHeld { node.storage[token].heldMask |= key.mask }
            node.raiseEpoch(token, to: time)
            if !isHeld { cell.place?.watchAbove(token) }
        }
        if opensLater { cell.openIfPresent() }
        let kind: ChangeKind = isHeld == wasHeld ? .changed : isHeld ? .held : .unset
        family.emit(
            token, .wrote(self, equalTime == nil ? kind : nil, isNew: !wasHeld && !node.isRoot), &effects)
        return kind
    }

    /// Drops what layers have here of what they wrap, and below if the change reaches it.
    ///
    /// Returns the changes to announce.
    ///
    /// - `inner`: The keys that layers of this node and its ancestors read before the write.
    fileprivate func drop(
        _ token: LockToken, _ inner: [Key], _ kind: ChangeKind?, _ effects: inout Effects
    ) -> [(place: Place, kind: ChangeKind)] {
        let reachesBelow = kind != nil && (kind != .changed || node.holds(token, key))
        var changes: [(place: Place, kind: ChangeKind)] = []
        for key in inner {
            node.markReset(token, key, changesLoader: reachesBelow)
            guard let cell = node.cell(token, key) else { continue }
            let isHeld = cell.has(CellFlags.held)
            if let place = cell.place {
                effects.drop(token, place)
                changes.append((place, reachesBelow || isHeld ? .unset : .dropped))
                if isHeld { place[token].rare?.binding?.put(.nothing, by: .code, &effects.garbage) }
            }
            // What was wrapped here was set or replaced here.
            guard isHeld else { continue }
            let time = family.state[token].tick()
            effects.garbage.add(cell.clear(at: time))
            node.raiseEpoch(token, to: time)
            cell.place?.watchAbove(token)
        }
        return changes
    }
}

// MARK: The commit

/// A comparison of a write's value with the one that's seen, which is user code and happens outside the lock.
private typealias Comparison = (index: Int, old: Payload, new: Payload, time: UInt64)

/// A reason why writes aren't done at once.
private enum Obstacle {
    case compare([Comparison])
    case wait(Wait)
    case circle(Key)
}

extension Family {
    /// Performs all writes at once, when no `modify` of their keys is in progress, and notifies the observers of values
    /// that have changed.
    ///
    /// Returns whether the writes were done.
    ///
    /// - `transaction`: The `modify` or the update that ends with the commit.
    /// - `isObsolete`: Called under the lock. If it returns `true`, nothing is done.
    /// - `alongside`: Called under the lock, after the writes.
    @discardableResult
    func commit(
        _ writes: consuming [Write], endOf transaction: Frame? = nil,
        unless isObsolete: (LockToken) -> Bool = { _ in false }, alongside: (LockToken) -> Void = { _ in }
    ) -> Bool {
        var writes = writes
        while true {
            var effects = Effects()
            var isDone = false
            let obstacle = lock.withLock { token -> Obstacle? in
                if isObsolete(token) { return nil }
                if let obstacle = self.obstacle(token, &writes, transaction) { return obstacle }
                perform(token, writes, transaction, &effects)
                alongside(token)
                if let transaction, transaction.kind == .modify { effects.wake(transaction.finish(token)) }
                isDone = true
                return nil
            }
            switch obstacle {
            case nil:
                for index in writes.indices where writes[index].isTooLate && writes[index].key.decorated == nil {
                    reports.report(Messages.changeAfterEnd(.key(Frame.way(to: writes[index].key))))
                }
                effects.perform()
                return isDone
            case .compare(let open):
                for each in open {
                    writes[each.index].comparison = (each.time, writes[each.index].equal(each.old, each.new))
                }
            case .wait(let wait): wait.block()
            case .circle(let key): stopProgram(Messages.circleOfWaits((Frame.current?.keys ?? []) + [key]))
            }
        }
    }

    /// Returns what must be done before the writes, or `nil`.
    private func obstacle(
        _ token: LockToken, _ writes: inout [Write], _ transaction: Frame?
    ) -> Obstacle? {
        var open: [Comparison] = []
        for index in writes.indices {
            if let found = obstacle(token, &writes[index], index, transaction, &open) { return found }
        }
        return open.isEmpty ? nil : .compare(open)
    }

    /// Decides whether one write's value equals the one that's seen, and returns what must be waited for before it, or `nil`; adds the
    /// comparison that it needs to `open`.
    @inline(never)
    private func obstacle(
        _ token: LockToken, _ write: inout Write, _ index: Int, _ transaction: Frame?, _ open: inout [Comparison]
    ) -> Obstacle? {
        if write.node.isEnded(token) {
            write.isTooLate = true
            return nil
        }
        // Without these flags, nothing would notice whether the values are equal.
        guard let cell = write.node.cell(token, write.key), cell.has(CellFlags.noticed) else {
            if write.comparison != nil { write.comparison = nil }
            return nil
        }
        if let exclusion = cell.place?[token].rare?.exclusion, exclusion !== transaction {
            return exclusion.beginWait(token, for: Frame.current).map { .wait($0) } ?? .circle(exclusion.key!)
        }
        guard let new = write.setting.value, case .found(let seen, _) = write.node.lookInline(token, write.key),
            let old = seen.payload
        else {
            if write.comparison != nil { write.comparison = nil }
            return nil
        }
        if write.comparison?.time != seen.time {
            guard let isEqual = write.equal.known(old, new) else {
                open.append((index, old, new, seen.time))
                return nil
            }
            write.comparison = (seen.time, isEqual)
        }
        // Two cells will have the same time, so neither may be given another value that keeps it.
        if seen != cell, write.comparison?.isEqual == true { for each in [seen, cell] { each.mark(CellFlags.input) } }
        return nil
    }

    /// Performs the writes.
    ///
    /// Readers must never see an old value after a new one, so several cells are closed before the first one is changed.
    private func perform(
        _ token: LockToken, _ writes: [Write], _ transaction: Frame?, _ effects: inout Effects
    ) {
        let isOne = writes.count == 1
        if !isOne {
            for write in writes where !write.isTooLate { write.node.storage.cell(token, write.key).close() }
        }
        var changes: [(place: Place, kind: ChangeKind)] = []
        for index in writes.indices where !writes[index].isTooLate {
            perform(token, writes[index], isOne: isOne, transaction, &effects, &changes)
        }
        if !isOne {
            for write in writes where !write.isTooLate {
                write.node.cell(token, write.key)?.openIfPresent()
            }
        }
        for change in changes { effects.announce(token, change.place, change.kind, endOf: transaction) }
    }

    /// Performs one write, and announces its change, or adds it to those that are announced after all writes.
    @inline(never)
    private func perform(
        _ token: LockToken, _ write: Write, isOne: Bool, _ transaction: Frame?, _ effects: inout Effects,
        _ changes: inout [(place: Place, kind: ChangeKind)]
    ) {
        let cell = write.node.storage.cell(token, write.key)
        // A layer that is added keeps what was there.
        let keepsInner = write.key.kind == .property || write.setting.loader?.link != nil
        let inner = keepsInner ? [] : write.node.innerKeys(token, of: write.key)
        let kind = write.apply(token, to: cell, isOpen: isOne, &effects)
        if !inner.isEmpty { changes += write.drop(token, inner, kind, &effects) }
        guard let kind, let place = cell.place else { return }
        if isOne { return effects.announce(token, place, kind, endOf: transaction) }
        changes.append((place, kind))
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
            for load in loads(token) where load.node.isWithin(node) { keys.insert(load.key.known(at: node.depth)) }
            return keys
        }
        commit(keys.map { Write(node, TypedKey(resetting: $0), .nothing) })
    }
}

extension Node {
    /// Marks a key as reset, so that a load in progress isn't kept here, nor below if it has another loader now.
    fileprivate func markReset(_ token: LockToken, _ key: Key, changesLoader: Bool) {
        guard family.record(token, of: key)?.loads.isEmpty == false else { return }
        let rare = place(token, key)[token].more()
        rare.resetTime = family.state[token].tick()
        if changesLoader { rare.loaderTime = rare.resetTime }
    }

    /// Whether the key was reset here or in a node up to `home`, or has another loader since a change above, after a load of it
    /// began.
    ///
    /// It can't be inlined: the compiler (6.3.1) fails otherwise.
    ///
    /// - `home`: Where the instance lives: an ancestor, or this node unless given.
    @inline(never)
    func wasReset(_ token: LockToken, _ key: Key, since begun: UInt64, home: Node? = nil) -> Bool {
        if family.state[token].now == begun { return false }
        return path.contains { node in
            guard let rare = node.cell(token, key)?.place?[token].rare else {
                return false
            }
            return (node.depth < (home ?? self).depth ? rare.loaderTime : rare.resetTime) > begun
        }
    }

    /// Returns the keys that the layers of a key read here: what they wrap, and the elements of lists.
    fileprivate func innerKeys(_ token: LockToken, of key: Key) -> [Key] {
        var keys: [Key] = []
        _ = path.firstResult { holder -> Bool? in
            guard holder.holds(token, key) else { return nil }
            var inner = key
            while let link = holder.setting(token, of: inner).loader?.link {
                keys += link.keys
                inner = link.within
            }
            return holder.holds(token, inner) ? true : nil
        }
        return keys
    }

    /// Sets a value for the first time, unless something observes, loads, or depends on the key; returns whether it did.
    func setAlone(_ key: Key, _ payload: Payload) -> Bool {
        let replaced: Garbage? = family.lock.withLock { token in
            guard !isEnded(token), !family.isHeard,
                key.kind == .property || innerKeys(token, of: key).isEmpty
            else { return nil }
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
