extension Closer {
    /// Runs the closer in this task, or, if there is a deadline, in one of its own.
    ///
    /// Returns what went wrong.
    func run(as role: ClosingRole, _ deadline: Duration?) async -> (any Error)? {
        if let deadline { return await ClosingCall().run(self, as: role, deadline) }
        do {
            try await Current.$closing.withValue(role) { try await close() }
            return nil
        } catch {
            return error
        }
    }
}

/// One closer under way, in a task of its own, so that it can be left to itself.
final class ClosingCall: Sendable {
    private struct State {
        var outcome: Result<Void, any Error>?
        var alarms: [Task<Void, Never>] = []
    }
    private let state = Locked(State())
    private let waiter = TaskWaiter()

    /// Runs the closer.
    ///
    /// Returns what went wrong: what it threw, or that its time was over.
    func run(_ closer: Closer, as role: ClosingRole, _ deadline: Duration?) async -> (any Error)? {
        let work = Task {
            do {
                try await Current.$closing.withValue(role) { try await closer.close() }
                end(.success(()))
            } catch {
                end(.failure(error))
            }
        }
        if let deadline { limit(to: deadline) }
        await waiter.wait()
        work.cancel()
        if case .failure(let error) = state.withLock({ $0.outcome }) { return error }
        return nil
    }

    /// Gives it so long from now on, or less if that was said before.
    func limit(to deadline: Duration) {
        let alarm = Task {
            do { try await Task.sleep(for: deadline) } catch { return }
            end(.failure(CloseError.DeadlineExceeded(deadline: deadline)))
        }
        let isOver = state.withLock { state in
            if state.outcome == nil { state.alarms.append(alarm) }
            return state.outcome != nil
        }
        if isOver { alarm.cancel() }
    }

    /// The first end counts.
    private func end(_ outcome: Result<Void, any Error>) {
        let alarms = state.withLock { state in
            if state.outcome == nil { state.outcome = outcome }
            defer { state.alarms = [] }
            return state.alarms
        }
        for alarm in alarms { alarm.cancel() }
        waiter.wake()
    }
}

/// What a closer is a part of: a closing that waits for it must not be waited for by it.
final class ClosingRole: Sendable {
    let feature: String?
    private let family: Family
    /// What is being closed; nil if an instance left early, for which every closing of the family waits.
    private let closed: Node?
    /// What the closing itself is a part of.
    private let outer: ClosingRole?

    init(_ key: Key?, of family: Family, closing closed: Node? = nil, within outer: ClosingRole? = nil) {
        feature = key?.name
        self.family = family
        self.closed = closed
        self.outer = outer
    }

    /// Whether closing `node` waits for this.
    func holdsUp(_ node: Node) -> Bool {
        let isWaitedFor = closed.map { $0.isWithin(node) } ?? (family === node.family)
        return isWaitedFor || outer?.holdsUp(node) == true
    }
}

extension Current {
    /// The closer that the running task is a part of.
    @TaskLocal static var closing: ClosingRole?

    /// If closing `node` waits for what runs here: why.
    static func holdsUpClosing(_ node: Node) -> CloseError.WaitsForItself? {
        if let closing, closing.holdsUp(node) {
            return CloseError.WaitsForItself(feature: closing.feature, isLoad: false)
        }
        let loads = unfinished?.chain.lazy.compactMap { $0 as? Load }
        guard let load = loads?.first(where: { $0.asker.isWithin(node) }) else { return nil }
        return CloseError.WaitsForItself(feature: load.requested.name, isLoad: true)
    }
}
