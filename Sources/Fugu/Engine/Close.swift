import Synchronization

/// A closer that `onClose` registered.
struct Closer: Sendable {
    let close: @Sendable () async throws -> Void
}

/// The lifetime of an instance that has closers, or has an input with a lifetime.
///
/// Its place and its dependents keep it. When the last one releases it, the instance has left early, and its closers run.
final class Lifetime: Sendable {
    let home: Node
    let teardown: Teardown

    init(_ key: Key, home: Node, order: UInt64, closers: [Closer], uses: [Lifetime]) {
        self.home = home
        teardown = Teardown(key, order: order, closers: closers, uses: uses)
    }

    /// Makes the instance a leaver if it has closers: closings of its home then run these, or wait until they have run.
    func leave(_ token: LockToken) {
        guard teardown.leave(), let node = home.nearestOpen(token) else { return }
        node.storage[token].more().leavers[ObjectIdentifier(teardown)] = teardown
    }

    /// Removes the closers of the instance, and of its inputs in the same node, because their container is released without
    /// having been closed.
    ///
    /// Returns the closers with their keys, to be released outside the lock.
    func abandon(in node: Node) -> [(key: Key, closers: [Closer])] {
        var abandoned: [(key: Key, closers: [Closer])] = []
        var seen = ObjectSet()
        var open = [self]
        while let lifetime = open.popLast() {
            guard lifetime.home === node, seen.insert(lifetime) else { continue }
            let closers = lifetime.teardown.takeClosers()
            if !closers.isEmpty { abandoned.append((lifetime.teardown.key, closers)) }
            open += lifetime.teardown.uses
        }
        return abandoned
    }

    deinit {
        let isLeaving = teardown.isLeaving
        let closers = isLeaving ? home.releaseLeaver(teardown) : teardown.takeClosers()
        if !closers.isEmpty {
            return home.family.leavers.run((teardown, home, closers, isCounted: isLeaving))
        }
        // One by one, because releasing a long chain recursively could overflow the stack: a lifetime that only this one
        // kept gives up its uses before it's released.
        var open = teardown.takeUses()
        while var lifetime = open.popLast() {
            if isKnownUniquelyReferenced(&lifetime), !lifetime.teardown.hasClosers {
                open += lifetime.teardown.takeUses()
            }
        }
    }
}

/// The closers of an instance, which run once, by whoever takes them first.
///
/// It doesn't keep the lifetime, so that a closing can run the closers of a leaver while something still keeps that.
final class Teardown: Sendable {
    let key: Key
    /// The time at which the load ended: a dependent has a later one than its inputs.
    let order: UInt64
    private let state: Locked<State>

    private struct State {
        var closers: [Closer]
        /// The lifetimes of the inputs, which are needed until the closers have run.
        var uses: [Lifetime]
        var isLeaving = false
    }

    fileprivate init(_ key: Key, order: UInt64, closers: [Closer], uses: [Lifetime]) {
        self.key = key
        self.order = order
        state = Locked(State(closers: closers, uses: uses))
    }

    var hasClosers: Bool { state.withLock { !$0.closers.isEmpty } }
    fileprivate var isLeaving: Bool { state.withLock { $0.isLeaving } }
    fileprivate var uses: [Lifetime] { state.withLock { $0.uses } }

    /// Removes and returns the closers, last registered first, so that only the caller runs them.
    @inline(never) func takeClosers() -> [Closer] {
        state.withLock { state in
            defer { state.closers = [] }
            return state.closers.reversed()
        }
    }

    @inline(never) fileprivate func takeUses() -> [Lifetime] {
        state.withLock { state in
            defer { state.uses = [] }
            return state.uses
        }
    }

    /// Marks the instance as a leaver, and returns whether it has become one.
    fileprivate func leave() -> Bool {
        state.withLock { state in
            if state.isLeaving || state.closers.isEmpty { return false }
            state.isLeaving = true
            return true
        }
    }
}

extension Node {
    /// Returns the node that counts this node's leavers: the node itself, or its nearest ancestor that hasn't ended.
    fileprivate func nearestOpen(_ token: LockToken) -> Node? {
        path.firstResult { $0.isEnded(token) ? nil : UnmanagedReference($0) }?.object
    }

    /// Passes the leavers of a node that has ended to the nearest node above, whose closings then wait for them.
    func passLeavers(_ token: LockToken, _ rare: RareNodeState) {
        guard !rare.leavers.isEmpty || rare.releasedCount > 0, let above = nearestOpen(token) else { return }
        let state = above.storage[token].more()
        for leaver in rare.leavers.values { state.leavers[ObjectIdentifier(leaver)] = leaver }
        state.releasedCount += rare.releasedCount
    }

    /// Takes the closers of a leaver that nothing needs anymore.
    ///
    /// They're taken and counted at once, so that a closing either runs them or waits for them.
    @inline(never) fileprivate func releaseLeaver(_ leaver: Teardown) -> [Closer] {
        family.lock.withLock { token in
            let closers = leaver.takeClosers()
            guard let rare = nearestOpen(token)?.storage[token].rare else { return closers }
            rare.leavers[ObjectIdentifier(leaver)] = nil
            if !closers.isEmpty { rare.releasedCount += 1 }
            return closers
        }
    }

    /// Stops counting a released leaver whose closers have run.
    @inline(never) fileprivate func leaverIsClosed() {
        var effects = Effects(in: nil)
        family.lock.withLock { token in
            guard let node = nearestOpen(token), let rare = node.storage[token].rare else { return }
            rare.releasedCount -= 1
            if rare.releasedCount == 0 { node.wakeIdle(token, &effects) }
        }
        effects.wakeWaiters()
    }
}

// MARK: Leavers

/// A leaver that nothing needs anymore, with the closers to run; the lifetimes of the inputs are needed until these have run.
private typealias Leaver = (teardown: Teardown, home: Node, closers: [Closer], isCounted: Bool)

/// The leavers of one family.
///
/// Their closers run in a separate task, one instance after the other.
final class Leavers: Sendable {
    private struct State {
        var waiting = Queue<Leaver>()
        /// The frame in which the closers run, to find circles of waits.
        var frame: Frame?
        var call: ClosingCall?
        /// The deadlines of the closings that wait.
        var deadlines: [Duration] = []
    }
    private let state = Locked(State())

    /// Queues a leaver, and starts the task that runs closers if necessary.
    fileprivate func run(_ leaver: Leaver) {
        let family = leaver.home.family
        let frame: Frame? = state.withLock { state in
            state.waiting.append(leaver)
            guard state.frame == nil else { return nil }
            state.frame = Frame(.closer, in: family, nil, under: nil, within: nil)
            return state.frame
        }
        guard let frame else { return }
        Task.detached { [self] in
            while let leaver = next() {
                await close(leaver, in: frame)
                if leaver.isCounted { leaver.home.leaverIsClosed() }
            }
            frame.end()
        }
    }

    // Not a part of each function into which the loop of `run` is divided, nor are `Leavers.end` and others below.
    @inline(never) private func next() -> Leaver? {
        state.withLock { state in
            if !state.waiting.isEmpty { return state.waiting.takeFirst() }
            state.frame = nil
            return nil
        }
    }

    /// Runs the closers of a leaver, each within the shortest deadline.
    @inline(never) private func close(_ leaver: Leaver, in frame: Frame) async {
        let span = ClosingSpan(leaver.home)
        var failure: (any Error)?
        let key = leaver.teardown.key
        let frame = Frame(.closer, in: frame.family, nil, key, under: frame, within: nil)
        defer { frame.end() }
        for closer in leaver.closers {
            let call = ClosingCall()
            let error = await call.run(closer, in: frame, begin(call))
            endCall()
            guard let error else { continue }
            failure = error
            frame.family.reports.report(Messages.closerFailed(of: key, error))
        }
        span.end(key, failure)
    }

    /// Notes the call that runs, and returns its deadline.
    @inline(never) private func begin(_ call: ClosingCall) -> Duration? {
        state.withLock { state in
            state.call = call
            return state.deadlines.min()
        }
    }

    @inline(never) private func endCall() { state.withLock { $0.call = nil } }

    /// The frame in which closers run, if any do.
    var frame: Frame? { state.withLock { $0.frame } }

    /// Limits the closer that runs now, and each that follows until `endDeadline`, to a deadline.
    @inline(never) fileprivate func beginDeadline(_ deadline: Duration) {
        let call = state.withLock { state in
            state.deadlines.append(deadline)
            return state.call
        }
        call?.setDeadline(deadline)
    }

    @inline(never) fileprivate func endDeadline(_ deadline: Duration) {
        state.withLock { state in
            if let index = state.deadlines.firstIndex(of: deadline) { state.deadlines.remove(at: index) }
        }
    }
}

extension Closer {
    /// Runs the closer, in a separate task if there's a deadline.
    ///
    /// Returns the error, if there's one.
    @inline(never) func run(in frame: Frame, _ deadline: Duration?) async -> (any Error)? {
        if let deadline { return await ClosingCall().run(self, in: frame, deadline) }
        do {
            try await Context.run(nil, frame) { try await close() }
            return nil
        } catch {
            return error
        }
    }
}

/// A call of a closer in a separate task, which can be abandoned.
final class ClosingCall: Sendable {
    private struct State {
        var outcome: Result<Void, any Error>?
        var alarms: [Task<Void, Never>] = []
    }
    private let state = Locked(State())
    private let waiter = Waiter()

    /// Runs the closer.
    ///
    /// Returns the error that it threw, or an error if it exceeded its deadline.
    @inline(never) func run(_ closer: Closer, in frame: Frame, _ deadline: Duration?) async -> (any Error)? {
        let work = Task {
            do {
                try await Context.run(nil, frame) { try await closer.close() }
                end(.success(()))
            } catch {
                end(.failure(error))
            }
        }
        if let deadline { setDeadline(deadline) }
        await waiter.wait()
        work.cancel()
        if case .failure(let error) = state.withLock({ $0.outcome }) { return error }
        return nil
    }

    /// Limits the call to a time from now; a limit that ends earlier remains.
    @inline(never) func setDeadline(_ deadline: Duration) {
        let alarm = Task {
            do { try await Task.sleep(for: min(deadline, .longest)) } catch { return }
            end(.failure(CloseError.exceeded(deadline)))
        }
        let isOver = state.withLock { state in
            if state.outcome == nil { state.alarms.append(alarm) }
            return state.outcome != nil
        }
        if isOver { alarm.cancel() }
    }

    /// Ends the call; only the first outcome counts.
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

extension Duration {
    /// A century: deadlines and idle times that are longer would overflow the instants of clocks.
    package static var longest: Duration { .seconds(100 * 366 * 86_400) }
}

// MARK: Closing

extension Container {
    /// Closes the container and its descendants.
    ///
    /// Returns the failures of closers.
    func runClose(_ deadline: Duration?) async throws -> [CloseError.Failure] {
        let node = node
        let span = ClosingSpan(node)
        if node.closeAtOnce() {
            span.end(nil, nil)
            return []
        }
        let frame = Frame(.closing, in: node.family, node, under: Frame.current, within: nil)
        if let error = frame.waitsForItself() { throw error }
        let closing = Closing(node: node, frame: frame, deadline: deadline)
        // Canceling the caller doesn't cancel the closing, whose closers must not block the caller's actor.
        let task = Task.startDetached(atOnce: !Task.isOnActor(#isolation)) { await closing.run() }
        let result = await task.value
        let failures = try result.get()
        span.end(nil, failures.isEmpty ? nil : CloseError(failures: failures))
        return failures
    }
}

extension Node {
    /// Closes the container if there's nothing to wait for and no closer to run, and returns whether it did.
    fileprivate func closeAtOnce() -> Bool {
        var effects = Effects()
        let isDone = family.lock.withLock { token in
            let rare = storage[token].rare
            guard !hasChildren(token), storage[token].inProgress == 0,
                rare == nil || rare!.closers.value.isEmpty && rare!.hasNoLeavers && rare!.closing == nil
            else { return false }
            if storage[token].isClosed { return true }
            for cell in storage.cells(token) {
                if let place = cell.place,
                    place[token].lifetime.value?.teardown.hasClosers == true || place[token].rare?.follower.value != nil
                {
                    return false
                }
            }
            release(token, &effects)
            return true
        }
        effects.perform()
        return isDone
    }

    /// Marks the container as closed, and releases the features that were loaded or set here.
    fileprivate func release(_ token: LockToken, _ effects: inout Effects) {
        storage[token].advance(to: .closed)
        for cell in storage.cells(token) where cell.key.kind != .property {
            if cell.has(CellFlags.loaded), let place = cell.place {
                effects.drop(token, place)
            } else if cell.heldFlags == CellFlags.held, cell.has(CellFlags.hasWord) {
                effects.garbage.add(cell.clear(at: family.state[token].tick()))
                cell.place?.link(token)
                storage.raiseEpoch(
                    token, to: family.state[token].now, reachesDescendants: !isRoot && hasChildren(token))
            }
        }
    }
}

extension Frame {
    /// Returns an error if the closing is called by something that it would wait for.
    fileprivate func waitsForItself() -> CloseError? {
        for frame in chain.dropFirst() {
            if frame.kind == .load, frame.node!.isWithin(node!) {
                return .waitsForItself(frame.key!.name, isLoad: true)
            }
            // The frame that runs the closers of leavers, or a closing in progress.
            let isWaitedFor = family.lock.withLock { token in
                frame.kind == .closing && node!.storage[token].rare?.closing === frame
                    || frame === family.leavers.frame
                        && node!.subtree(token).contains { $0.storage[token].rare?.releasedCount ?? 0 > 0 }
            }
            if isWaitedFor { return waitsForCloser }
        }
        return nil
    }

    /// The error of a closer that makes the closing wait for itself.
    fileprivate var waitsForCloser: CloseError {
        .waitsForItself(chain.first { $0.kind == .closer }?.key?.name, isLoad: false)
    }
}

/// One call that closes a container.
private struct Closing: Sendable {
    let node: Node
    let frame: Frame
    /// How long each closer may take.
    let deadline: Duration?

    private var family: Family { node.family }

    func run() async -> Result<[CloseError.Failure], any Error> {
        var failures: [CloseError.Failure] = []
        do {
            // Loads that began before, and what they need, finish first. They may make further children.
            var nodes: [Node] = []
            while case let more = refuseLoads(besides: nodes), !more.isEmpty {
                failures += try await awaitLoads(of: more)
                nodes += more
            }
            // A closer may wait for a task that reads a sequence, of any of these containers.
            let followers = family.lock.withLock { token in
                nodes.flatMap { $0.storage.cells(token).compactMap { $0.place?[token].rare?.follower.value } }
            }
            for follower in followers { follower.endSequences() }
            // Deepest first, and the youngest first at each depth.
            for node in nodes.descending(by: { UInt64($0.depth) << 40 | UInt64($0.number) }) {
                failures += try await close(node)
            }
        } catch {
            reopen()
            frame.end()
            return .failure(error)
        }
        frame.end()
        return .success(failures)
    }

    /// Refuses new loads in the container and its descendants, and returns those that aren't known yet.
    @inline(never) private func refuseLoads(besides known: [Node]) -> [Node] {
        let known = ObjectSet(known)
        return family.lock.withLock { token in
            let nodes = node.subtree(token)
            for node in nodes { node.storage[token].advance(to: .refusing) }
            return nodes.filter { !known.contains($0) }
        }
    }

    /// Returns when nothing is in progress in some containers, or after the deadline.
    ///
    /// Returns the loads that exceed the deadline, whose instances won't be kept.
    ///
    /// - Throws: `CloseError` if one of their loads waits for this closing.
    @inline(never) private func awaitLoads(of nodes: [Node]) async throws -> [CloseError.Failure] {
        // Any load that begins from now on is needed by one of these.
        let loads = family.lock.withLock { token -> [Frame] in
            let busy = ObjectSet(nodes.filter { $0.storage[token].inProgress > 0 })
            return busy.isEmpty ? [] : family.loads(token).filter { busy.contains($0.node!) }
        }
        var waits: [Frame] = []
        defer { for load in waits { Waits.remove(frame, for: load) } }
        for load in loads {
            if Waits.add(frame, for: load) != nil { throw CloseError.waitsForItself(load.key!.name, isLoad: true) }
            waits.append(load)
        }
        let end = Closer {
            for node in nodes { await awaitIdle(node) { token in node.storage[token].inProgress == 0 } }
        }
        guard let error = await end.run(in: frame, deadline) else { return [] }
        return loads.compactMap { load in
            let name = load.key!.name
            return load.isFinished ? nil : (feature: name, error: error, name: name)
        }
    }

    /// Lets the nodes load again, except those that another closing refuses or that are closed.
    @inline(never) private func reopen() {
        family.lock.withLock { token in
            for node in node.subtree(token) where node.parent?.storage[token].isRefusing != true {
                if let closing = node.storage[token].rare?.closing, closing !== frame { continue }
                node.storage[token].rare?.closing = nil
                node.storage[token].reopen()
            }
        }
    }

    /// Closes one container, after its children.
    private func close(_ node: Node) async throws -> [CloseError.Failure] {
        while true {
            switch try nextStep(closing: node) {
            case .begun:
                return try await runClosers(of: node)
            case .over:
                try await awaitLeavers(of: node)
                return []
            case .wait(let wait):
                if let deadline { family.leavers.beginDeadline(deadline) }
                await wait.suspend()
                if let deadline { family.leavers.endDeadline(deadline) }
            }
        }
    }

    private enum Step { case begun, wait(Wait), over }

    /// Begins to close a container, or to wait for another closing that does.
    @inline(never) private func nextStep(closing node: Node) throws -> Step {
        try family.lock.withLock { token in
            let rare = node.storage[token].more()
            // The next closing runs what was registered after the last one.
            if node.storage[token].isClosed, rare.closers.value.isEmpty, rare.closing == nil { return .over }
            guard let other = rare.closing else {
                rare.closing = frame
                return .begun
            }
            guard let wait = other.beginWait(token, for: frame) else { throw frame.waitsForCloser }
            return .wait(wait)
        }
    }

    /// Runs all closers of a container: dependents before what they depend on, the container's own last.
    @inline(never) private func runClosers(of node: Node) async throws -> [CloseError.Failure] {
        var failures: [CloseError.Failure] = []
        while true {
            // Wait for released leavers while their inputs are still there.
            try await awaitLeavers(of: node)
            var effects = Effects()
            let (teardowns, closers, isDone) = nextClosers(of: node, &effects)
            for teardown in teardowns {
                // What was made from this one may have been released meanwhile.
                try await awaitLeavers(of: node)
                let (closers, uses) = takeClosers(of: teardown)
                if !closers.isEmpty { failures += await run(closers, of: teardown.key, in: node) }
                withExtendedLifetime(uses) {}
            }
            if !closers.isEmpty { failures += await run(closers.reversed(), of: nil, in: node) }
            guard isDone else { continue }
            effects.perform()
            return failures
        }
    }

    /// Returns the instances with closers, those that ended loading last first, or else the container's own closers; closes the
    /// container if none is left.
    @inline(never) private func nextClosers(of node: Node, _ effects: inout Effects) -> ([Teardown], [Closer], Bool) {
        let (teardowns, closers, isDone) = family.lock.withLock { token -> ([Teardown], [Closer], Bool) in
            let rare = node.storage[token].more()
            let present = node.storage.cells(token).compactMap { $0.place?[token].lifetime.value?.teardown }
            let teardowns = (present + rare.leavers.values).filter(\.hasClosers)
            let closers = teardowns.isEmpty ? rare.closers.takeAll() : []
            guard teardowns.isEmpty, closers.isEmpty, rare.releasedCount == 0 else {
                return (teardowns, closers, false)
            }
            // No closer is left, including those that other closers registered.
            node.release(token, &effects)
            rare.closing = nil
            return ([], [], true)
        }
        return (teardowns.descending { $0.order }, closers, isDone)
    }

    @inline(never) private func takeClosers(of teardown: Teardown) -> ([Closer], [Lifetime]) {
        family.lock.withLock { _ in (teardown.takeClosers(), teardown.uses) }
    }

    @inline(never)
    private func run(_ closers: [Closer], of key: Key?, in node: Node) async -> [CloseError.Failure] {
        let span = ClosingSpan(node)
        let call = Frame(.closer, in: family, node, key, under: frame, within: nil)
        var failures: [CloseError.Failure] = []
        for closer in closers {
            guard let error = await closer.run(in: call, deadline) else { continue }
            let name = key?.name ?? (node === self.node ? Messages.closedName : Messages.boxName(node.number))
            failures.append((feature: key?.name, error: error, name: name))
        }
        call.end()
        if let key { span.end(key, failures.last?.error) }
        return failures
    }

    /// Returns when the closers of a container's released leavers have run.
    @inline(never) private func awaitLeavers(of node: Node) async throws {
        func isGone(_ token: LockToken) -> Bool { node.storage[token].rare?.releasedCount ?? 0 == 0 }
        if family.lock.withLock({ token in isGone(token) }) { return }
        let runner = family.leavers.frame
        if let runner, Waits.add(frame, for: runner) != nil { throw frame.waitsForCloser }
        if let deadline { family.leavers.beginDeadline(deadline) }
        await awaitIdle(node, isGone)
        if let deadline { family.leavers.endDeadline(deadline) }
        if let runner { Waits.remove(frame, for: runner) }
    }

    @inline(never) private func awaitIdle(_ node: Node, _ isIdle: (LockToken) -> Bool) async {
        while true {
            let waiter = Waiter()
            let isDone = family.lock.withLock { token in
                if isIdle(token) { return true }
                node.storage[token].more().idleWaiters.append(waiter)
                return false
            }
            if isDone { return }
            await waiter.wait()
        }
    }
}
