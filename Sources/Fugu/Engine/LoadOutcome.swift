// The end of a load, under the lock: finds the instance's home, and keeps or drops the instance.

/// How a load ended, for those that needed it.
package struct LoadOutcome {
    package let load: Load
    /// The path from the load to the one that threw the error, or an empty array if it succeeded.
    let failedWay: [Key]
    package let home: Node
    let provenance: Provenance
    let lifetime: Lifetime?
    /// Whether an input changed during the load, or the key was reset, so that the instance is given to readers and not kept.
    let isOld: Bool
    /// Whether waiters, which may have come after the change of an input, ask again, or since the load failed when its container was
    /// already closed.
    let mustBeRetried: Bool
    /// Whether the outcome is only for the reader that began the load.
    let isProvisional: Bool
    /// Whether the home was closed before the load began, for nothing that began before: the instance is kept and never closed.
    private let isLate: Bool
    /// The key's place in the root.
    private let rootPlace: Place

    var hasFailed: Bool { !failedWay.isEmpty }
    /// The keys that the load has read, in order, and those from which inputs were made that weren't kept.
    package var inputs: [Key] { provenance.direct }
    var key: Key { load.key }
    private var asker: Node { load.node }

    init(_ token: LockToken, of load: Load, failedWay: [Key]) {
        (self.load, self.failedWay) = (load, failedWay)
        let (asker, state) = (load.node, load.state)
        rootPlace = asker.ancestor(at: 0).place(token, load.key)
        // Only now, because what a load has read before it's known that an instance in doubt goes is forgotten.
        if let keys = load.undeclared { for key in keys { load.recordHeld(token, key) } }
        let hasOldInputs = load.hasOldInputs(token)
        let (home, isLocal) = Self.home(token, of: load, hasOldInputs: hasOldInputs)
        // A node that sets such a key has an instance that's different, whether the load reads the key or not.
        let homeKeys = load.home.keys ?? []
        for key in homeKeys { asker.storage.cell(token, key).mark(CellFlags.input) }
        self.home = home
        isOld = hasOldInputs || (failedWay.isEmpty ? home : asker).wasReset(token, load.key, since: load.begun)
        mustBeRetried = hasOldInputs || !failedWay.isEmpty && asker.isClosed(token)
        isProvisional = state[token].isProvisional
        provenance = state[token].inputs.provenance(
            isLocal: isLocal, reloads: load.reloads, homeKeys, orLast: rootPlace[token].record?.last)
        isLate = home.storage[token].isClosed && home.refuses(token, load.work)
        lifetime = Self.lifetime(token, of: load, home, hasInstance: failedWay.isEmpty, isLate: isLate)
    }

    /// Returns where the instance lives: in the deepest node of its floor and of what it was made from or, if it's local, in the asker.
    ///
    /// If that home sees another instance of the feature, or of what it was made from, it's local, too.
    @inline(__always)
    private static func home(
        _ token: LockToken, of load: Load, hasOldInputs: Bool
    ) -> (node: Node, isLocal: Bool) {
        let (asker, state) = (load.node, load.state)
        if load.home.isLocal || state[token].inputs.isLocal { return (asker, true) }
        let home = asker.ancestor(at: max(state[token].inputs.depth, load.floor?.depth ?? 0))
        // What isn't kept is missed where it would have lived.
        if home === asker || hasOldInputs { return (home, false) }
        if load.hasOldInputs(token, for: home) { return (asker, true) }
        guard case .found = home.look(token, load.key), case .missing = asker.look(token, load.key) else {
            return (home, false)
        }
        return (asker, true)
    }

    /// Returns the instance's lifetime, which it needs only if it or one of its inputs has closers.
    private static func lifetime(
        _ token: LockToken, of load: Load, _ home: Node, hasInstance: Bool, isLate: Bool
    ) -> Lifetime? {
        let state = load.state
        // What stays after a doubt stays open, also for a reader who gets it while its place has left it.
        if hasInstance, let lifetime = state[token].rare?.kept?.lifetime, lifetime.teardown.hasClosers {
            return lifetime
        }
        let uses = state[token].inputs.lifetimes()
        // A closing closes what its closers load, but might never end if it did so with what others load meanwhile.
        let isNeverClosed = isLate && !load.work.chain.contains { $0.isOfClosers }
        let closers = isNeverClosed ? [] : state[token].rare?.closers.value ?? []
        if closers.isEmpty, uses.isEmpty || !hasInstance { return nil }
        return Lifetime(token, load.key, home: home, closers: closers, uses: uses, overdue: load.overdue(token))
    }

    /// Keeps the instance, or replaces `result` with what the reader gets instead; returns how the load has ended.
    ///
    /// - `recorder`: The load that reads the instance through its handle.
    func settle(
        _ token: LockToken, _ result: inout Result<Payload, any Error>, for recorder: Load?, _ effects: inout Effects
    ) -> LoadEnd {
        rootPlace.watchObserved(token, provenance.keys)
        if case .failure(let error) = result {
            forgetFormer(token, error, &effects)
        } else {
            rememberLast(token, &effects)
        }
        var look = other(token)
        var (isOvertaken, isLeft) = (false, true)
        // Below the home, the other value leaves the instance to others.
        if case .found(_, let owner) = look { (isOvertaken, isLeft) = (true, owner.depth > home.depth) }
        // Otherwise, waiters see that value, too, and look again.
        if isLeft { publish(token, result) }
        if let lifetime, !isOvertaken, !hasFailed { asker.hold(token, lifetime, of: UnmanagedReference(home)) }
        var end = hasFailed ? LoadEnd.failed : isOvertaken ? .overtaken : .notKept
        if isLeft, case .success(let payload) = result, isWanted(token) {
            let cell = keep(token, payload, &effects)
            end = .kept(in: cell)
            if !isOvertaken { look = seen(token, cell) }
        }
        if case .found(let cell, let owner) = look {
            recorder?.record(token, cell, of: owner, as: key)
            asker.link(token, key, to: cell, of: owner)
            if isOvertaken, let payload = cell.payload { result = .success(payload) }
        } else {
            // Its inputs become inputs of a load that continues with the error, or with what isn't kept or is hidden from the asker.
            recorder?.record(token, self, of: key)
            noteUnseen(token, &effects)
        }
        return end
    }

    /// Returns the value that the asker sees by now, because the key was set or loaded during the load, if it's better than an error.
    @inline(__always)
    private func other(_ token: LockToken) -> Look {
        if asker.isEnded(token) { return .missing(limit: nil) }
        let look = asker.look(token, key)
        if hasFailed, case .found(let cell, _) = look, cell.has(CellFlags.loaded) { return .missing(limit: nil) }
        return look
    }

    /// Returns the instance that was kept, unless a key that was set or replaced during the load hides it from the asker.
    @inline(__always)
    private func seen(_ token: LockToken, _ cell: CellReference) -> Look {
        if home === asker { return .found(cell, UnmanagedReference(home)) }
        let look = asker.look(token, key)
        if case .found(cell, _) = look { return look }
        return .missing(limit: nil)
    }

    /// Notes for followers that would see the instance that it isn't there.
    @inline(never)
    private func noteUnseen(_ token: LockToken, _ effects: inout Effects) {
        guard !isProvisional, let place = home.cell(token, key)?.place else { return }
        effects.announce(token, place, hasFailed && !isOld ? .failed : .unkept)
    }

    /// Whether to keep the instance.
    ///
    /// Its home must still be there, an instance below the root needs an anchor, and the key must not have been set or reset there
    /// during the load. The inputs of an instance that reloads must not have changed.
    private func isWanted(_ token: LockToken) -> Bool {
        if isProvisional || isOld || home.isEnded(token) { return false }
        // The load has exceeded a deadline, and nobody comes to close it.
        if home.storage[token].isClosed, !isLate, key.kind != .property,
            home.storage[token].rare?.closing.calls ?? 0 == 0
        {
            return false
        }
        // The asker may see another one, below its home.
        if home !== asker, case .found = home.look(token, key) { return false }
        return provenance.isAnchored(token, key, in: home)
    }

    private func keep(_ token: LockToken, _ payload: Payload, _ effects: inout Effects) -> CellReference {
        let cell = home.madeCell(token, key)
        let former = keptFormer(token, in: cell)
        if former == nil, let place = cell.place { place.forget(token, &effects.garbage) }
        effects.garbage.add(
            cell.store(payload, flags: CellFlags.loaded | cell.heldFlags, at: load.family.state[token].tick()))
        if isTraced {
            let place = home.isRoot ? rootPlace : home.place(token, key)
            if let former {
                place.confirm(token, former, provenance, lifetime, &effects.garbage)
            } else {
                place.adopt(token, provenance, lifetime, &effects.garbage)
                place[token].loadCount += 1
            }
        }
        if let place = cell.place { effects.announce(token, place, .loaded) }
        return cell
    }

    /// Returns the instance in doubt in a cell, if that is what the load has kept; otherwise, what the load has asked about is released.
    private func keptFormer(_ token: LockToken, in cell: CellReference) -> FormerInstance? {
        // It may have stayed and be in doubt again meanwhile: the same instance, by its time.
        guard let kept = load.state[token].rare?.kept, cell.place?.former(token)?.time == kept.time else { return nil }
        return kept
    }

    /// Forgets the instance in doubt after a failed load, so that the next load calls `load(in:)` at once: each load that asked and
    /// then read again what fails would double the loads below it.
    private func forgetFormer(_ token: LockToken, _ error: any Error, _ effects: inout Effects) {
        guard let former = load.state[token].rare?.former, !(error is CancellationError),
            let place = load.expected.use({ $0.cell(token, key)?.place }), place.former(token) === former
        else { return }
        place.forget(token, &effects.garbage)
    }

    /// Whether what the instance was made from is kept: most defaults read nothing.
    private var isTraced: Bool { key.kind != .property || !provenance.keys.isEmpty }

    /// Gives the waiters the outcome.
    private func publish(_ token: LockToken, _ result: Result<Payload, any Error>) {
        load.state[token].rare?.outcome?.withLock { $0 = (self, result) }
    }

    /// Remembers the provenance, from which the next load's home is guessed.
    private func rememberLast(_ token: LockToken, _ effects: inout Effects) {
        if !isTraced || rootPlace[token].record?.last === provenance { return }
        let record = rootPlace[token].moreRecord()
        effects.garbage.add(record.last)
        record.last = provenance
    }

    /// Removes the load from all lists, and releases what's needed only while it runs: from now on, it has no inputs.
    func retire(_ token: LockToken, _ effects: inout Effects) {
        rootPlace[token].record?.loads.remove(load.work)
        load.leave(token)
        if load.overdue(token) == nil { asker.endWork(token, &effects) }
        load.state[token].inputs.forget(&effects.garbage)
        // The last reference must not be released under the lock.
        effects.garbage.add(lifetime)
        if let rare = load.state[token].rare.take() { effects.garbage.add(rare) }
    }
}

/// The outcome of a load and its result, for its waiters.
typealias PendingOutcome = Locked<(outcome: LoadOutcome, result: Result<Payload, any Error>)?>

extension Family {
    /// Returns the path from a feature to the first key that meets a condition, along the inputs of the last loads.
    package func way(_ token: LockToken, from key: Key, to isMet: (Key) -> Bool) -> [Key] {
        // Where an instance lives also depends on the keys of its declared home.
        way(from: key, to: isMet) { next in
            let last = last(token, of: next)
            return (last?.direct ?? []) + (last?.homeKeys ?? [])
        } ?? [key]
    }

    /// Returns the shortest path from a key to another one that meets a condition, if there is one.
    func way(from key: Key, to isMet: (Key) -> Bool, inputs: (Key) -> [Key]) -> [Key]? {
        var ways = KeyTable<Key>()
        var open = [key]
        var index = 0
        while index < open.count {
            let next = open[index]
            index += 1
            if next != key, isMet(next) { return sequence(first: next) { ways[$0] }.reversed() }
            for input in inputs(next) where input != key && !ways.contains(input) {
                ways[input] = next
                open.append(input)
            }
        }
        return nil
    }

    /// Whether the last instance of a key lived in the container that asked, and not because of an input.
    func isLocal(_ token: LockToken, _ key: Key) -> Bool {
        guard let made = last(token, of: key), made.isLocal else { return false }
        return !made.direct.contains { last(token, of: $0)?.isLocal == true }
    }
}
