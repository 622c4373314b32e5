/// A closer that `onClose` registered.
struct Closer: Sendable {
    let close: @Sendable () async throws -> Void
}

/// The lifetime of an instance that has closers, or has an input with a lifetime.
///
/// Its place and its dependents keep it. When the last one releases it, the instance has left, and its closers run.
final class Lifetime: Sendable {
    let teardown: Teardown

    /// - `isLate`: Whether the closing that runs in the home leaves the closers to another one.
    init(_ token: LockToken, _ key: Key, home: Node, closers: [Closer], uses: [Lifetime], isLate: Bool = false) {
        teardown = Teardown(key, home: home, closers: closers, uses: uses)
        guard teardown.hasClosers else { return }
        let rare = home.storage[token].more()
        if isLate { rare.lateTeardowns.append(teardown) } else { rare.teardowns.append(teardown) }
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
final class Teardown: Sendable {
    let key: Key
    private let home: Node
    /// The closers, last registered first.
    let closers: [Closer]
    /// The lifetimes of the inputs, which are needed until the closers have run.
    private let uses: Locked<[Lifetime]>

    fileprivate init(_ key: Key, home: Node, closers: [Closer], uses: [Lifetime]) {
        self.key = key
        self.home = home
        self.closers = closers.reversed()
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

    /// Lets the closers run in a task, after those of what left before, unless a closing has taken or will take them.
    @inline(never) fileprivate func leave() {
        let family = home.family
        let leaver: (frame: Frame, former: Wait?)? = family.lock.withLock { token in
            guard let rare = home.storage[token].rare,
                rare.dueClosings == 0 && rare.teardowns.remove(self)
                    || rare.dueClosings == 1 && rare.lateTeardowns.remove(self)
            else { return nil }
            let frame = Frame(.closer, in: family, nil, under: nil, within: nil)
            let former = home.ancestor(at: 0).leaver(token)?.beginWait(token, for: frame)
            for node in home.path { node.storage[token].more().lastLeaver = frame }
            return (frame, former)
        }
        guard let (frame, former) = leaver else { return }
        Task.detached { [self] in
            await former?.suspend()
            for error in await closers.run(of: key, in: home, under: frame, isLeaver: true) {
                family.reports.report(Messages.closerFailed(of: key, error))
            }
            _ = takeUses()
            frame.end()
        }
    }
}

extension Node {
    /// Whether there are closers that haven't finished, for a closing to run or await.
    func hasClosers(_ token: LockToken) -> Bool { storage[token].rare?.hasClosers == true || leaver(token) != nil }

    /// Returns the frame of the instance that has left last, from here or below, unless its closers have finished.
    fileprivate func leaver(_ token: LockToken) -> Frame? {
        storage[token].rare?.lastLeaver.flatMap { $0.isFinished ? nil : $0 }
    }
}

extension Family {
    /// Notes the call of a leaver's closer that runs.
    @inline(never) fileprivate func note(_ call: CloserCall?) {
        var garbage = Garbage()
        lock.withLock { token in state[token].leaverCall.set(call, &garbage) }
        garbage.dispose()
    }

    /// Returns the call that runs, or a new one if none does, unless the closers of a leaver have run.
    @inline(never) fileprivate func leaverCall(until last: Frame?) -> CloserCall? {
        lock.withLock { token in
            last.flatMap { $0.isFinished ? nil : state[token].leaverCall.value ?? CloserCall(in: $0) }
        }
    }
}

extension [Closer] {
    /// Runs the closers of an instance or, without a key, of a container, and returns their errors.
    ///
    /// - `isLeaver`: Whether closings can end the calls.
    @inline(never) fileprivate func run(
        of key: Key?, in node: Node, under frame: Frame, _ deadline: Duration? = nil, isLeaver: Bool = false
    ) async -> [any Error] {
        let span = ClosingSpan(node)
        let frame = Frame(.closer, in: node.family, node, key, under: frame, within: nil)
        var errors: [any Error] = []
        for closer in self {
            let call = CloserCall(in: frame)
            if isLeaver { node.family.note(call) }
            if let error = await call.run(closer, deadline, isLeaver: isLeaver) { errors.append(error) }
            if isLeaver { node.family.note(nil) }
        }
        frame.end()
        if let key { span.end(key, errors.last) }
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
    /// Returns the failures of closers.
    func runClose(_ deadline: Duration?) async throws -> [CloseError.Failure] {
        tell(.closed)
        #if DEBUG
        // What keeps the container beyond its operation is noticed when it reads.
        if case .owner = role { watchEveryAccess() }
        #endif
        let node = node
        let span = ClosingSpan(node)
        if node.closeAtOnce() {
            span.end(nil, nil)
            return []
        }
        let frame = Frame(.closing, in: node.family, node, under: Frame.current, within: nil)
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
    /// Closes the container if there's nothing to wait for and neither a closer nor an observer, and returns whether it did.
    fileprivate func closeAtOnce() -> Bool {
        var effects = Effects()
        let isDone = family.lock.withLock { token in
            guard !hasChildren(token), storage[token].inProgress == 0, storage[token].rare?.closing == nil,
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
        for cell in storage.cells(token) where cell.key.kind != .property {
            if cell.has(CellFlags.loaded), let place = cell.place {
                effects.drop(token, place)
            } else if cell.code(token) != nil {
                cell.place?[token].rare?.replacement.set(nil, &effects.garbage)
                effects.garbage.add(cell.clear(at: family.state[token].tick()))
                cell.place?.link(token)
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

    private var family: Family { node.family }

    func run() async -> Result<[CloseError.Failure], any Error> {
        var waits: [Frame] = []
        // Those that aren't closed yet.
        var nodes: [Node] = []
        // The last leavers of the nodes: what leaves after them is left to this closing, or was loaded by others.
        var leavers = WordTable<ObjectIdentifier, Frame>()
        defer {
            for target in waits { Waits.remove(frame, for: target) }
            frame.end()
        }
        do {
            var failures: [CloseError.Failure] = []
            // Loads that began before, and what they need, finish first. They may make further children.
            while case let (more, loads) = try refuseLoads(besides: nodes, &waits, &leavers), !more.isEmpty {
                nodes += more
                failures += await awaitLoads(loads, of: more)
            }
            try await begin(node, as: frame, leavers[ObjectIdentifier(node)])
            // A closer may wait for a task that reads a sequence, of any of these containers.
            let sequences = family.lock.withLock { token in
                nodes.flatMap { $0.storage.cells(token).compactMap { $0.place?[token].rare?.follower.value } }
                    .flatMap { $0.sequences(token) }
            }
            for sequence in sequences { sequence.cancel() }
            // The youngest first: a child is younger than its parent.
            nodes.sort { $0.number < $1.number }
            while let node = nodes.last {
                failures += try await close(node, leavers[ObjectIdentifier(node)])
                nodes.removeLast()
            }
            return .success(failures)
        } catch {
            family.lock.withLock { token in for node in nodes { leaveRest(token, of: node, frame) } }
            for node in nodes { end(node, frame) }
            return .failure(error)
        }
    }

    /// Refuses new loads in the container and its descendants, and returns those that aren't known yet, with their loads in progress.
    ///
    /// What leaves from now on is left to this closing.
    ///
    /// - Throws: `CloseError`, before anything is refused, if what the closing has to wait for waits for it.
    @inline(never)
    private func refuseLoads(
        besides known: [Node], _ waits: inout [Frame], _ leavers: inout WordTable<ObjectIdentifier, Frame>
    ) throws -> (nodes: [Node], loads: [Frame]) {
        let known = ObjectSet(known)
        return try family.lock.withLock { token in
            let nodes = node.subtree(token).filter { !known.contains($0) }
            let busy = ObjectSet(nodes.filter { $0.storage[token].inProgress > 0 })
            // Any load that begins from now on is needed by one of these.
            let loads = busy.isEmpty ? [] : family.loads(token).filter { busy.contains($0.node!) }
            let rare = nodes.compactMap { $0.storage[token].rare }
            var seen = ObjectSet(loads)
            let joined = rare.flatMap { $0.joined.all.compactMap(\.load) }.filter { seen.insert($0) }
            for node in nodes { leavers[ObjectIdentifier(node)] = node.leaver(token) }
            var left = nodes.compactMap { leavers[ObjectIdentifier($0)] }.filter { seen.insert($0) }
            // All wait for the one that runs, which would be found only behind all others.
            if !left.isEmpty, let call = family.state[token].leaverCall.value { left.insert(call.frame, at: 0) }
            let targets = left + loads + joined + rare.compactMap(\.closing)
            if Waits.add(frame, for: targets) != nil { throw waitsForItself }
            waits += targets
            for node in nodes {
                node.storage[token].advance(to: .refusing)
                node.storage[token].more().dueClosings += 1
            }
            // From the moment when all are known, a further child is made closed.
            if nodes.isEmpty, node.storage[token].rare?.closing == nil { node.storage[token].more().closing = frame }
            return (nodes, loads)
        }
    }

    /// Returns when nothing is in progress in some containers, or after the deadline.
    ///
    /// Returns the loads that exceed the deadline, whose instances won't be kept.
    @inline(never) private func awaitLoads(_ loads: [Frame], of nodes: [Node]) async -> [CloseError.Failure] {
        let end = Closer {
            for node in nodes { await awaitIdle(node) }
        }
        guard let error = await CloserCall(in: frame).run(end, deadline) else { return [] }
        return loads.compactMap { load in
            let name = load.key!.name
            return load.isFinished ? nil : (feature: name, error: error, name: name)
        }
    }

    /// The error if something for which the closing would wait waits for the load or the closer that calls it.
    private var waitsForItself: CloseError {
        let caller = frame.chain.first { $0.kind == .load || $0.kind == .closer }
        return .waitsForItself(caller?.key?.name, isLoad: caller?.kind == .load)
    }

    /// Closes one container, after its children: runs all closers, dependents before what they depend on, its own last.
    ///
    /// - `leaver`: The last one of the container.
    @inline(never) private func close(_ node: Node, _ leaver: Frame?) async throws -> [CloseError.Failure] {
        let frame = node === self.node ? frame : Frame(.closing, in: family, node, under: frame, within: nil)
        defer { if node !== self.node { frame.end() } }
        try await begin(node, as: frame, leaver)
        // Wait for leavers while their inputs are still there.
        let wait = family.lock.withLock { token in
            leaver.flatMap { $0.isFinished ? nil : $0.beginWait(token, for: nil) }
        }
        if let wait { await limitingLeavers(until: leaver) { await wait.suspend() } }
        var failures: [CloseError.Failure] = []
        while true {
            var effects = Effects()
            guard let (closers, teardown) = takeClosers(of: node, frame, &effects) else {
                effects.perform()
                end(node, frame)
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

    /// Ends the closing of one container, also before its closers have run.
    private func end(_ node: Node, _ frame: Frame) {
        family.lock.withLock { token in
            if let rare = node.storage[token].rare, rare.closing === frame { rare.closing = nil }
        }
        node.end(isReleased: false)
    }

    /// Begins to close a container in a frame, after other closings that do; meanwhile, limits the leavers.
    @inline(never) private func begin(_ node: Node, as frame: Frame, _ leaver: Frame?) async throws {
        @inline(never) func next() throws -> Wait? {
            try family.lock.withLock { token in
                let rare = node.storage[token].more()
                guard let other = rare.closing, other !== frame else {
                    rare.closing = frame
                    return nil
                }
                guard let wait = other.beginWait(token, for: self.frame) else { throw waitsForItself }
                return wait
            }
        }
        while let wait = try next() { await limitingLeavers(until: leaver) { await wait.suspend() } }
    }

    /// Returns the closers of the instance that ended loading last or, if there's none left, the container's own; closes the
    /// container if it has no closer left, including those that other closers registered.
    @inline(never)
    private func takeClosers(
        of node: Node, _ frame: Frame, _ effects: inout Effects
    ) -> (closers: [Closer], Teardown?)? {
        family.lock.withLock { token in
            let rare = node.storage[token].more()
            if let teardown = rare.teardowns.last {
                rare.teardowns.remove(teardown)
                return (teardown.closers, teardown)
            }
            let closers = rare.closers.takeAll()
            if !closers.isEmpty { return (closers.reversed(), nil) }
            node.finishClosing(token, &effects)
            leaveRest(token, of: node, frame)
            return nil
        }
    }

    /// Leaves the closers that are listed from now on to another closing, and those of what others have loaded meanwhile.
    private func leaveRest(_ token: LockToken, of node: Node, _ frame: Frame) {
        let rare = node.storage[token].more()
        rare.dueClosings -= 1
        guard rare.closing === frame else { return }
        // What loads from now on isn't left to this closing; others still wait until it has released everything.
        frame.markFinished()
        for late in rare.lateTeardowns.takeAll() { rare.teardowns.append(late) }
    }

    /// Returns when `wait` does; meanwhile, limits each call of a leaver's closer to the deadline, from now or from its beginning,
    /// until the closers of `last` have run.
    @inline(never) private func limitingLeavers(until last: Frame?, _ wait: () async -> Void) async {
        let start = ContinuousClock.now
        let limit = deadline.map { deadline in
            Task {
                while !Task.isCancelled, let call = family.leaverCall(until: last) {
                    await call.end(after: deadline, from: start)
                }
            }
        }
        await wait()
        limit?.cancel()
    }

    @inline(never) private func awaitIdle(_ node: Node) async {
        while true {
            let waiter = Waiter()
            let isDone = family.lock.withLock { token in
                if node.storage[token].inProgress == 0 { return true }
                node.storage[token].more().idleWaiters.append(waiter)
                return false
            }
            if isDone { return }
            await waiter.wait()
        }
    }
}
