/// What `onClose` registers.
struct Closer: Sendable {
    let close: @Sendable () async throws -> Void
}

/// The right to use an instance that has closers, held by whatever was made from it and by the cell it stands in. When
/// the last one lets go, the instance has left early and its closers run, in a task of their own.
final class Lease: Sendable {
    let key: Key
    /// How deep in its family the instance lives.
    let depth: Int
    /// Dependents have higher ones than what they depend on.
    let serial: UInt64
    /// What the instance was made from is needed until its closers have run.
    let needs: [Lease]
    private let closers: Guarded<[Closer]>
    private let family: Family

    init(_ key: Key, home: Node, serial: UInt64, closers: [Closer], needs: [Lease]) {
        self.key = key
        self.serial = serial
        self.needs = needs
        depth = home.depth
        family = home.family
        self.closers = Guarded(closers)
    }

    /// Hands the closers out, last registered first; nobody else runs them then.
    func takeClosers() -> [Closer] {
        closers.withLock { closers in
            defer { closers = [] }
            return closers.reversed()
        }
    }

    /// Runs the closers without waiting for anybody to let go: of an instance that nobody was given.
    func closeEarly() {
        let closers = takeClosers()
        guard !closers.isEmpty else { return }
        let (key, reports, closings, needs) = (key, family.reports, family.closings, Departure(needs, family.closings))
        closings.begin()
        Task.detached {
            for closer in closers {
                do { try await closer.close() } catch { reports.report(Messages.closerFailed(of: key, error)) }
            }
            needs.end()
            closings.end()
        }
    }

    deinit { closeEarly() }

    fileprivate var closings: Closings { family.closings }
}

/// Leases that somebody lets go: from the look under the lock that decided it until they are released, which may be later,
/// a closing knows that closers may have to run yet.
final class Departure: Sendable {
    private let leases: Guarded<[Lease]?>
    private let closings: Closings
    private let isForNobody: Bool

    /// - Parameter isForNobody: Whether nobody was given the instance, so that its closers need not wait.
    convenience init(_ lease: Lease, isForNobody: Bool) { self.init([lease], lease.closings, isForNobody: isForNobody) }

    fileprivate init(_ leases: [Lease], _ closings: Closings, isForNobody: Bool = false) {
        self.leases = Guarded(leases)
        self.closings = closings
        self.isForNobody = isForNobody
        closings.begin()
    }

    func end() {
        var leaving = leases.withLock { leases in
            defer { leases = nil }
            return leases
        }
        guard leaving != nil else { return }
        if isForNobody { leaving?.forEach { $0.closeEarly() } }
        leaving = nil
        closings.end()
    }

    deinit { end() }
}

/// How many closers of instances that left early run or may be about to.
final class Closings: Sendable {
    private let state = Guarded<(count: Int, waiters: [TaskWaiter])>((0, []))

    func begin() { state.withLock { $0.count += 1 } }

    func end() {
        let waiters = state.withLock { state in
            state.count -= 1
            guard state.count == 0 else { return [TaskWaiter]() }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.wake() }
    }

    func waitForAll() async {
        while true {
            let waiter = TaskWaiter()
            let isOver = state.withLock { state in
                if state.count > 0 { state.waiters.append(waiter) }
                return state.count == 0
            }
            if isOver { return }
            try? await waiter.wait {}
        }
    }
}
