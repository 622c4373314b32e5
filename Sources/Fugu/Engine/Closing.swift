/// The failures collected while closing a container. Every closer still ran.
public struct CloseError: Error, Sendable, CustomStringConvertible {
    /// One closer that failed or took too long.
    public struct Failure: Sendable {
        /// The feature that registered it, or nil if it was registered outside of loads.
        public let feature: String?
        /// What it threw; ``DeadlineExceeded`` if it was abandoned.
        public let error: any Error
    }
    /// A closer was not done within its deadline.
    public struct DeadlineExceeded: Error, Sendable, CustomStringConvertible {
        /// How long it was given.
        public let deadline: Duration
        /// The deadline in words.
        public var description: String { "was not done within \(deadline) and is left to itself" }
    }
    /// `close()` was called by a closer or a load that this very closing waits for, and would have waited for ever.
    /// Thrown by itself; nothing was closed by that call. It is found in the closer's or the load's own task and in tasks
    /// started from it; two closings begun apart, with closers that wait for each other's containers, are not found.
    public struct WaitsForItself: Error, Sendable, CustomStringConvertible {
        /// The feature whose closer or load it was; nil for a closer that was registered outside of loads.
        public let feature: String?
        let isLoad: Bool
        /// What happened and what to do.
        public var description: String { Messages.closingWaitsForItself(feature, isLoad: isLoad) }
    }
    /// In the order in which the closers ran.
    public let failures: [Failure]

    /// How many failed, and for each the feature and what it threw.
    public var description: String { Messages.closeFailed(failures) }
}

/// How far a container's closing is. Guarded by the lock of the family.
enum ClosingState {
    case open
    case closing(Closing)
    case closed
}

/// A closing under way.
final class Closing: Sendable {
    /// Guarded by the lock of the family.
    let facts = FamilyState(Facts())

    struct Facts {
        /// Other calls, which wait for this one.
        var waiters: [TaskWaiter] = []
        /// The ends of the closings of containers below, which have taken closers that are to run before those that are
        /// left here.
        var below: [TaskWaiter] = []
    }

    deinit { facts.free() }
}

extension Container {
    /// Ends what was loaded here and in descendants, in order.
    ///
    /// Loads begun before, and what they need, finish first. Then everything registered by ``FeatureContainer/onClose(_:)``
    /// runs: children's first, dependents before what they depend on, last made first; then the features are released.
    /// A second call waits for the first and does nothing. Cancelling the caller does not cancel the closing.
    ///
    /// From the call on, other loads are refused: throwing and async features throw ``LoadError``. Properties keep
    /// answering, and so do plain features: one that isn't there is loaded for its reader alone, kept by nobody and
    /// reported (see ``handleReports(by:)``). Closers that such a load registers don't run.
    ///
    /// Closers of instances that left early, which may be under way, are waited for; what goes wrong in them is reported,
    /// not thrown.
    /// - Parameter deadline: How long each closer may take; one that takes longer is cancelled, left to itself and named.
    ///   Those of instances that left early have that long from the call on.
    /// - Throws: ``CloseError`` with all failures, after everything has run; ``CloseError/WaitsForItself`` at once, if
    ///   called by a closer or a load of this container or of one below it.
    /// - Complexity: O(*n*) for *n* containers, instances and closers, and O(*n* log *n*) if there are closers. Doesn't
    ///   suspend if there is nothing to wait for and nothing to run.
    public func close(deadline: Duration? = nil) async throws {
        let node = backing.node
        if node.closeAtOnce() { return }
        if let error = Current.holdsUpClosing(node) { throw error }
        let failures = await node.close(deadline, within: Current.closing)
        guard failures.isEmpty else { throw CloseError(failures: failures) }
    }
}

/// The closers of one instance, or those that a container has of its own.
private struct ClosingStep: Sendable {
    let key: Key?
    let depth: Int
    let serial: UInt64
    let closers: @Sendable () -> [Closer]
}

extension Node {
    /// Closes the container if nothing is to be waited for and nothing to be run. Says whether that is so.
    fileprivate func closeAtOnce() -> Bool {
        var effects = Effects()
        var endings: [Observer.Ending] = []
        let wasOpen: Bool? = family.lock.withLock {
            switch storage.facts.closing {
            case .closed: return false
            case .closing: return nil
            case .open: break
            }
            let nodes = hasChildren ? subtree : [self]
            guard family.closings.isIdle, nodes.allSatisfy({ $0.hasNothingToClose(downTo: depth) }) else { return nil }
            family.noteClosing()
            release(nodes, &effects, &endings)
            return true
        }
        guard let wasOpen else { return false }
        effects.perform(in: family)
        withExtendedLifetime(endings) {}
        // What was released may have been the last to need something that left early.
        return !wasOpen || family.closings.isIdle
    }

    /// Under the lock: whether nothing is under way here and nothing is registered by what lives at `limit` or deeper.
    private func hasNothingToClose(downTo limit: Int) -> Bool {
        guard storage.facts.underWay == 0, storage.facts.closers.isEmpty else { return false }
        if case .closing = storage.facts.closing { return false }
        return storage.cells.allSatisfy { $0.info?.value.lease?.hasNothingToClose(downTo: limit) ?? true }
    }

    fileprivate func close(_ deadline: Duration?, within outer: ClosingRole?) async -> [CloseError.Failure] {
        if let closing = await beginClosing() {
            await awaitWhatIsUnderWay()
            await family.closings.waitForAll(deadline)
            let steps = family.lock.withLock { closingSteps() }
            let failures = await run(steps, of: closing, deadline, within: outer)
            endClosing(closing)
            await family.closings.waitForAll(deadline)
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
            switch storage.facts.closing {
            case .open: return open(Closing())
            case .closing(let first):
                first.facts.value.waiters.append(waiter)
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
            guard case .closing(let above) = node.storage.facts.closing else { continue }
            Self.link(closing, below: above)
        }
        if family.closingCount > 0, hasChildren {
            for node in subtree {
                if case .closing(let below) = node.storage.facts.closing { Self.link(below, below: closing) }
            }
        }
        storage.facts.closing = .closing(closing)
        family.noteClosing()
        family.closingCount += 1
        return closing
    }

    private static func link(_ below: Closing, below above: Closing) {
        let waiter = TaskWaiter()
        below.facts.value.waiters.append(waiter)
        above.facts.value.below.append(waiter)
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
        var open: [Lease] = []
        for node in subtree {
            let own = node.storage.facts.closers
            if !own.isEmpty {
                node.storage.facts.closers = []
                steps.append(ClosingStep(key: nil, depth: node.depth, serial: 0) { own.reversed() })
            }
            for cell in node.storage.cells { if let lease = cell.info?.value.lease { open.append(lease) } }
        }
        var seen: Set<ObjectIdentifier> = []
        while let lease = open.popLast() {
            guard lease.depth >= depth, seen.insert(ObjectIdentifier(lease)).inserted else { continue }
            if lease.hasClosers {
                steps.append(
                    ClosingStep(key: lease.key, depth: lease.depth, serial: lease.serial) { lease.takeClosers() })
            }
            open += lease.needs
        }
        return steps.sorted { ($0.depth, $0.serial) > ($1.depth, $1.serial) }
    }

    /// Runs closers, in one task of their own: cancelling the caller is not to cancel them. Returns what went wrong.
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
                for closer in step.closers() {
                    guard let error = await closer.run(as: role, deadline) else { continue }
                    failures.append(CloseError.Failure(feature: step.key?.name, error: error))
                }
            }
            await awaitClosings(below: closing)
            return failures
        }
        return await task.value
    }

    private func awaitClosings(below closing: Closing) async {
        while let waiter = family.lock.withLock({ closing.facts.value.below.popLast() }) { await waiter.wait() }
    }

    /// Releases the features, ends the sequences and lets other callers go.
    private func endClosing(_ closing: Closing) {
        var effects = Effects()
        var endings: [Observer.Ending] = []
        family.lock.withLock {
            release(subtree, &effects, &endings)
            effects.waiters += closing.facts.value.waiters.map { .task($0) }
            closing.facts.value.waiters = []
            family.closingCount -= 1
        }
        effects.perform(in: family)
        withExtendedLifetime(endings) {}
    }

    /// Under the lock: gives up what was loaded in `nodes`, this one and those below it, which is closed now.
    private func release(_ nodes: [Node], _ effects: inout Effects, _ endings: inout [Observer.Ending]) {
        var isObserved = false
        for node in nodes {
            for cell in node.storage.cells where cell.key.kind != .property && cell.has(CellState.loaded) {
                node.dropLoaded(cell.key, &effects)
            }
            if node.storage.facts.observerCount > 0 { isObserved = true }
        }
        if isObserved { endings = family.endSequences(within: self) }
        storage.facts.closing = .closed
    }

    /// Under the lock: this node and all below it.
    var subtree: [Node] {
        var result = [self]
        var index = 0
        while index < result.count {
            var child = result[index].storage.facts.firstChild?.object
            while let next = child {
                result.append(next)
                child = next.storage.facts.nextSibling?.object
            }
            index += 1
        }
        return result
    }

    /// Under the lock: whether this container, or one above it, has been closed.
    var isClosed: Bool {
        for node in path { if case .closed = node.storage.facts.closing { return true } }
        return false
    }

    /// Under the lock: whether a load asked for here is refused. What a load needs that began before is not.
    func isRefusing(_ parent: (any Activity)?) -> Bool {
        guard family.hasClosings else { return false }
        for node in path {
            if case .open = node.storage.facts.closing { continue }
            let isNeeded = parent?.chain.contains { ($0 as? Flight)?.keepsOpen(node) == true } == true
            if !isNeeded { return true }
        }
        return false
    }
}

extension Flight {
    /// Under the lock: whether the load began before the container closed, so that what it needs is loaded still.
    fileprivate func keepsOpen(_ node: Node) -> Bool { !facts.value.isForReaderAlone && asker.isWithin(node) }
}
