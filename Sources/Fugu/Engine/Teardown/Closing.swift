/// How far a container's closing is.
///
/// Locked by the lock of the family.
enum ClosingState {
    case open
    case closing(Closing)
    case closed
}

/// A closing under way.
final class Closing: Sendable {
    /// Locked by the lock of the family.
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
        let wasOpen: Bool? = family.lock.withLock {
            switch storage.state.closing {
            case .closed: return false
            case .closing: return nil
            case .open: break
            }
            guard family.closings.isIdle, hasNothingToClose else { return nil }
            family.markClosing()
            release(&effects, &endings)
            return true
        }
        guard let wasOpen else { return false }
        effects.perform()
        withExtendedLifetime(endings) {}
        if wasOpen { family.tellOfClosing(nil, in: number, since: start) }
        // What was released may have been the last to need something that left early.
        return !wasOpen || family.closings.isIdle
    }

    /// Under the lock: whether nothing is under way or registered here and below.
    private var hasNothingToClose: Bool {
        if !hasChildren { return hasNothingToClose(downTo: depth) }
        return subtree.allSatisfy { $0.hasNothingToClose(downTo: depth) }
    }

    /// Under the lock: whether nothing is under way here and nothing is registered by what lives at `limit` or deeper.
    private func hasNothingToClose(downTo limit: Int) -> Bool {
        guard storage.state.underWay == 0, storage.state.closers.isEmpty else { return false }
        if case .closing = storage.state.closing { return false }
        return storage.cells.allSatisfy { $0.info?.value.lifetime?.hasNothingToClose(downTo: limit) ?? true }
    }

    func close(_ deadline: Duration?, within outer: ClosingRole?) async -> [CloseError.Failure] {
        if let closing = await beginClosing() {
            let start = family.timeIfObserved
            await awaitWhatIsUnderWay()
            await family.closings.waitForAll(deadline)
            let steps = family.lock.withLock { closingSteps() }
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
        let begun: Closing? = family.lock.withLock {
            switch storage.state.closing {
            case .open: return open(Closing())
            case .closing(let first):
                first.state.value.waiters.append(waiter)
                waits = true
            case .closed: break
            }
            return nil
        }
        if waits { await waiter.wait() }
        return begun
    }

    /// Under the lock: begins a closing, for which those wait that are under way above, and which waits for those below.
    private func open(_ closing: Closing) -> Closing {
        for node in path {
            guard case .closing(let above) = node.storage.state.closing else { continue }
            Self.link(closing, below: above)
        }
        if family.closingCount > 0, hasChildren {
            for node in subtree {
                if case .closing(let below) = node.storage.state.closing { Self.link(below, below: closing) }
            }
        }
        storage.state.closing = .closing(closing)
        family.markClosing()
        family.closingCount += 1
        return closing
    }

    private static func link(_ below: Closing, below above: Closing) {
        let waiter = TaskWaiter()
        below.state.value.waiters.append(waiter)
        above.state.value.below.append(waiter)
    }

    /// Returns when no load that was asked for here or below goes on any more, and no read there waits for one.
    private func awaitWhatIsUnderWay() async {
        while true {
            let waiters = family.lock.withLock { Node.drains(of: subtree) }
            if waiters.isEmpty { return }
            for waiter in waiters { await waiter.wait() }
        }
    }

    /// Under the lock: what is to be run, in order.
    private func closingSteps() -> [ClosingStep] {
        var steps: [ClosingStep] = []
        var open: [InstanceLifetime] = []
        for node in subtree {
            let own = node.storage.state.closers
            if !own.isEmpty {
                node.storage.state.closers = []
                steps.append(ClosingStep(key: nil, home: node.number, depth: node.depth, serial: 0) { own.reversed() })
            }
            for cell in node.storage.cells { if let lifetime = cell.info?.value.lifetime { open.append(lifetime) } }
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
        while let waiter = family.lock.withLock({ closing.state.value.below.popLast() }) { await waiter.wait() }
    }

    /// Releases the features, ends the sequences and lets other callers go.
    private func endClosing(_ closing: Closing) {
        var effects = Effects()
        var endings: [Observer.Ending] = []
        family.lock.withLock {
            release(&effects, &endings)
            effects.waiters += closing.state.value.waiters.map { .task($0) }
            closing.state.value.waiters = []
            family.closingCount -= 1
        }
        effects.perform()
        withExtendedLifetime(endings) {}
    }

    /// Under the lock: gives up what was loaded here and below, where all is closed now.
    private func release(_ effects: inout Effects, _ endings: inout [Observer.Ending]) {
        storage.state.closing = .closed
        guard hasChildren else { return releaseLoaded(&effects, &endings) }
        for node in subtree { node.releaseLoaded(&effects, &endings) }
    }

    private func releaseLoaded(_ effects: inout Effects, _ endings: inout [Observer.Ending]) {
        for cell in storage.cells where cell.key.kind != .property && cell.has(CellFlags.loaded) {
            dropLoaded(cell, &effects)
        }
        if storage.state.followerCount > 0 { endings += family.endSequences(in: self) }
    }

    /// Under the lock: this node and all below it.
    var subtree: [Node] {
        var result = [self]
        var index = 0
        while index < result.count {
            var child = result[index].storage.state.firstChild?.object
            while let next = child {
                result.append(next)
                child = next.storage.state.nextSibling?.object
            }
            index += 1
        }
        return result
    }

    /// Under the lock: whether this container, or one above it, has been closed.
    var isClosed: Bool {
        for node in path { if case .closed = node.storage.state.closing { return true } }
        return false
    }

    /// Under the lock: whether a load asked for here is refused.
    ///
    /// What a load needs that began before is not.
    func isRefusing(_ parent: (any CallFrame)?) -> Bool {
        guard family.hasClosings else { return false }
        for node in path {
            if case .open = node.storage.state.closing { continue }
            let isNeeded = parent?.chain.contains { ($0 as? Load)?.keepsOpen(node) == true } == true
            if !isNeeded { return true }
        }
        return false
    }
}

extension Load {
    /// Under the lock: whether the load began before the container closed, so that what it needs is loaded still.
    fileprivate func keepsOpen(_ node: Node) -> Bool { !state.value.isForReaderAlone && asker.isWithin(node) }
}
