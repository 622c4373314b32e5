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
    private let state: Guarded<State>
    private let family: Family

    private struct State {
        var closers: [Closer]
        var isAbandoned = false
    }

    init(_ key: Key, home: Node, serial: UInt64, closers: [Closer], needs: [Lease]) {
        self.key = key
        self.serial = serial
        self.needs = needs
        depth = home.depth
        family = home.family
        state = Guarded(State(closers: closers))
    }

    /// Hands the closers out, last registered first; nobody else runs them then.
    func takeClosers() -> [Closer] {
        state.withLock { state in
            defer { state.closers = [] }
            return state.closers.reversed()
        }
    }

    /// Takes away the closers of the instance, and of those that left early and are only kept by it: their container goes
    /// without having been closed. What is returned is to be released outside the lock.
    func abandon() -> [(key: Key, closers: [Closer])] {
        var abandoned: [(key: Key, closers: [Closer])] = []
        var open = [self]
        // At the same depth on one way down is the same container; those above go on.
        while let lease = open.popLast() {
            let isKnown = lease.state.withLock { state in
                defer { state.isAbandoned = true }
                return state.isAbandoned
            }
            if isKnown { continue }
            let closers = lease.takeClosers()
            if !closers.isEmpty { abandoned.append((lease.key, closers)) }
            open += lease.needs.filter { $0.depth == depth }
        }
        return abandoned
    }

    /// Runs the closers without waiting for anybody to let go: of an instance that nobody was given.
    func closeEarly() {
        let closers = takeClosers()
        guard !closers.isEmpty else { return }
        let (key, reports, closings, needs) = (key, family.reports, family.closings, Departure(needs, family.closings))
        let role = ClosingRole(key, of: family)
        closings.begin()
        Task.detached {
            for closer in closers {
                guard let error = await closings.run(closer, as: role) else { continue }
                reports.report(Messages.closerFailed(of: key, error))
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
    private struct State {
        var count = 0
        var waiters: [TaskWaiter] = []
        var calls: [ClosingCall] = []
        /// How long those who wait give each closer.
        var deadlines: [Duration] = []
    }
    private let state = Guarded(State())

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

    /// Runs a closer, as long as those who wait for it allow.
    func run(_ closer: Closer, as role: ClosingRole) async -> (any Error)? {
        let call = ClosingCall()
        let deadline = state.withLock { state in
            state.calls.append(call)
            return state.deadlines.min()
        }
        defer { state.withLock { state in state.calls.removeAll { $0 === call } } }
        return await call.run(closer, as: role, deadline)
    }

    /// Returns when none is left; each that is under way, and each that begins meanwhile, may take as long as `deadline`.
    func waitForAll(_ deadline: Duration? = nil) async {
        guard let deadline else { return await untilNoneIsLeft() }
        let calls = state.withLock { state in
            state.deadlines.append(deadline)
            return state.calls
        }
        for call in calls { call.limit(to: deadline) }
        await untilNoneIsLeft()
        state.withLock { state in
            if let index = state.deadlines.firstIndex(of: deadline) { state.deadlines.remove(at: index) }
        }
    }

    private func untilNoneIsLeft() async {
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
