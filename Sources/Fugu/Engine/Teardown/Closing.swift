/// How far a container's closing is.
///
/// The lock of the family protects it.
enum ClosingState {
    case open
    case closing(Closing)
    case closed
}

/// A closing under way.
final class Closing: Sendable {
    /// The lock of the family protects it.
    let state = FamilyLocked(State())

    struct State {
        /// Other calls, which wait for this one.
        var waiters: [TaskWaiter] = []
        /// The ends of the closings of containers below, which have taken closers that are to run before those that are
        /// left here.
        var below: [TaskWaiter] = []
    }

    deinit { state.free() }
}

/// The closers of one instance, or those that a container has of its own.
private struct ClosingStep: Sendable {
    let key: Key?
    let home: Int
    let depth: Int
    let serial: UInt64
    let closers: @Sendable () -> [Closer]
}

extension Node {
    /// Closes the container if nothing is to be waited for and nothing to be run.
    ///
    /// Says whether that is so.
    func closeAtOnce() -> Bool {
        var effects = Effects()
        var endings: [Observer.Ending] = []
        let start = family.timeIfObserved
        let wasOpen: Bool? = family.lock.withLock { token in
            switch storage[token].closing {
            case .closed: return false
            case .closing: return nil
            case .open: break
            }
            guard family.closings.isIdle, hasNothingToClose(token) else { return nil }
            family.state[token].hasClosings = true
            release(token, &effects, &endings)
            return true
        }
        guard let wasOpen else { return false }
        effects.perform()
        withExtendedLifetime(endings) {}
        if wasOpen { family.tellOfClosing(nil, in: number, since: start) }
        // What was released may have been the last to need something that left early.
        return !wasOpen || family.closings.isIdle
    }

    /// Returns whether nothing is under way or registered here and below.
    private func hasNothingToClose(_ token: LockToken) -> Bool {
        if !hasChildren(token) { return hasNothingToClose(token, downTo: depth) }
        return subtree(token).allSatisfy { $0.hasNothingToClose(token, downTo: depth) }
    }

    /// Returns whether nothing is under way here and nothing is registered by what lives at `limit` or deeper.
    private func hasNothingToClose(_ token: LockToken, downTo limit: Int) -> Bool {
        guard storage[token].underWay == 0, storage[token].rare?[token].closers.isEmpty != false else { return false }
        if case .closing = storage[token].closing { return false }
        return storage.cells(token).allSatisfy { $0.state?[token].lifetime?.hasNothingToClose(downTo: limit) ?? true }
    }

    func close(_ deadline: Duration?, within outer: ClosingRole?) async -> [CloseError.Failure] {
        if let closing = await beginClosing() {
            let start = family.timeIfObserved
            await awaitWhatIsUnderWay()
            await family.closings.waitForAll(deadline)
            let steps = family.lock.withLock { token in closingSteps(token) }
            let failures = await run(steps, of: closing, deadline, within: outer)
            endClosing(closing)
            await family.closings.waitForAll(deadline)
            let error = failures.isEmpty ? nil : CloseError(failures: failures)
            family.tellOfClosing(nil, in: number, since: start, error)
            return failures
        }
        await family.closings.waitForAll(deadline)
        return []
    }

    /// Begins, if this call is the first; if not, returns after the first has ended.
    private func beginClosing() async -> Closing? {
        let waiter = TaskWaiter()
        var waits = false
        let begun: Closing? = family.lock.withLock { token in
            switch storage[token].closing {
            case .open: return open(token, Closing())
            case .closing(let first):
                first.state[token].waiters.append(waiter)
                waits = true
            case .closed: break
            }
            return nil
        }
        if waits { await waiter.wait() }
        return begun
    }

    /// Begins a closing.
    ///
    /// Closings under way above wait for it, and it waits for those below.
    private func open(_ token: LockToken, _ closing: Closing) -> Closing {
        for node in path {
            guard case .closing(let above) = node.storage[token].closing else { continue }
            Self.link(token, closing, below: above)
        }
        if family.state[token].closingCount > 0, hasChildren(token) {
            for node in subtree(token) {
                if case .closing(let below) = node.storage[token].closing { Self.link(token, below, below: closing) }
            }
        }
        storage[token].closing = .closing(closing)
        family.state[token].hasClosings = true
        family.state[token].closingCount += 1
        return closing
    }

    private static func link(_ token: LockToken, _ below: Closing, below above: Closing) {
        let waiter = TaskWaiter()
        below.state[token].waiters.append(waiter)
        above.state[token].below.append(waiter)
    }

    /// Returns when no load that was asked for here or below goes on any more, and no read there waits for one.
    private func awaitWhatIsUnderWay() async {
        while true {
            let waiters = family.lock.withLock { token in Node.drains(token, of: subtree(token)) }
            if waiters.isEmpty { return }
            for waiter in waiters { await waiter.wait() }
        }
    }

    /// Returns what is to be run, in order.
    private func closingSteps(_ token: LockToken) -> [ClosingStep] {
        var steps: [ClosingStep] = []
        var open: [InstanceLifetime] = []
        for node in subtree(token) {
            let own = node.storage[token].rare?[token].closers ?? []
            if !own.isEmpty {
                node.storage[token].more()[token].closers = []
                steps.append(ClosingStep(key: nil, home: node.number, depth: node.depth, serial: 0) { own.reversed() })
            }
            for cell in node.storage.cells(token) {
                if let lifetime = cell.state?[token].lifetime { open.append(lifetime) }
            }
        }
        var seen: Set<ObjectIdentifier> = []
        while let lifetime = open.popLast() {
            guard lifetime.depth >= depth, seen.insert(ObjectIdentifier(lifetime)).inserted else { continue }
            if lifetime.hasClosers {
                steps.append(
                    ClosingStep(key: lifetime.key, home: lifetime.home, depth: lifetime.depth, serial: lifetime.serial)
                    {
                        lifetime.takeClosers()
                    })
            }
            open += lifetime.needs
        }
        return steps.sorted { ($0.depth, $0.serial) > ($1.depth, $1.serial) }
    }

    /// Runs closers, in one task of their own: cancelling the caller is not to cancel them.
    ///
    /// Returns what went wrong.
    private func run(
        _ steps: [ClosingStep], of closing: Closing, _ deadline: Duration?, within outer: ClosingRole?
    ) async -> [CloseError.Failure] {
        if steps.isEmpty {
            await awaitClosings(below: closing)
            return []
        }
        // Closers must not hold up the actor of the caller.
        let task = Task.startDetached(atOnce: !Task.isOnActor(#isolation)) { [self] in
            var failures: [CloseError.Failure] = []
            for step in steps {
                await awaitClosings(below: closing)
                let role = ClosingRole(step.key, of: family, closing: self, within: outer)
                let start = family.timeIfObserved
                let known = failures.count
                for closer in step.closers() {
                    guard let error = await closer.run(as: role, deadline) else { continue }
                    failures.append(CloseError.Failure(feature: step.key?.name, error: error))
                }
                guard let key = step.key else { continue }
                family.tellOfClosing(
                    key, in: step.home, since: start, failures.count > known ? failures.last?.error : nil)
            }
            await awaitClosings(below: closing)
            return failures
        }
        return await task.value
    }

    private func awaitClosings(below closing: Closing) async {
        while let waiter = family.lock.withLock({ token in closing.state[token].below.popLast() }) {
            await waiter.wait()
        }
    }

    /// Releases the features, ends the sequences and lets other callers go.
    private func endClosing(_ closing: Closing) {
        var effects = Effects()
        var endings: [Observer.Ending] = []
        family.lock.withLock { token in
            release(token, &effects, &endings)
            effects.waiters += closing.state[token].waiters.map { .task($0) }
            closing.state[token].waiters = []
            family.state[token].closingCount -= 1
        }
        effects.perform()
        withExtendedLifetime(endings) {}
    }

    /// Gives up what was loaded here and below, now that all of it is closed.
    private func release(_ token: LockToken, _ effects: inout Effects, _ endings: inout [Observer.Ending]) {
        storage[token].closing = .closed
        guard hasChildren(token) else { return releaseLoaded(token, &effects, &endings) }
        for node in subtree(token) { node.releaseLoaded(token, &effects, &endings) }
    }

    private func releaseLoaded(_ token: LockToken, _ effects: inout Effects, _ endings: inout [Observer.Ending]) {
        for cell in storage.cells(token) where cell.key.kind != .property && cell.has(CellFlags.loaded) {
            dropLoaded(token, cell, &effects)
        }
        if storage[token].followerCount > 0 { endings += family.endSequences(token, in: self) }
    }

    /// Returns this node and all its descendants.
    func subtree(_ token: LockToken) -> [Node] {
        var result = [self]
        var index = 0
        while index < result.count {
            var child = result[index].storage[token].firstChild?.object
            while let next = child {
                result.append(next)
                child = next.storage[token].nextSibling?.object
            }
            index += 1
        }
        return result
    }

    /// Returns whether this container, or one above it, has been closed.
    func isClosed(_ token: LockToken) -> Bool {
        for node in path { if case .closed = node.storage[token].closing { return true } }
        return false
    }

    /// Returns whether a load asked for here is refused.
    ///
    /// What a load needs that began before is not.
    func isRefusing(_ token: LockToken, _ parent: (any CallFrame)?) -> Bool {
        guard family.state[token].hasClosings else { return false }
        for node in path {
            if case .open = node.storage[token].closing { continue }
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
