/// An instance that left early, with the closers that are to run.
struct EarlyTeardown: Sendable {
    let key: Key
    let home: Int
    let closers: [Closer]
    let family: Family
    /// What the instance was made from, needed until its closers have run.
    let needs: PendingTeardown
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
        var waiting: [EarlyTeardown?] = []
        var next = 0
        var runners = 0
        var calls: [ObjectIdentifier: ClosingCall] = [:]
        /// How long those who wait give each closer.
        var deadlines: [Duration] = []

        mutating func takeTeardown() -> EarlyTeardown? {
            guard next < waiting.count else { return nil }
            defer {
                waiting[next] = nil
                next += 1
                if next == waiting.count || next > 64 && next * 2 > waiting.count {
                    waiting.removeFirst(next)
                    next = 0
                }
            }
            return waiting[next]
        }
    }
    private let state = Locked(State())

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
    func run(_ teardown: EarlyTeardown) {
        let startsRunner = state.withLock { state in
            state.count += 1
            state.waiting.append(teardown)
            guard state.runners < Closings.runnerLimit else { return false }
            state.runners += 1
            return true
        }
        guard startsRunner else { return }
        Task.detached { [self] in
            while let teardown = nextTeardown() {
                await close(teardown)
                teardown.needs.end()
                end()
            }
        }
    }

    /// The next instance to be closed by the runner that asks, which ends if there is none.
    private func nextTeardown() -> EarlyTeardown? {
        state.withLock { state in
            let teardown = state.takeTeardown()
            if teardown == nil { state.runners -= 1 }
            return teardown
        }
    }

    /// Runs the closers of an instance, each as long as those who wait for it allow.
    private func close(_ teardown: EarlyTeardown) async {
        let start = teardown.family.timeIfObserved
        let role = ClosingRole(teardown.key, of: teardown.family)
        var failure: (any Error)?
        for closer in teardown.closers {
            let call = ClosingCall()
            let deadline = state.withLock { state in
                state.calls[ObjectIdentifier(call)] = call
                return state.deadlines.min()
            }
            let error = await call.run(closer, as: role, deadline)
            state.withLock { _ = $0.calls.removeValue(forKey: ObjectIdentifier(call)) }
            guard let error else { continue }
            failure = error
            teardown.family.reports.report(Messages.closerFailed(of: teardown.key, error))
        }
        teardown.family.tellOfClosing(teardown.key, in: teardown.home, since: start, failure)
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
