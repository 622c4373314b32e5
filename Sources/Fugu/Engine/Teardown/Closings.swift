/// An instance that left early, with the closers that are to run.
struct Leaver: Sendable {
    let key: Key
    let home: Int
    let closers: [Closer]
    let role: ClosingRole
    let family: Family
    /// What the instance was made from, needed until its closers have run.
    let needs: Departure
}

/// The closers of the instances of one family that left early.
///
/// They run in tasks of their own, in the order in which their instances left. Only a few tasks do that, however many
/// instances wait: tasks that nobody waits for would pile up faster than they run.
final class Closings: Sendable {
    /// How many tasks run closers at once.
    ///
    /// One would do, but then a closer that takes long would hold up all others.
    static let runnerLimit = 32

    private struct State {
        /// How many instances wait for their closers, are being closed or may be about to come.
        var count = 0
        var waiters: [TaskWaiter] = []
        /// The instances that wait, the first at `next`.
        var leavers: [Leaver?] = []
        var next = 0
        var runners = 0
        var calls: [ObjectIdentifier: ClosingCall] = [:]
        /// How long those who wait give each closer.
        var deadlines: [Duration] = []

        mutating func takeLeaver() -> Leaver? {
            guard next < leavers.count else { return nil }
            defer {
                leavers[next] = nil
                next += 1
                if next == leavers.count || next > 64 && next * 2 > leavers.count {
                    leavers.removeFirst(next)
                    next = 0
                }
            }
            return leavers[next]
        }
    }
    private let state = Guarded(State())

    /// Whether no closers run or may be about to.
    var isIdle: Bool { state.withLock { $0.count == 0 } }

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

    /// Runs the closers of an instance, soon.
    func run(_ leaver: Leaver) {
        let startsRunner = state.withLock { state in
            state.count += 1
            state.leavers.append(leaver)
            guard state.runners < Closings.runnerLimit else { return false }
            state.runners += 1
            return true
        }
        guard startsRunner else { return }
        Task.detached { [self] in
            while let leaver = nextLeaver() {
                await close(leaver)
                leaver.needs.end()
                end()
            }
        }
    }

    /// The next instance to be closed by the runner that asks, which ends if there is none.
    private func nextLeaver() -> Leaver? {
        state.withLock { state in
            let leaver = state.takeLeaver()
            if leaver == nil { state.runners -= 1 }
            return leaver
        }
    }

    /// Runs the closers of an instance, each as long as those who wait for it allow.
    private func close(_ leaver: Leaver) async {
        let start = leaver.family.timeIfObserved
        var failure: (any Error)?
        for closer in leaver.closers {
            let call = ClosingCall()
            let deadline = state.withLock { state in
                state.calls[ObjectIdentifier(call)] = call
                return state.deadlines.min()
            }
            let error = await call.run(closer, as: leaver.role, deadline)
            state.withLock { _ = $0.calls.removeValue(forKey: ObjectIdentifier(call)) }
            guard let error else { continue }
            failure = error
            leaver.family.reports.report(Messages.closerFailed(of: leaver.key, error))
        }
        leaver.family.tellOfClosing(leaver.key, in: leaver.home, since: start, failure)
    }

    /// Returns when none is left; each that is under way, and each that begins meanwhile, may take as long as `deadline`.
    func waitForAll(_ deadline: Duration? = nil) async {
        if isIdle { return }
        guard let deadline else { return await untilNoneIsLeft() }
        let calls = state.withLock { state in
            state.deadlines.append(deadline)
            // A list of its own: what others change meanwhile is not to be iterated outside the lock.
            return Array(state.calls.values)
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
            await waiter.wait()
        }
    }
}
