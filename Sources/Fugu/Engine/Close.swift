/// A closer that `onClose` registered.
struct Closer: Sendable {
    let close: @Sendable () async throws -> Void
    /// The task that the closer ends, and that begins once the instance is kept.
    var task: OwnedTask?
}

/// A task that belongs to an instance or a container.
final class OwnedTask: News {
    private enum State { case waiting, running(Task<Void, Never>), ended }

    private let state = Locked(State.waiting)
    private let priority: TaskPriority?
    private let operation: @Sendable () async -> Void

    init(_ priority: TaskPriority?, _ operation: @escaping @Sendable () async -> Void) {
        self.priority = priority
        self.operation = operation
    }

    // A container that is released without being closed runs no closers.
    deinit { if case .running(let task) = state.withLock({ $0 }) { task.cancel() } }

    /// Begins the task, unless it has ended.
    func begin() {
        state.withLock { state in
            guard case .waiting = state else { return }
            state = .running(Task.detached(priority: priority) { [operation] in await operation() })
        }
    }

    /// Begins the task at the end of the load that has started it, if the instance is kept.
    func tell() { begin() }

    /// Ends the task, or keeps it from beginning.
    func end() async {
        let task: Task<Void, Never>? = state.withLock { state in
            defer { state = .ended }
            if case .running(let task) = state { return task } else { return nil }
        }
        task?.cancel()
        await task?.value
    }
}

/// The lifetime of an instance that has closers, or has an input with a lifetime.
///
/// Its place and its dependents keep it. When the last one releases it, the instance has left, and its closers run.
final class Lifetime: Sendable {
    let teardown: Teardown

    /// - `time`: When the load began, if closings that have begun before leave the instance to others; otherwise, 0.
    init(_ token: LockToken, _ key: Key, home: Node, closers: [Closer], uses: [Lifetime], leftSince time: UInt64 = 0) {
        teardown = Teardown(key, home: home, closers: closers, uses: uses, leftSince: time)
        guard teardown.hasClosers else { return }
        let rare = home.storage[token].more()
        if time == 0, rare.closing.taken != nil {
            rare.closing.taken!.append(teardown)
        } else {
            rare.closing.teardowns.append(teardown)
        }
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

/// The closers of an instance, which its home lists until somebody takes them to run them.
final class Teardown: WordIdentifier {
    let key: Key
    fileprivate let home: Node
    /// The closers, last registered first.
    let closers: [Closer]
    /// When the load began, if closings that have begun before leave the instance to others; otherwise, 0.
    fileprivate let time: UInt64
    /// The lifetimes of the inputs, which are needed until the closers have run.
    private let uses: Locked<[Lifetime]>

    fileprivate init(_ key: Key, home: Node, closers: [Closer], uses: [Lifetime], leftSince time: UInt64) {
        self.key = key
        self.home = home
        self.closers = closers.reversed()
        self.time = time
        self.uses = Locked(uses)
    }

    var hasClosers: Bool { !closers.isEmpty }

    /// Removes and returns the lifetimes of the inputs, to be released outside the lock.
    @inline(never) func takeUses() -> [Lifetime] {
        uses.withLock { uses in
            defer { uses = [] }
            return uses
        }
    }

    /// Lets the closers run in a task, unless a closing has taken them, or will.
    @inline(never) fileprivate func leave() {
        let leaver = home.family.lock.withLock { token -> Leaver? in
            guard let rare = home.storage[token].rare, rare.closing.stage ?? .running >= .running,
                rare.closing.teardowns.remove(self)
            else { return nil }
            let leaver = Leaver(self)
            for node in home.path { node.storage[token].more().closing.leavers.append(leaver) }
            return leaver
        }
        if let leaver { Task.detached { await leaver.run() } }
    }
}

/// An instance that has left, whose closers run.
///
/// Its home and those above list it until that's over, so that their closings wait.
final class Leaver: WordIdentifier {
    let teardown: Teardown
    /// Ends with the closers.
    let frame: Frame
    /// The call that runs.
    private let call = Locked<CloserCall?>(nil)

    fileprivate init(_ teardown: Teardown) {
        self.teardown = teardown
        frame = Frame(.closer, in: teardown.home.family, nil, under: nil, within: nil)
    }

    fileprivate func run() async {
        let home = teardown.home
        for error in await teardown.closers.run(of: teardown.key, in: home, under: frame, leaver: self) {
            home.family.reports.report(Messages.closerFailed(of: teardown.key, error))
        }
        // Inputs that leave now are listed before this one is no longer.
        _ = teardown.takeUses()
        home.family.lock.withLock { token in
            for node in home.path { node.storage[token].rare?.closing.leavers.remove(self) }
        }
        frame.end()
    }

    fileprivate func note(_ call: CloserCall) { self.call.withLock { $0 = call } }

    /// Limits each call to a deadline, from `start` or from its beginning, until the closers have run.
    fileprivate func limit(to deadline: Duration, from start: ContinuousClock.Instant) async {
        while !Task.isCancelled, !frame.isFinished {
            await (call.withLock { $0 } ?? CloserCall(in: frame)).end(after: deadline, from: start)
        }
    }
}

extension Node {
    /// Whether there are closers that haven't finished, for a closing to run or await.
    func hasClosers(_ token: LockToken) -> Bool { storage[token].rare?.closing.hasClosers == true }

    /// Counts a load that was requested here, or a read that waits here for one; a closing waits for its end.
    func beginWork(_ token: LockToken) { storage[token].inProgress += 1 }

    func endWork(_ token: LockToken, _ effects: inout Effects) {
        storage[token].inProgress -= 1
        guard storage[token].inProgress == 0, let rare = storage[token].rare else { return }
        effects.wake(rare.closing.idleWaiters)
        rare.closing.idleWaiters = []
    }

    /// Counts a read that waits here for a load that another one has begun; a closing finds out what it waits for.
    func addJoined(_ token: LockToken, _ waiter: Waiter) {
        beginWork(token)
        storage[token].more().closing.joined.append(waiter)
    }

    func removeJoined(_ token: LockToken, _ waiter: Waiter, _ effects: inout Effects) {
        storage[token].rare?.closing.joined.remove(waiter)
        endWork(token, &effects)
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
        let id = ObjectIdentifier(lifetime)
        holder.storage[token].more().closing.reads.grow { if !$0.contains(id) { $0[id] = lifetime } }
    }

    /// Whether the container, which is closed or being closed, refuses a reader that isn't part of a load that began before.
    func refuses(_ token: LockToken, _ reader: Frame?) -> Bool {
        guard storage[token].isRefusing else { return false }
        guard let reader else { return true }
        var closed = self
        while let parent = closed.parent, parent.storage[token].isRefusing { closed = parent }
        return !reader.chain.contains { $0.load.map { !$0.facts.isLate && $0.node.isWithin(closed) } ?? false }
    }
}

extension [Closer] {
    /// Runs the closers of an instance or, without a key, of a container, and returns their errors.
    ///
    /// - `leaver`: The instance that has left, whose calls closings can end.
    @inline(never) fileprivate func run(
        of key: Key?, in node: Node, under frame: Frame, _ deadline: Duration? = nil, leaver: Leaver? = nil
    ) async -> [any Error] {
        let start = node.family.isHeard ? ProcessTime.now : nil
        let frame = Frame(.closer, in: node.family, node, key, under: frame, within: nil)
        var errors: [any Error] = []
        for closer in self {
            // What can't be abandoned needs no task of its own.
            if deadline == nil, leaver == nil {
                do {
                    try await Context.run(nil, frame) { try await closer.close() }
                } catch { errors.append(error) }
                continue
            }
            let call = CloserCall(in: frame)
            leaver?.note(call)
            if let error = await call.run(closer, deadline, isLeaver: leaver != nil) { errors.append(error) }
        }
        frame.end()
        if let key, let start { node.family.emit(.closed(key, node, since: start, errors.last)) }
        return errors
    }
}

/// A call of a closer in a separate task, which can be abandoned.
final class CloserCall: Sendable {
    fileprivate let frame: Frame
    private let start = ContinuousClock.now
    private let outcome = Locked<Result<Void, any Error>?>(nil)
    private let waiter = Waiter()

    init(in frame: Frame) { self.frame = frame }

    /// Runs the closer.
    ///
    /// Returns the error that it threw, or an error if it exceeded its deadline.
    @inline(never) func run(_ closer: Closer, _ deadline: Duration?, isLeaver: Bool = false) async -> (any Error)? {
        // What can't be abandoned begins here, so that a closer that doesn't suspend needs no hop to another thread.
        let work = Task.start(atOnce: deadline == nil && !isLeaver) { [self] in
            do {
                try await Context.run(nil, frame) { try await closer.close() }
                end(.success(()))
            } catch {
                end(.failure(error))
            }
        }
        let alarm = deadline.map { deadline in Task { await end(after: deadline, from: start) } }
        await waiter.wait()
        work.cancel()
        alarm?.cancel()
        if case .failure(let error) = outcome.withLock({ $0 }) { return error }
        return nil
    }

    /// Ends the call with an error, unless it ends before, or the task is canceled.
    @inline(never) func end(after deadline: Duration, from time: ContinuousClock.Instant) async {
        do { try await Task.sleep(until: max(start, time) + min(deadline, .longest)) } catch { return }
        end(.failure(CloseError.exceeded(deadline)))
    }

    /// Ends the call; only the first outcome counts.
    private func end(_ ended: Result<Void, any Error>) {
        outcome.withLock { if $0 == nil { $0 = ended } }
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
    /// - `isOperation`: Whether the operation of the container has ended, so that its readers don't wait any longer.
    func close(_ deadline: Duration?, isOperation: Bool) async throws {
        let failures = try await runClose(deadline, isOperation)
        guard failures.isEmpty else { throw CloseError(failures: failures) }
    }

    /// Returns the failures of closers.
    private func runClose(_ deadline: Duration?, _ isOperation: Bool) async throws -> [CloseError.Failure] {
        note(.closed)
        let node = node
        let start = node.family.isHeard ? ProcessTime.now : nil
        func end(_ failures: [CloseError.Failure]) -> [CloseError.Failure] {
            let error = failures.isEmpty ? nil : CloseError(failures: failures)
            if let start { node.family.emit(.closed(nil, node, since: start, error)) }
            return failures
        }
        if node.closeAtOnce() { return end([]) }
        let caller = Frame.current
        if let frame = caller?.chain.first(where: node.waits(for:)) {
            throw CloseError.waitsForItself(frame.key?.name, isLoad: frame.kind == .load)
        }
        let frame = Frame(.closing, in: node.family, node, under: caller, within: nil)
        let closing = Closing(node: node, frame: frame, deadline: deadline, isOperation: isOperation)
        // Canceling the caller doesn't cancel the closing, whose closers must not block the caller's actor.
        let task = Task.startDetached(atOnce: !Task.isOnActor(#isolation)) { await closing.run() }
        let result = await task.value
        return end(result)
    }
}

/// How far a closing has come in a node.
enum ClosingStage: Comparable {
    /// It refuses loads, and waits for those that began before; these may make children.
    case waiting
    /// It knows its nodes, and comes to this one in its turn.
    case due
    /// It has taken the closers.
    case running
    /// It has run them, and releases the instances.
    case releasing
}

/// What a node has for its closing, and for what it waits.
struct ClosingState {
    /// The closers that were registered outside loads.
    var closers = Kept<[Closer]>([])
    /// How far the closing has come that has begun here, or will; meanwhile, the node doesn't end.
    var stage: ClosingStage?
    /// The frame of the closing that others wait for, from when it comes to the node until it has released everything there.
    var claimant: Frame?
    /// The closers of instances, in the order in which these ended loading; whoever removes one keeps it.
    var teardowns = SparseList<Teardown>()
    /// Those that the closing has taken, while it runs here.
    var taken: SparseList<Teardown>?
    /// What has left this node or one below, while its closers run.
    var leavers = SparseList<Leaver>()
    var hasClosers: Bool { !closers.value.isEmpty || !teardowns.isEmpty || taken != nil || !leavers.isEmpty }
    /// The lifetimes of what an operation has read, until it's closed.
    var reads = Kept<WordTable<ObjectIdentifier, Lifetime>>(WordTable())
    /// The waits of reads here for loads that other reads have begun, here or elsewhere.
    var joined = SparseList<Waiter>()
    /// The tasks that wait until no load is in progress here, or for the end of a closing.
    var idleWaiters: [Waiter] = []
    /// Whether something was loaded after the closing.
    var hasLoadedLate = false

    /// Takes the closers that run next: those of the instance that ended loading last or, if there's none left, the container's own,
    /// including those that other closers registered.
    mutating func takeNext() -> (closers: [Closer], Teardown?)? {
        if let teardown = taken?.last {
            taken?.remove(teardown)
            return (teardown.closers, teardown)
        }
        let own = closers.takeAll()
        return own.isEmpty ? nil : (own.reversed(), nil)
    }
}

extension Node {
    /// Whether a closing of this container would wait for the end of a frame.
    fileprivate func waits(for frame: Frame) -> Bool {
        (frame.kind == .load || frame.kind == .closer) && frame.node?.isWithin(self) == true
    }

    /// Closes the container if there's nothing to wait for and neither a closer nor an observer, and returns whether it did.
    fileprivate func closeAtOnce() -> Bool {
        var effects = Effects()
        let isDone = family.lock.withLock { token in
            guard !hasChildren(token), storage[token].inProgress == 0, storage[token].rare?.closing.stage == nil,
                !hasClosers(token)
            else { return false }
            if storage.cells(token).contains(where: { $0.place?[token].rare?.follower.value != nil }) { return false }
            finishClosing(token, &effects)
            return true
        }
        effects.perform()
        return isDone
    }

    /// Marks the container as closed, and releases the features that were loaded or set here.
    fileprivate func finishClosing(_ token: LockToken, _ effects: inout Effects) {
        storage[token].advance(to: .closed)
        storage[token].isOperation = false
        if let rare = storage[token].rare, !rare.closing.reads.value.isEmpty {
            rare.closing.reads.replace(by: WordTable(), &effects.garbage)
        }
        for cell in storage.cells(token) where cell.key.kind != .property {
            if cell.has(CellFlags.loaded), let place = cell.place {
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
    let frame: Frame
    /// How long each closer may take.
    let deadline: Duration?
    /// Whether the operation of the container has ended, so that its readers don't wait any longer.
    let isOperation: Bool

    private var family: Family { node.family }

    func run() async -> [CloseError.Failure] {
        var nodes: [Node] = []
        var failures: [CloseError.Failure] = []
        // What others load from now on is left to another call.
        let begun = family.lock.withLock { token in family.state[token].tick() }
        // Loads that began before, and what they need, finish first. They may make further children.
        var isBusy = true
        while isBusy {
            let (more, loads) = refuseLoads(besides: nodes)
            nodes += more
            isBusy = loads != nil
            if let loads { failures += await awaitLoads(loads, of: more) }
        }
        // A closer may wait for a task that reads a sequence, of any of these containers.
        let sequences = family.lock.withLock { token in
            nodes.flatMap { $0.storage.cells(token).compactMap { $0.place?[token].rare?.follower.value } }
                .flatMap { $0.sequences(token) }
        }
        for sequence in sequences { sequence.cancel() }
        // The youngest first: a child is younger than its parent.
        nodes.sort { $0.number < $1.number }
        while let node = nodes.last {
            failures += await close(node, begun)
            nodes.removeLast()
        }
        frame.end()
        return failures
    }

    /// Refuses new loads in the container and its descendants, and returns those that aren't known yet, and their loads in
    /// progress, or `nil` if nothing is in progress there.
    @inline(never) private func refuseLoads(besides known: [Node]) -> (nodes: [Node], loads: [Load]?) {
        let former = ObjectSet(known)
        return family.lock.withLock { token in
            let nodes = node.subtree(token).filter { !former.contains($0) }
            let busy = nodes.filter { $0.storage[token].inProgress > 0 }
            for node in nodes { node.storage[token].advance(to: .refusing) }
            // Any load that begins from now on is needed by one of those in progress. Once there are none, a further child is made
            // closed.
            let stage = busy.isEmpty ? ClosingStage.due : .waiting
            for node in known + nodes {
                let rare = node.storage[token].more()
                rare.closing.stage = max(rare.closing.stage ?? stage, stage)
            }
            return (nodes, busy.isEmpty ? nil : loads(token, in: busy))
        }
    }

    /// Returns the loads in progress that were requested in some containers.
    private func loads(_ token: LockToken, in nodes: [Node]) -> [Load] {
        if nodes.isEmpty { return [] }
        let nodes = ObjectSet(nodes)
        return family.loads(token).filter { nodes.contains($0.node) }
    }

    /// Returns when nothing is in progress in some containers, or after the deadline.
    ///
    /// Returns the loads that exceed the deadline, whose instances won't be kept.
    @inline(never) private func awaitLoads(_ loads: [Load], of nodes: [Node]) async -> [CloseError.Failure] {
        if isOperation { refuseReaders(in: nodes) }
        let end = Closer {
            for node in nodes { await awaitIdle(node) }
        }
        guard let error = await CloserCall(in: frame).run(end, deadline) else { return [] }
        refuseReaders(in: nodes)
        return loads.compactMap { load in
            let name = load.key.name
            return load.isFinished ? nil : (feature: name, error: error, name: name)
        }
    }

    /// Refuses the readers that wait in some containers, besides loads that began before: a load for which nothing else waits is
    /// canceled.
    ///
    /// A plain feature can't be refused.
    @inline(never) private func refuseReaders(in nodes: [Node]) {
        let refused = family.lock.withLock { token -> [(load: Load, waiter: Waiter)] in
            for node in nodes { node.storage[token].advance(to: .abandoning) }
            let first = loads(token, in: nodes).flatMap { load in
                // Only the one that has begun the load, if it's still there, waits for it without a load of another one.
                load.state[token].rare?.waiters.all.filter { $0.load == nil && load.node.refuses(token, load.parent) }
                    .map { (load, $0) } ?? []
            }
            let joined = nodes.flatMap { node in
                let waiters = node.storage[token].rare?.closing.joined.all ?? []
                return waiters.filter { node.refuses(token, $0.reader) }.map { ($0.load!, $0) }
            }
            return (first + joined).filter { $0.0.key.kind.throws }
        }
        for (load, waiter) in refused { load.refuse(waiter) }
    }

    /// Closes one container, after its children: runs all closers, dependents before what they depend on, its own last.
    @inline(never) private func close(_ node: Node, _ begun: UInt64) async -> [CloseError.Failure] {
        await begin(node, begun)
        var failures: [CloseError.Failure] = []
        while true {
            var effects = Effects()
            guard let (closers, teardown) = takeClosers(of: node, &effects) else {
                effects.perform()
                end(node)
                return failures
            }
            let key = teardown?.key
            for error in await closers.run(of: key, in: node, under: frame, deadline) {
                let name = key?.name ?? (node === self.node ? Messages.closedName : Messages.boxName(node.number))
                failures.append((feature: key?.name, error: error, name: name))
            }
            _ = teardown?.takeUses()
        }
    }

    /// Takes the closers of the instances of a container, after other closings that do, and after those of what has left it.
    @inline(never) private func begin(_ node: Node, _ begun: UInt64) async {
        let start = ContinuousClock.now
        while let (leavers, ends) = family.lock.withLock({ token in take(token, node, begun) }) {
            let limit = deadline.map { deadline in
                Task { for leaver in leavers { await leaver.limit(to: deadline, from: start) } }
            }
            for end in ends { await end.wait() }
            limit?.cancel()
        }
    }

    /// Takes the closers of the instances of a node, unless another closing runs there, or closers of what has left it still do;
    /// returns what has left, and waiters for the end of whichever comes first.
    @inline(never)
    private func take(_ token: LockToken, _ node: Node, _ begun: UInt64) -> (leavers: [Leaver], ends: [Waiter])? {
        let rare = node.storage[token].more()
        let leavers = rare.closing.leavers.all.filter { $0.teardown.time < begun }
        if let claimant = rare.closing.claimant, claimant !== frame {
            let waiter = Waiter()
            rare.closing.idleWaiters.append(waiter)
            return (leavers, [waiter])
        }
        rare.closing.claimant = frame
        if leavers.isEmpty {
            rare.closing.stage = .running
            rare.closing.taken = rare.closing.teardowns.take()
            return nil
        }
        return (leavers, leavers.map { $0.frame.addWaiter(token) })
    }

    /// Returns the closers that run next, or closes the container if there are none left.
    @inline(never)
    private func takeClosers(of node: Node, _ effects: inout Effects) -> (closers: [Closer], Teardown?)? {
        family.lock.withLock { token in
            let rare = node.storage[token].more()
            if let next = rare.closing.takeNext() { return next }
            node.finishClosing(token, &effects)
            // What loads from now on is left to another closing, which waits until everything is released.
            rare.closing.taken = nil
            rare.closing.stage = .releasing
            return nil
        }
    }

    /// Ends the closing of one container.
    private func end(_ node: Node) {
        let waiters = family.lock.withLock { token -> [Waiter] in
            let rare = node.storage[token].more()
            (rare.closing.stage, rare.closing.claimant) = (nil, nil)
            defer { rare.closing.idleWaiters = [] }
            return rare.closing.idleWaiters
        }
        for waiter in waiters { waiter.wake() }
        node.end(isReleased: false)
    }

    @inline(never) private func awaitIdle(_ node: Node) async {
        while true {
            let waiter = Waiter()
            let isDone = family.lock.withLock { token in
                if node.storage[token].inProgress == 0 { return true }
                node.storage[token].more().closing.idleWaiters.append(waiter)
                return false
            }
            if isDone { return }
            await waiter.wait()
        }
    }
}
