/// A closer that `onClose` registered.
struct Closer: Sendable {
    let close: @Sendable () async throws -> Void
}

/// The lifetime of an instance that has closers, or has an input with a lifetime.
///
/// Its place, its dependents, and the operations that have read it keep it. When the last one releases it, its closers run.
final class Lifetime: Sendable {
    let teardown: Teardown

    init(_ token: LockToken, _ key: Key, home: Node, closers: [Closer], uses: [Lifetime], overdue: Duration? = nil) {
        teardown = Teardown(key, home: home, closers, uses: uses, overdue: overdue)
        if teardown.hasClosers { home.storage[token].more().closing.teardowns.append(teardown) }
    }

    deinit {
        if teardown.hasClosers { return teardown.leave() }
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

/// Closers that a node lists until somebody takes them, and runs one after another, each in a task of its own: those of an instance
/// or, without a key, of a container.
final class Teardown: WordIdentifier {
    private struct State {
        /// The lifetimes of the inputs, which are needed until the closers have run.
        var uses: [Lifetime]
        /// The deadline, once it's over.
        var overdue: Duration?
        /// Wakes the run at the end of the call that it's at.
        var call: Waiter?
    }
    let key: Key?
    fileprivate let home: Node
    /// The closers, last registered first.
    let closers: [Closer]
    private let state: Locked<State>

    /// - `overdue`: The deadline at which the load was given up that registered the closers, if it was.
    init(_ key: Key?, home: Node, _ closers: [Closer], uses: [Lifetime] = [], overdue: Duration? = nil) {
        self.key = key
        self.home = home
        self.closers = closers.reversed()
        state = Locked(State(uses: uses, overdue: overdue))
    }

    var hasClosers: Bool { !closers.isEmpty }

    /// Removes and returns the lifetimes of the inputs, to be released outside the lock.
    @inline(never) func takeUses() -> [Lifetime] {
        state.withLock { state in
            defer { state.uses = [] }
            return state.uses
        }
    }

    /// Lets the closers run in a task, which is work in progress of the home, unless a closing has taken them, or will.
    @inline(never) fileprivate func leave() {
        let isLeft = home.family.lock.withLock { token in
            guard let rare = home.storage[token].rare, rare.closing.calls == 0, rare.closing.teardowns.remove(self)
            else { return false }
            home.addWork(token, self)
            return true
        }
        if !isLeft { return }
        // What blocks its thread can be abandoned only on another one.
        Task.detached { [self] in await runAsWork(under: nil, atOnce: false) }
    }

    /// Runs the closers, which are listed as work in progress, and reports their errors.
    func runAsWork(under parent: Work?, atOnce: Bool) async {
        for error in await run(under: parent, atOnce: atOnce) {
            home.family.reports.report(Messages.closerFailed(of: key!, error))
        }
        // Inputs that leave now are listed before this one is no longer.
        _ = takeUses()
        var effects = Effects()
        home.family.lock.withLock { token in
            let node = home.present(token)
            node.storage[token].rare?.closing.runs.remove(self)
            node.endWork(token, &effects)
            node.wakeIdle(token, &effects)
        }
        effects.wakeWaiters()
    }

    /// Runs the closers, and returns their errors.
    @inline(never) fileprivate func run(under parent: Work?, atOnce: Bool) async -> [any Error] {
        let start = home.family.isHeard ? ProcessTime.now : nil
        let work = Work(.closers(of: key, in: home), in: home.family, under: parent, within: nil)
        var errors: [any Error] = []
        for closer in closers {
            do { try await call(closer, in: work, atOnce: atOnce) } catch { errors.append(error) }
        }
        work.markFinished()
        work.deliver()
        if let key, let start { home.family.emit(.closed(key, home, since: start, errors.last)) }
        return errors
    }

    /// Calls a closer as part of some work; throws its error, or one if it's still running at the deadline.
    ///
    /// What's called after the deadline is canceled from the start, and has time until it first suspends.
    ///
    /// - `atOnce`: Whether the closer may begin on this thread, without a hop to another one.
    @inline(never) func call(_ closer: Closer, in work: Work, atOnce: Bool) async throws {
        let waiter = Waiter()
        let overdue = state.withLock { state in
            state.call = waiter
            return state.overdue
        }
        let task = Task.startDetached(atOnce: atOnce || overdue != nil) {
            if overdue != nil { Task.cancelCurrent() }
            do {
                try await Context.run(nil, work) { try await closer.close() }
                waiter.wake()
            } catch {
                // To be canceled from the start is to exceed the deadline.
                let isOverdue = overdue != nil && error is CancellationError
                waiter.release(with: isOverdue ? CloseError.exceeded(overdue!) : error)
            }
        }
        if let overdue { waiter.release(with: CloseError.exceeded(overdue)) }
        do { try await waiter.suspend() } catch {
            task.cancel()
            throw error
        }
    }

    /// Ends the call that the run is at, and lets none that follows take time.
    fileprivate func expire(_ deadline: Duration) {
        let call = state.withLock { state in
            state.overdue = deadline
            return state.call
        }
        call?.release(with: CloseError.exceeded(deadline))
    }
}

extension Duration {
    /// A century: deadlines and idle times that are longer would overflow the instants of clocks.
    package static var longest: Duration { .seconds(100 * 366 * 86_400) }
}

/// What a node has for its closing, and for what it waits.
struct ClosingState {
    /// The closers that were registered outside loads.
    var closers = Kept<[Closer]>([])
    /// The closers of instances, in the order in which these ended loading; whoever removes one keeps it.
    var teardowns = SparseList<Teardown>()
    /// The number of calls that close the node, or one above, and haven't come to its end.
    ///
    /// Meanwhile, it doesn't end, and what leaves it stays listed for them.
    var calls = 0
    /// Whether one of them closes the node, for which the others wait.
    var isClaimed = false
    /// The deadline of one of them, once it's over.
    var overdue: Duration?
    /// The closers that run: of a closing, and of instances that have left.
    var runs = SparseList<Teardown>()
    /// The lifetimes of what an operation has read, until it's closed.
    var reads = Kept<WordTable<ObjectIdentifier, Lifetime>>(WordTable())
    /// The tasks that wait until nothing is in progress here, or for the end of a closing.
    var idleWaiters: [Waiter] = []
    /// Whether something was loaded after the closing, which is reported once.
    var isOutlived = false

    var hasListed: Bool { !closers.value.isEmpty || !teardowns.isEmpty }

    /// Lets a call close the node, unless another one does.
    fileprivate mutating func claim() -> Bool {
        defer { isClaimed = true }
        return !isClaimed
    }

    /// Takes the closers that run next: those of the instance that ended loading last or, if there's none left, the container's own,
    /// including those that other closers registered.
    mutating func takeNext(of node: Node) -> Teardown? {
        guard hasListed else { return nil }
        let next = teardowns.last ?? Teardown(nil, home: node, closers.takeAll())
        teardowns.remove(next)
        begin(next)
        return next
    }

    /// Lists closers that begin to run, canceled if a deadline is over.
    mutating func begin(_ run: Teardown) {
        runs.append(run)
        if let overdue { run.expire(overdue) }
    }
}

extension Node {
    /// Whether there are closers that haven't finished, for a closing to run or await.
    func hasClosers(_ token: LockToken) -> Bool {
        storage[token].rare.map { $0.closing.hasListed || !$0.closing.runs.isEmpty } ?? false
    }

    /// Counts work that a closing waits for: a load that was requested here, or the closers of an instance that has left.
    func beginWork(_ token: LockToken) { storage[token].inProgress += 1 }

    func endWork(_ token: LockToken, _ effects: inout Effects) {
        storage[token].inProgress -= 1
        if storage[token].inProgress == 0 { wakeIdle(token, &effects) }
    }

    /// Counts the closers of an instance that has left this container, or one below that has ended, or of a load that has failed.
    func addWork(_ token: LockToken, _ run: Teardown) {
        // Where the end of the work is counted, too.
        let node = present(token)
        node.beginWork(token)
        node.storage[token].more().closing.begin(run)
    }

    /// The nearest node that hasn't ended, for which closings wait.
    fileprivate func present(_ token: LockToken) -> Node { path.first { $0.isRoot || !$0.isEnded(token) }! }

    /// Wakes the closings that wait, to look again.
    fileprivate func wakeIdle(_ token: LockToken, _ effects: inout Effects) {
        guard let rare = storage[token].rare else { return }
        effects.wake(rare.closing.idleWaiters)
        rare.closing.idleWaiters = []
    }

    /// Whether a closing has nothing to wait for here before it runs closers: after a deadline, no loads.
    fileprivate func isIdle(_ token: LockToken) -> Bool {
        if storage[token].inProgress == 0 { return true }
        return isOverdue(token) && storage[token].rare!.closing.runs.isEmpty
    }

    /// Whether a closing has exceeded its deadline, and the node's last one hasn't come to its end.
    func isOverdue(_ token: LockToken) -> Bool { storage[token].rare?.closing.overdue != nil }

    /// Whether the container, which is closed or being closed, refuses a reader that isn't part of a load that began before.
    func refuses(_ token: LockToken, _ reader: Work?) -> Bool {
        guard storage[token].isRefusing else { return false }
        guard let reader else { return true }
        var top = self
        while let parent = top.parent, parent.storage[token].isRefusing { top = parent }
        let end = top.storage[token].closed
        return !reader.chain.contains { $0.load.map { $0.begun < end && $0.node.isWithin(top) } ?? false }
    }
}

extension Node {
    /// Returns whether nothing was loaded in the container since it was closed, and notes that something is.
    func isFirstLate(_ token: LockToken) -> Bool {
        let rare = storage[token].more()
        defer { rare.closing.isOutlived = true }
        return !rare.closing.isOutlived
    }
}

// MARK: Operations

extension Node {
    /// Notes that an operation of `withChild` reads here and below, until the container is closed.
    func beginOperation() { family.lock.withLock { token in storage[token].isOperation = true } }

    /// Keeps what a reader here is given open: in the nearest operation, or in the home if that's below it.
    @inline(never) func hold(_ token: LockToken, _ lifetime: Lifetime, of home: UnmanagedReference<Node>) {
        guard let operation = path.first(where: { $0.storage[token].isOperation }) else { return }
        let holder = home.depth > operation.depth ? home.object : operation
        // Nothing lets go of what a closed container holds.
        if holder.isClosed(token) { return }
        let id = ObjectIdentifier(lifetime)
        holder.storage[token].more().closing.reads.grow { if !$0.contains(id) { $0[id] = lifetime } }
    }

    /// Ends the operation: hands what it has read to the one above, which may have got it.
    private func endOperation(_ token: LockToken, _ garbage: inout Garbage) {
        storage[token].isOperation = false
        guard let rare = storage[token].rare, !rare.closing.reads.value.isEmpty else { return }
        for lifetime in rare.closing.reads.value.values where lifetime.teardown.home !== self {
            hold(token, lifetime, of: UnmanagedReference(lifetime.teardown.home))
        }
        rare.closing.reads.replace(by: WordTable(), &garbage)
    }
}

// MARK: Closing

extension Container {
    /// Closes the container and its descendants.
    func close(_ deadline: Duration?) async throws {
        note(.closed)
        let node = node
        let start = node.family.isHeard ? ProcessTime.now : nil
        var failures: [CloseError.Failure] = []
        if !node.closeAtOnce() {
            let caller = Work.current
            for work in caller.map({ Array($0.chain) }) ?? [] {
                if let part = node.waits(for: work) { throw CloseError.waitsForItself(work.key?.name, part) }
            }
            failures = await Closing(node: node, caller: caller, deadline: deadline).run()
        }
        let error = failures.isEmpty ? nil : CloseError(failures: failures)
        if let start { node.family.emit(.closed(nil, node, since: start, error)) }
        if let error { throw error }
    }
}

extension Node {
    /// Returns what some work is if a closing of this container would wait for its end.
    fileprivate func waits(for work: Work) -> CloseError.Caller? {
        switch work.role {
        case .load(let state): state.unshared.facts.node.isWithin(self) ? .load : nil
        case .closers(_, let home): home.isWithin(self) ? .closure : nil
        case .part, .update, .rules, .observers, .warmUp: nil
        }
    }

    /// Closes the container if there's nothing to wait for and neither a closer nor an observer, and returns whether it did.
    fileprivate func closeAtOnce() -> Bool {
        var effects = Effects()
        let isDone = family.lock.withLock { token in
            guard !hasChildren(token), storage[token].inProgress == 0, storage[token].rare?.closing.calls ?? 0 == 0,
                !hasClosers(token)
            else { return false }
            if storage.cells(token).contains(where: { $0.place?[token].rare?.follower.value != nil }) { return false }
            storage[token].close(at: family.state[token].tick())
            finishClosing(token, &effects)
            return true
        }
        effects.perform()
        return isDone
    }

    /// Releases the features that were loaded or set here.
    fileprivate func finishClosing(_ token: LockToken, _ effects: inout Effects) {
        endOperation(token, &effects.garbage)
        for cell in storage.cells(token) where cell.key.kind != .property {
            if let place = cell.place, place[token].provenance != nil {
                effects.drop(token, place)
            } else if cell.code(token) != nil {
                cell.binding(token)?.put(.nothing, by: .code, &effects.garbage)
                effects.garbage.add(cell.clear(at: family.state[token].tick()))
                cell.place?.watchAbove(token)
                raiseEpoch(token, to: family.state[token].now)
            }
        }
    }
}

/// One call that closes a container.
private struct Closing: Sendable {
    let node: Node
    /// The work that makes the call.
    let caller: Work?
    /// How long the call may take.
    let deadline: Duration?

    private var family: Family { node.family }

    /// Closers must not block the caller's actor.
    @concurrent func run() async -> [CloseError.Failure] {
        let end = deadline.map { ContinuousClock.now + min($0, .longest) }
        var nodes: [Node] = []
        var busy = begin(&nodes)
        let alarm = end.map { end in
            Task.detached { if (try? await Task.sleep(until: end, clock: .continuous)) != nil { expire() } }
        }
        // Loads that began before, and what they need, finish first, and so do others that begin meanwhile. They may make children.
        while !busy.isEmpty {
            for node in busy { await wait(at: node) { token in node.isIdle(token) } }
            busy = begin(&nodes)
        }
        var failures = endWaits(in: nodes)
        // Children come after their parents.
        while let node = nodes.popLast() { failures += await close(node) }
        alarm?.cancel()
        return failures
    }

    /// Refuses loads in the container and its descendants, adds those that aren't known yet to `nodes`, and returns those in which
    /// something is in progress; if there are none, closes all.
    @inline(never) private func begin(_ nodes: inout [Node]) -> [Node] {
        let known = nodes.isEmpty ? nil : ObjectSet(nodes)
        return family.lock.withLock { token in
            var busy: [Node] = []
            for node in node.subtree(token) {
                if known?.contains(node) != true {
                    let rare = node.storage[token].more()
                    rare.closing.calls += 1
                    rare.closing.overdue = rare.closing.overdue ?? self.node.storage[token].rare!.closing.overdue
                    node.storage[token].advance(to: .refusing)
                    nodes.append(node)
                }
                if !node.isIdle(token) { busy.append(node) }
            }
            if busy.isEmpty {
                // What begins to load from now on, for nothing that began before, is never closed.
                let time = family.state[token].tick()
                for node in nodes { node.storage[token].close(at: time) }
            }
            return busy
        }
    }

    /// Ends the sequences, and gives up the loads that are still in progress after a deadline; returns these as failures.
    @inline(never) private func endWaits(in nodes: [Node]) -> [CloseError.Failure] {
        var effects = Effects()
        let (late, sequences) = family.lock.withLock { token in
            var (late, sequences): ([(load: Load, task: Task<Void, Never>?, deadline: Duration)], [Observer]) = ([], [])
            for node in nodes {
                for cell in node.storage.cells(token) {
                    if let follower = cell.place?[token].rare?.follower.value { sequences += follower.sequences(token) }
                }
            }
            let known = ObjectSet(nodes.filter { $0.isOverdue(token) })
            for load in known.isEmpty ? [] : family.loads(token) where known.contains(load.node) {
                let deadline = load.node.storage[token].rare!.closing.overdue!
                late.append((load, load.giveUp(token, at: deadline, &effects), deadline))
            }
            return (late, sequences)
        }
        for (_, task, _) in late { task?.cancel() }
        effects.wakeWaiters()
        // A closer may wait for a task that reads a sequence, of any of these containers.
        for sequence in sequences { sequence.cancel() }
        return late.map { (feature: $0.load.key.name, error: CloseError.exceeded($0.deadline), name: $0.load.key.name) }
    }

    /// Ends what runs in the containers, for all closings that wait for it: the deadline is over.
    @inline(never) private func expire() {
        guard let deadline else { return }
        var effects = Effects()
        let runs = family.lock.withLock { token in
            node.subtree(token).flatMap { node -> [Teardown] in
                guard let rare = node.storage[token].rare, rare.closing.calls > 0 else { return [] }
                rare.closing.overdue = deadline
                node.wakeIdle(token, &effects)
                return rare.closing.runs.all
            }
        }
        for run in runs { run.expire(deadline) }
        effects.wakeWaiters()
    }

    /// Closes one container, after its children: runs all closers, dependents before what they depend on, its own last.
    @inline(never) private func close(_ node: Node) async -> [CloseError.Failure] {
        await wait(at: node) { token in node.storage[token].more().closing.claim() }
        var failures: [CloseError.Failure] = []
        repeat {
            var last: Teardown?
            while let next = take(from: node, after: last) {
                for error in await next.run(under: caller, atOnce: deadline == nil) {
                    let feature = next.key?.name
                    let name = feature ?? (node === self.node ? Messages.closedName : Messages.boxName(node.number))
                    failures.append((feature: feature, error: error, name: name))
                }
                _ = next.takeUses()
                last = next
            }
        } while !end(node)
        return failures
    }

    /// Returns the closers that run next, or releases the features of the container if there are none left.
    @inline(never) private func take(from node: Node, after last: Teardown?) -> Teardown? {
        var effects = Effects()
        let next = family.lock.withLock { token in
            let rare = node.storage[token].more()
            if let last { rare.closing.runs.remove(last) }
            let next = rare.closing.takeNext(of: node)
            if next == nil { node.finishClosing(token, &effects) }
            return next
        }
        effects.perform()
        return next
    }

    /// Ends the closing of one container, unless there are closers again, and returns whether it did.
    @inline(never) private func end(_ node: Node) -> Bool {
        var effects = Effects()
        let (isDone, isReleased) = family.lock.withLock { token in
            let rare = node.storage[token].more()
            if rare.closing.hasListed { return (false, false) }
            rare.closing.isClaimed = false
            rare.closing.calls -= 1
            if rare.closing.calls == 0 { rare.closing.overdue = nil }
            node.wakeIdle(token, &effects)
            return (true, node.storage[token].isReleased)
        }
        effects.wakeWaiters()
        if isReleased { node.end(isReleased: false) }
        return isDone
    }

    /// Returns when a condition is met, which the end of work in progress or of another call may have changed.
    @inline(never) private func wait(at node: Node, until isMet: (LockToken) -> Bool) async {
        while true {
            let waiter = family.lock.withLock { token -> Waiter? in
                if isMet(token) { return nil }
                let waiter = Waiter()
                node.storage[token].more().closing.idleWaiters.append(waiter)
                return waiter
            }
            guard let waiter else { return }
            await waiter.wait()
        }
    }
}
