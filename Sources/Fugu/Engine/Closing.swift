/// What went wrong while a container was closed: every closer has run all the same.
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
    case closing([TaskWaiter])
    case closed
}

extension Container {
    /// Ends what was loaded here and in descendants, in order.
    ///
    /// Loads begun before, and what they need, finish first. Then everything registered by ``FeatureContainer/onClose(_:)``
    /// runs: children's first, dependents before what they depend on, last made first; then the features are released.
    /// From the call on, other loads are refused: throwing and async features throw ``LoadError``, plain ones stop the
    /// program. Properties keep answering. A second call waits for the first and does nothing. Cancelling the caller does
    /// not cancel the closing.
    ///
    /// Closers of instances that left early, which may be under way, are waited for; what goes wrong in them is reported
    /// (see ``handleReports(by:)``), not thrown.
    /// - Parameter deadline: How long each closer may take; one that takes longer is cancelled, left to itself and named.
    ///   Those of instances that left early have that long from the call on.
    /// - Throws: ``CloseError`` with all failures, after everything has run; ``CloseError/WaitsForItself`` at once, if
    ///   called by a closer or a load of this container or of one below it.
    public func close(deadline: Duration? = nil) async throws {
        let node = backing.node
        if let error = Current.holdsUpClosing(node) { throw error }
        let outer = Current.closing
        let failures = await Task.detached { await node.close(deadline, within: outer) }.value
        guard failures.isEmpty else { throw CloseError(failures: failures) }
    }
}

/// The closers of one instance, or those that a container has of its own.
private struct ClosingStep {
    let key: Key?
    let depth: Int
    let serial: UInt64
    let closers: () -> [Closer]
}

extension Node {
    fileprivate func close(_ deadline: Duration?, within outer: ClosingRole?) async -> [CloseError.Failure] {
        guard await beginClosing() else { return [] }
        while let waiter = nextUnderWay() { try? await waiter.wait {} }
        await family.closings.waitForAll(deadline)
        var failures: [CloseError.Failure] = []
        for step in family.lock.withLock({ closingSteps() }) {
            while let waiter = family.lock.withLock({ nextClosing() }) { try? await waiter.wait {} }
            let role = ClosingRole(step.key, of: family, closing: self, within: outer)
            for closer in step.closers() {
                guard let error = await ClosingCall().run(closer, as: role, deadline) else { continue }
                failures.append(CloseError.Failure(feature: step.key?.name, error: error))
            }
        }
        endClosing()
        await family.closings.waitForAll(deadline)
        return failures
    }

    /// Whether this call is the first; if not, returns after the first has ended.
    private func beginClosing() async -> Bool {
        let waiter = TaskWaiter()
        let isFirst: Bool = family.lock.withLock {
            switch storage.facts.closing {
            case .open:
                storage.facts.closing = .closing([])
                family.closingCount += 1
                return true
            case .closing(let others):
                storage.facts.closing = .closing(others + [waiter])
                return false
            case .closed:
                waiter.wake()
                return false
            }
        }
        if !isFirst { try? await waiter.wait {} }
        return isFirst
    }

    /// What tells of the end of something that is to end first, if there is anything: the closing of a container below, a
    /// load asked for here or below, a read that waits for one.
    private func nextUnderWay() -> TaskWaiter? {
        family.lock.withLock {
            if let waiter = nextClosing() { return waiter }
            let waiter = TaskWaiter()
            if let flight = family.flights.first(where: { $0.asker.isWithin(self) }) {
                flight.facts.value.more().witnesses.append(waiter)
                return waiter
            }
            return family.hasWaitingReads(within: self, wakes: waiter) ? waiter : nil
        }
    }

    /// Under the lock: what tells of the end of a closing of some container below, which has taken closers that are to run
    /// before those that are left.
    private func nextClosing() -> TaskWaiter? {
        guard family.closingCount > 1 else { return nil }
        for node in subtree where node !== self {
            guard case .closing(let others) = node.storage.facts.closing else { continue }
            let waiter = TaskWaiter()
            node.storage.facts.closing = .closing(others + [waiter])
            return waiter
        }
        return nil
    }

    /// Under the lock: what is to be run, in order.
    private func closingSteps() -> [ClosingStep] {
        var steps: [ClosingStep] = []
        var open: [Lease] = []
        for node in subtree {
            let own = node.storage.facts.closers
            node.storage.facts.closers = []
            steps.append(ClosingStep(key: nil, depth: node.depth, serial: 0) { own.reversed() })
            open += node.storage.cells.compactMap { $0.info?.value.lease }
        }
        var seen: Set<ObjectIdentifier> = []
        while let lease = open.popLast() {
            guard lease.depth >= depth, seen.insert(ObjectIdentifier(lease)).inserted else { continue }
            steps.append(
                ClosingStep(key: lease.key, depth: lease.depth, serial: lease.serial, closers: lease.takeClosers))
            open += lease.needs
        }
        return steps.sorted { ($0.depth, $0.serial) > ($1.depth, $1.serial) }
    }

    /// Releases the features, ends the sequences and lets other callers go.
    private func endClosing() {
        var effects = Effects()
        var endings: [Observer.Ending] = []
        family.lock.withLock {
            for node in subtree {
                for cell in node.storage.cells where cell.key.kind != .property && cell.has(CellState.loaded) {
                    node.dropLoaded(cell, &effects)
                }
                endings += family.endSequences(in: node)
            }
            if case .closing(let waiters) = storage.facts.closing { effects.waiters += waiters.map { .task($0) } }
            storage.facts.closing = .closed
            family.closingCount -= 1
        }
        effects.perform()
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
            let isNeeded = parent?.chain.contains { ($0 as? Flight)?.asker.isWithin(node) == true } == true
            if !isNeeded { return true }
        }
        return false
    }
}
