/// Who waits for a closing under way, and for whom it waits.
///
/// The lock of the family protects it, and the end of the closing frees it.
struct ClosingWaits {
    /// Other calls and the closings above, which wait for this one.
    var waiters: [TaskWaiter] = []
    /// The ends of the closings of containers below, which have taken closers that are to run before those that are
    /// left here.
    var below: [TaskWaiter] = []
}

/// A call that closes a container.
struct Closing: Sendable {
    let node: Node
    /// How long each closer may take.
    let deadline: Duration?

    private var family: Family { node.family }

    /// Closes the container if nothing is to be waited for and nothing to be run.
    ///
    /// Says whether that is so.
    func atOnce() -> Bool {
        let start = family.timeIfObserved
        guard let wasOpen = releaseIfIdle() else { return false }
        if wasOpen { family.tellOfClosing(nil, in: node.number, since: start) }
        // What was released may have been the last to need something that left early.
        return !wasOpen || family.closings.isIdle
    }

    /// Closes the container.
    ///
    /// Returns what went wrong.
    func run() async -> [CloseError.Failure] {
        guard let waits = await begin() else {
            await family.closings.waitForAll(deadline)
            return []
        }
        let start = family.timeIfObserved
        await awaitWhatIsUnderWay()
        await family.closings.waitForAll(deadline)
        let failures = await runClosers(waits)
        end(waits)
        await family.closings.waitForAll(deadline)
        let error = failures.isEmpty ? nil : CloseError(failures: failures)
        family.tellOfClosing(nil, in: node.number, since: start, error)
        return failures
    }
}

// The beginning, and what is waited for.
extension Closing {
    /// Begins, if this call is the first; if not, returns after the first has ended.
    private func begin() async -> FamilyLocked<ClosingWaits>? {
        let waiter = TaskWaiter()
        var isSecond = false
        let waits: FamilyLocked<ClosingWaits>? = family.lock.withLock { token in
            if node.storage[token].isClosed { return nil }
            guard let first = node.storage[token].closing else { return open(token) }
            first[token].waiters.append(waiter)
            isSecond = true
            return nil
        }
        if isSecond { await waiter.wait() }
        return waits
    }

    /// Begins.
    ///
    /// Closings under way above wait for this one, and it waits for those below.
    private func open(_ token: LockToken) -> FamilyLocked<ClosingWaits> {
        let waits = FamilyLocked(ClosingWaits())
        for node in node.path {
            node.storage[token].closing?[token].await(token, waits)
        }
        if family.state[token].closingCount > 0, node.hasChildren(token) {
            for node in node.subtree(token) {
                if let below = node.storage[token].closing { waits[token].await(token, below) }
            }
        }
        node.storage[token].closing = waits
        family.state[token].hasClosings = true
        family.state[token].closingCount += 1
        return waits
    }

    /// Returns when no load that was asked for here or below goes on any more, and no read there waits for one.
    private func awaitWhatIsUnderWay() async {
        while true {
            let waiters = family.lock.withLock { token in family.drains(token, of: node.subtree(token)) }
            if waiters.isEmpty { return }
            for waiter in waiters { await waiter.wait() }
        }
    }

    private func awaitClosingsBelow(_ waits: FamilyLocked<ClosingWaits>) async {
        while let waiter = family.lock.withLock({ token in waits[token].below.popLast() }) { await waiter.wait() }
    }
}

extension ClosingWaits {
    /// Lets a closing wait for one below it.
    fileprivate mutating func await(_ token: LockToken, _ closing: FamilyLocked<ClosingWaits>) {
        let waiter = TaskWaiter()
        closing[token].waiters.append(waiter)
        below.append(waiter)
    }
}

// The closers.
extension Closing {
    /// Runs closers, in one task of their own: cancelling the caller is not to cancel them.
    private func runClosers(_ waits: FamilyLocked<ClosingWaits>) async -> [CloseError.Failure] {
        let steps = family.lock.withLock { token in self.steps(token) }
        if steps.isEmpty {
            await awaitClosingsBelow(waits)
            return []
        }
        let outer = Current.closing
        // Closers must not hold up the actor of the caller.
        let task = Task.startDetached(atOnce: !Task.isOnActor(#isolation)) {
            var failures: [CloseError.Failure] = []
            for step in steps {
                await awaitClosingsBelow(waits)
                failures += await runClosers(of: step, within: outer)
            }
            await awaitClosingsBelow(waits)
            return failures
        }
        return await task.value
    }

    private func runClosers(of step: InstanceLifetime, within outer: ClosingRole?) async -> [CloseError.Failure] {
        let role = ClosingRole(step.key, of: family, closing: node, within: outer)
        let start = family.timeIfObserved
        var failures: [CloseError.Failure] = []
        for closer in step.takeClosers() {
            guard let error = await closer.run(as: role, deadline) else { continue }
            failures.append(CloseError.Failure(feature: step.key?.name, error: error))
        }
        if let key = step.key { family.tellOfClosing(key, in: step.home, since: start, failures.last?.error) }
        return failures
    }

    /// Returns whose closers are to be run, in order.
    private func steps(_ token: LockToken) -> [InstanceLifetime] {
        var steps: [InstanceLifetime] = []
        var open: [InstanceLifetime] = []
        for node in node.subtree(token) {
            if let rare = node.storage[token].rare, !rare[token].closers.isEmpty {
                steps.append(InstanceLifetime(nil, home: node, serial: 0, closers: rare[token].closers, needs: []))
                rare[token].closers = []
            }
            for cell in node.storage.cells(token) {
                if let lifetime = cell.state?[token].lifetime { open.append(lifetime) }
            }
        }
        var seen: Set<ObjectIdentifier> = []
        while let lifetime = open.popLast() {
            guard lifetime.depth >= node.depth, seen.insert(ObjectIdentifier(lifetime)).inserted else { continue }
            if lifetime.hasClosers { steps.append(lifetime) }
            open += lifetime.needs
        }
        return steps.sorted { ($0.depth, $0.serial) > ($1.depth, $1.serial) }
    }
}

// The end.
extension Closing {
    /// Releases the features, ends the sequences and lets other callers go.
    private func end(_ waits: FamilyLocked<ClosingWaits>) {
        var effects = Effects()
        family.lock.withLock { token in
            release(token, &effects)
            effects.waiters += waits[token].waiters.map { .task($0) }
            waits.free()
            family.state[token].closingCount -= 1
        }
        effects.perform()
    }

    /// Closes the container if nothing is to be waited for.
    ///
    /// Returns whether it was open; nil if something is to be waited for.
    private func releaseIfIdle() -> Bool? {
        var effects = Effects()
        let wasOpen: Bool? = family.lock.withLock { token in
            if node.storage[token].isClosed { return false }
            guard node.storage[token].closing == nil, family.closings.isIdle, hasNothingToClose(token) else {
                return nil
            }
            family.state[token].hasClosings = true
            release(token, &effects)
            return true
        }
        effects.perform()
        return wasOpen
    }

    /// Returns whether nothing is under way or registered here and below.
    private func hasNothingToClose(_ token: LockToken) -> Bool {
        if !node.hasChildren(token) { return hasNothingToClose(token, in: node) }
        return node.subtree(token).allSatisfy { hasNothingToClose(token, in: $0) }
    }

    private func hasNothingToClose(_ token: LockToken, in node: Node) -> Bool {
        guard node.storage[token].underWay == 0, node.storage[token].rare?[token].closers.isEmpty != false else {
            return false
        }
        if node.storage[token].closing != nil { return false }
        return node.storage.cells(token).allSatisfy { cell in
            cell.state?[token].lifetime?.hasNothingToClose(downTo: self.node.depth) ?? true
        }
    }

    /// Gives up what was loaded here and below, now that all of it is closed.
    private func release(_ token: LockToken, _ effects: inout Effects) {
        node.storage[token].closing = nil
        node.storage[token].isClosed = true
        guard node.hasChildren(token) else { return release(token, loadedIn: node, &effects) }
        for node in node.subtree(token) { release(token, loadedIn: node, &effects) }
    }

    private func release(_ token: LockToken, loadedIn node: Node, _ effects: inout Effects) {
        for cell in node.storage.cells(token) where cell.key.kind != .property && cell.has(CellFlags.loaded) {
            Change(node: node, cell: cell).dropLoaded(token, &effects)
        }
        guard node.storage[token].followerCount > 0 else { return }
        let endings = node.storage.cells(token).flatMap { cell in
            (cell.state?[token].followers?.state[token].observers.slots ?? []).compactMap { observer in
                observer.flatMap { $0.isSequence ? $0.end() : nil }
            }
        }
        if !endings.isEmpty { effects.garbage.add(Retained(endings)) }
    }
}

extension Node {
    /// Returns whether this container, or one above it, has been closed.
    func isClosed(_ token: LockToken) -> Bool {
        path.contains { $0.storage[token].isClosed }
    }

    /// Returns whether a load of the key asked for here is refused.
    ///
    /// A default is not, nor is what a load needs that began before.
    func isRefusing(_ token: LockToken, _ key: Key, _ parent: (any CallFrame)?) -> Bool {
        guard key.kind != .property, family.state[token].hasClosings else { return false }
        for node in path where node.storage[token].isClosed || node.storage[token].closing != nil {
            let isNeeded = parent?.chain.contains { ($0 as? Load)?.keepsOpen(token, node) == true } == true
            if !isNeeded { return true }
        }
        return false
    }
}

extension Load {
    /// Returns whether the load began before the container closed, so that what it needs is loaded still.
    fileprivate func keepsOpen(_ token: LockToken, _ node: Node) -> Bool {
        !state[token].isForReaderAlone && asker.isWithin(node)
    }
}
