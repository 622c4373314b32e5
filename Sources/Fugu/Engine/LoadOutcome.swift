// The end of a load, under the lock: finds the instance's home, and keeps or drops the instance.

/// How a load ended, for those that needed it.
struct LoadOutcome {
    private let load: Frame
    /// The path from the load to the one that threw the error, or an empty array if it succeeded.
    let way: [Key]
    let home: Node
    let provenance: Provenance
    let lifetime: Lifetime?
    /// Whether an input changed during the load, or the loader of a failed one.
    let isOld: Bool
    /// Whether the instance isn't kept for that reason, so that waiters ask again.
    let mustBeRetried: Bool
    /// Whether the outcome is only for the reader that began the load.
    let isProvisional: Bool
    /// The key's place in the root.
    private let rootPlace: Place

    var hasFailed: Bool { !way.isEmpty }
    private var key: Key { load.key! }
    /// The key by which the home knows the instance, not that of its declared home.
    private var knownKey: Key { key.known(at: home.depth) }
    private var asker: Node { load.node! }
    private var facts: LoadFacts { load.facts! }

    init(_ token: LockToken, of load: Frame, way: [Key]) {
        (self.load, self.way) = (load, way)
        let (asker, facts, state) = (load.node!, load.facts!, load.state)
        rootPlace = asker.ancestor(at: 0).place(token, load.key!.known(at: 0))
        var isLocal = facts.home.isLocal || state[token].isLocal
        var home = isLocal ? asker : asker.ancestor(at: max(state[token].depth, facts.limit?.depth ?? 0))
        var others: [Key] = []
        if let key = facts.home.key {
            // A node that sets the key has an instance that's different, whether the load reads the key or not.
            others = [key]
            if facts.isFixed { home = asker }
            asker.storage.cell(token, key).mark(CellFlags.input)
        }
        while home !== asker, let older = Self.older(token, than: load, seenFrom: home) {
            if older.isLocal {
                isLocal = true
                home = asker
            } else {
                var first = asker
                for node in asker.path(below: home) where node.holdsAny(token, of: older.keys, older.mask) {
                    first = node
                }
                let reasons = older.keys.filter { first.holds(token, $0) }
                // The nearest such node is the home: a node that holds one of these keys shares no instance from above.
                home = asker.path.first { node in reasons.contains { node.holds(token, $0) } }!
                others += reasons
            }
        }
        self.home = home
        let hasOldInputs = load.hasOldInputs(token)
        isOld = hasOldInputs || !way.isEmpty && asker.wasReset(token, load.key!, since: facts.begun, home: home)
        mustBeRetried = hasOldInputs && load.mustBeRetried(token)
        isProvisional = state[token].isProvisional
        provenance = Self.provenance(token, of: load, isLocal: isLocal, others, rootPlace[token].rare?.last)
        lifetime = Self.lifetime(token, of: load, home, hasInstance: way.isEmpty)
    }

    /// Returns the provenance of an older instance, of the key or of an input, that `home` sees and the asker doesn't, if
    /// there is one.
    ///
    /// Containers that share the older instance keep it. The new one lives where the older one stops being valid.
    private static func older(_ token: LockToken, than load: Frame, seenFrom home: Node) -> Provenance? {
        let (asker, state) = (load.node!, load.state)
        var held: UInt64 = 0
        for node in asker.path(below: home) { held |= node.storage[token].heldMask }
        func hidden(_ key: Key, _ known: UInt64?) -> Provenance? {
            guard case .found(let cell, let owner) = home.look(token, key), cell.time != known,
                let older = cell.place?[token].provenance,
                !owner.use({ older.isValid(token, for: asker, from: $0, held) })
            else { return nil }
            return older
        }
        if let older = hidden(load.key!, nil) { return older }
        if let first = state[token].firstInput, let older = hidden(first.key, first.time) { return older }
        for input in state[token].moreInputs { if let older = hidden(input.key, input.time) { return older } }
        return nil
    }

    /// Returns the provenance of the instance: the last one if the inputs are the same.
    ///
    /// - `others`: Keys on which the home depends besides the inputs.
    private static func provenance(
        _ token: LockToken, of load: Frame, isLocal: Bool, _ others: [Key], _ last: Provenance?
    ) -> Provenance {
        let (state, reloads, wraps) = (load.state, load.facts!.reloads, load.facts!.wraps)
        if others.isEmpty {
            guard let first = state[token].firstInput else {
                return isLocal ? Provenance(direct: [], keys: [], mask: 0, isLocal: true, reloads: reloads) : .none
            }
            let hasOneKey = state[token].moreInputs.isEmpty && first.provenance?.keys.isEmpty ?? true
            if let last, last.isLocal == isLocal, last.reloads == reloads, last.wraps == wraps, last.homeKey == nil,
                hasOneKey
                    ? last.keys.count == 1 && last.direct.count == 1 && last.keys[0] == first.key
                    : state[token].isMadeFrom(last)
            {
                return last
            }
            if hasOneKey {
                let keys = [first.key]
                return Provenance(
                    direct: keys, keys: keys, mask: first.key.mask, isLocal: isLocal, reloads: reloads, wraps: wraps)
            }
        }
        var (direct, keys, mask) = ([Key](), others, state[token].mask)
        direct.reserveCapacity(1 + state[token].moreInputs.count)
        for key in others { mask |= key.mask }
        func add(_ input: Input) {
            direct.append(input.key)
            guard let made = input.provenance, !made.keys.isEmpty else { return }
            mask |= made.mask
            keys += made.keys
            if !input.isKept { direct += made.direct }
        }
        if let first = state[token].firstInput { add(first) }
        for input in state[token].moreInputs { add(input) }
        // The library's sort merges the runs that are sorted already.
        keys = (keys + direct).sortedUnique()
        let made = Provenance(
            direct: direct, keys: keys, mask: mask, isLocal: isLocal, reloads: reloads,
            homeKey: load.facts!.home.key, wraps: wraps)
        return last.map { made.isEqual(to: $0) ? $0 : made } ?? made
    }

    /// Returns the instance's lifetime, which it needs only if it or one of its inputs has closers.
    private static func lifetime(_ token: LockToken, of load: Frame, _ home: Node, hasInstance: Bool) -> Lifetime? {
        let state = load.state
        var uses: [Lifetime] = []
        if let used = state[token].firstInput?.lifetime { uses.append(used) }
        for input in state[token].moreInputs { if let used = input.lifetime { uses.append(used) } }
        let closers = state[token].rare?.closers.value ?? []
        if closers.isEmpty, uses.isEmpty || !hasInstance { return nil }
        // A closing closes what its own closers load, too, but might never end if it did so with what others load meanwhile.
        let isLate =
            load.facts!.isLate && home.storage[token].rare?.closing?.isFinished == false
            && !load.chain.contains { $0.kind == .closer }
        let key = load.key!.known(at: home.depth)
        return Lifetime(token, key, home: home, closers: closers, uses: uses, isLate: isLate)
    }

    /// Keeps the instance, or replaces `result` with what the reader gets instead, and returns a message to report.
    ///
    /// - `recorder`: The load that reads the instance through its handle.
    func settle(
        _ token: LockToken, _ result: inout Result<Payload, any Error>, for recorder: Frame?, _ duration: Duration?,
        _ effects: inout Effects
    ) -> String? {
        if !hasFailed { rememberLast(token, &effects) }
        if case .found(let cell, let owner) = lookAgain(token), !hasFailed || !cell.has(CellFlags.loaded),
            let other = cell.payload
        {
            // The key was set or loaded during the load: that value stays, and waiters that see it look again.
            recorder?.record(token, cell, of: owner, as: key)
            defer { result = .success(other) }
            if owner.depth <= home.depth { return nil }
            publish(token, result)
            // Containers that don't see the value set below the home can still share the instance.
            if case .success(let payload) = result, case .missing = home.look(token, key), isWanted(token) {
                _ = keep(token, payload, duration, &effects)
            }
            return nil
        }
        publish(token, result)
        guard case .success(let payload) = result else {
            // The failed load's inputs become inputs of a load that continues without the instance.
            recorder?.record(token, self, of: key)
            if let place = home.storage.existingCell(token, knownKey)?.place {
                effects.noteFailure(token, place, of: provenance, isOutdated: isOld && !isProvisional)
            }
            return nil
        }
        guard isWanted(token) else {
            recorder?.record(token, self, of: key)
            repeatIfObserved(token, &effects)
            return nil
        }
        let cell = keep(token, payload, duration, &effects)
        let owner = UnmanagedReference(home)
        var isSeen = home === asker
        if !isSeen, case .found(let seen, _) = asker.look(token, key) { isSeen = seen == cell }
        if isSeen {
            recorder?.record(token, cell, of: owner, as: key)
            asker.link(token, key, to: cell, of: owner)
        } else {
            recorder?.record(token, self, of: key)
            // A key that was set or replaced during the load hides the instance from the asker.
            repeatIfObserved(token, &effects)
        }
        return madeAgain(token)
    }

    /// Returns what the asker sees now.
    private func lookAgain(_ token: LockToken) -> Look {
        asker.isEnded(token) ? .missing(limit: nil) : asker.look(token, key)
    }

    /// Whether to keep the instance.
    ///
    /// Its home must still be there, an instance below the root needs an anchor, and the key must not have been set or reset there
    /// during the load. The inputs of an instance that reloads must not have changed.
    private func isWanted(_ token: LockToken) -> Bool {
        if isProvisional || mustBeRetried || home.isEnded(token) { return false }
        // The load began before its home was closed, but has exceeded the deadline.
        if home.storage[token].isClosed, !facts.isLate, key.kind != .property { return false }
        // The asker may hold the key without a value by now, and not see that of its home.
        if home !== asker, case .found = home.look(token, key) { return false }
        return !home.wasReset(token, key, since: facts.begun) && provenance.isAnchored(token, knownKey, in: home)
    }

    private func keep(
        _ token: LockToken, _ payload: Payload, _ duration: Duration?, _ effects: inout Effects
    ) -> CellReference {
        let knownKey = knownKey
        let cell = home.storage.cell(token, knownKey)
        if let place = cell.place { place.forget(token, &effects.garbage) }
        effects.garbage.add(
            cell.store(payload, flags: CellFlags.loaded | cell.heldFlags, at: load.family.state[token].tick()))
        if isTraced {
            let place = home.isRoot ? rootPlace : home.place(token, knownKey)
            place.adopt(token, provenance, lifetime, &effects.garbage)
            place[token].isOutdated = isOld
            #if DEBUG
            place[token].duration = duration
            #endif
            place[token].loadCount += 1
            _ = asker.path.firstResult { node -> Bool? in
                if let rare = node.storage[token].rare, !rare.failures.isEmpty { rare.failures[key]?.isPast = true }
                return node === home ? true : nil
            }
        }
        if let place = cell.place { effects.announce(token, place, .loaded) }
        return cell
    }

    /// Makes followers load the key again, because the instance wasn't kept or isn't seen.
    private func repeatIfObserved(_ token: LockToken, _ effects: inout Effects) {
        guard !isProvisional, let place = home.storage.existingCell(token, knownKey)?.place else {
            return
        }
        effects.noteNotKept(token, place, of: provenance)
    }

    /// Whether what the instance was made from is kept: most defaults read nothing.
    private var isTraced: Bool { key.kind != .property || !provenance.keys.isEmpty }

    /// Gives the waiters the outcome.
    private func publish(_ token: LockToken, _ result: Result<Payload, any Error>) {
        load.state[token].rare?.outcome?.withLock { $0 = (self, result) }
    }

    /// Remembers the provenance, from which the next load's home is guessed.
    private func rememberLast(_ token: LockToken, _ effects: inout Effects) {
        if !isTraced || rootPlace[token].rare?.last === provenance { return }
        let rare = rootPlace[token].more()
        effects.garbage.add(rare.last)
        rare.last = provenance
    }

    /// Removes the load from all lists, and releases what's needed only while it runs.
    func removeFromLists(_ token: LockToken, _ effects: inout Effects) {
        rootPlace[token].rare?.loads.remove(load)
        asker.endWork(token, &effects)
        let state = load.state
        state[token].forgetInputs(&effects.garbage)
        // The last reference must not be released under the lock.
        effects.garbage.add(lifetime)
        state[token].container = nil
        guard let rare = state[token].rare.take() else { return }
        // Later events need the load's number, and deferred followers are notified after this.
        if rare.number != nil || !rare.deferred.value.isEmpty {
            let left = state[token].more()
            left.number = rare.number
            swap(&left.deferred, &rare.deferred)
        }
        effects.garbage.add(rare)
    }

    /// Returns what debug builds report about an instance that's loaded again for a child.
    private func madeAgain(_ token: LockToken) -> String? {
        #if DEBUG
        guard !home.isRoot, facts.isExternal || lifetime?.teardown.hasClosers == true, !provenance.isLocal,
            facts.limit == nil,
            !facts.isFixed, provenance.keys.contains(where: { home.holds(token, $0) })
        else { return nil }
        let family = load.family
        let rare = rootPlace[token].more()
        // What each request makes for itself, such as a transaction, is meant to be closed with it.
        guard rare.isMadeBelow && facts.isExternal || rootPlace[token].cell.has(CellFlags.loaded) else {
            rare.isMadeBelow = true
            return nil
        }
        guard family.state[token].isNew(key, key) else { return nil }
        return Messages.madeAgain(key, family.way(token, from: key) { home.holds(token, $0) })
        #else
        return nil
        #endif
    }

    /// Returns the kind of the event that reports the end.
    func kind(_ token: LockToken) -> EventKind {
        if hasFailed { return .failed }
        guard let cell = home.storage.existingCell(token, knownKey), cell.has(CellFlags.loaded), let place = cell.place,
            place[token].provenance === provenance
        else {
            if case .found = lookAgain(token) { return .overtaken }
            return .notKept
        }
        return place[token].loadCount > 1 ? .reloaded : .loaded
    }
}

/// The outcome of a load and its result, for its waiters.
typealias PendingOutcome = Locked<(outcome: LoadOutcome, result: Result<Payload, any Error>)?>

extension Family {
    /// Returns the path from a feature to the first key that meets a condition, along the inputs of the last loads.
    func way(_ token: LockToken, from key: Key, to isMet: (Key) -> Bool) -> [Key] {
        var ways = KeyTable<Key>()
        var open = [key]
        var index = 0
        while index < open.count {
            let next = open[index]
            index += 1
            if next != key, isMet(next) {
                return sequence(first: next) { ways[$0] }.reversed()
            }
            for input in rootPlace(token, of: next)?[token].rare?.last?.direct ?? []
            where input != key && !ways.contains(input) {
                ways[input] = next
                open.append(input)
            }
        }
        return [key]
    }

    /// Whether the last instance of a key lived in the container that asked, and not because of an input.
    func isLocal(_ token: LockToken, _ key: Key) -> Bool {
        func last(_ key: Key) -> Provenance? { rootPlace(token, of: key)?[token].rare?.last }
        guard let made = last(key), made.isLocal else { return false }
        return !made.direct.contains { last($0)?.isLocal == true }
    }
}
