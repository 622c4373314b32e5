// A load, from its handle to its end.

/// A load: the work that loads a key for a node.
package struct Load: Equatable, Sendable {
    package let work: Work
    let state: FamilyLocked<LoadState>

    package static func == (one: Load, other: Load) -> Bool { one.work === other.work }

    // What is known when it begins never changes, so it needs no lock.
    @inline(__always) package var node: Node { state.unshared.facts.node }
    @inline(__always) package var key: Key { state.unshared.facts.key }
    @inline(__always) var home: Home { state.unshared.facts.home }
    @inline(__always) var floor: UnmanagedReference<Node>? { state.unshared.facts.floor }
    @inline(__always) var isReplaced: Bool { state.unshared.facts.isReplaced }
    @inline(__always) var reloads: Bool { state.unshared.facts.reloads }
    @inline(__always) var isExternal: Bool { state.unshared.facts.isExternal }
    @inline(__always) var isStandIn: Bool { state.unshared.facts.isStandIn }
    @inline(__always) package var expected: UnmanagedReference<Node> { state.unshared.facts.expected }
    @inline(__always) var begun: UInt64 { state.unshared.facts.begun }
    @inline(__always) var undeclared: [Key]? { state.unshared.facts.undeclared }
    package var family: Family { work.family }
    package var parent: Work? { work.parent }
    var isFinished: Bool { work.isFinished }

    /// The path from what needs it to its key, also once it has finished.
    package var way: [Key] { (parent?.way ?? []) + [key] }
}

extension Load {
    init(
        _ facts: consuming LoadFacts, asking container: UnmanagedReference<Container>, under parent: Work?,
        within own: Work?
    ) {
        let family = facts.node.family
        let state = FamilyLocked(LoadState(facts, .asking(container)))
        self.init(work: Work(.load(state), in: family, under: parent, within: own), state: state)
    }
}

/// What's known of a load when it begins.
struct LoadFacts: Sendable {
    let key: Key
    /// The node for which it's loaded.
    let node: Node
    /// The home that the feature declares.
    let home: Home
    /// The instance lives here or deeper: the node to which the feature declares to belong, or the nearest one that holds the key
    /// without a value.
    let floor: UnmanagedReference<Node>?
    /// Whether another loader than the feature's own loads.
    let isReplaced: Bool
    /// Whether a change of an input drops the instance, also one during the load.
    let reloads: Bool
    /// Whether the load reaches outside the process; not that of a value for tests, which a policy lets stand in.
    let isExternal: Bool
    /// Whether something is loaded in the feature's place, whose inputs don't count.
    let isStandIn: Bool
    /// The node in which the instance is expected to live.
    let expected: UnmanagedReference<Node>
    /// The time at which the load began.
    let begun: UInt64
    /// The keys of a declared home that doesn't count, because the reader doesn't see what lives there.
    let undeclared: [Key]?
}

/// A load's data.
///
/// The family's lock protects it, except for the facts.
struct LoadState {
    var inputs = Inputs()
    // Not the first field, whose address the thread sanitizer takes for that of the whole.
    let facts: LoadFacts
    /// Whether the load read a placeholder for a refused feature.
    ///
    /// Its instance is then neither kept nor given to waiters, so that each of them meets the failure.
    var isProvisional = false
    fileprivate(set) var handle: Handle
    /// What was noted when the load began, if somebody listened.
    var mark: LoadMark?
    #if DEBUG
    /// The time at which the load began.
    var start = Duration.zero
    #endif
    var rare: RareLoadState?

    /// What the handle stands for.
    enum Handle {
        /// The container that asked, while the load runs, for children made from the handle.
        ///
        /// The code that runs the load keeps it.
        case asking(UnmanagedReference<Container>)
        /// The node that it reads after the load.
        case home(UnmanagedReference<Node>)
    }

    fileprivate init(_ facts: consuming LoadFacts, _ handle: Handle) { (self.facts, self.handle) = (facts, handle) }

    /// Returns the rare state, creating it if necessary.
    mutating func more() -> RareLoadState { rare.orMade(RareLoadState()) }
}

/// State that few loads need.
///
/// The family's lock protects it.
final class RareLoadState {
    var waiters = SparseList<Waiter>()
    /// The closers that the load has registered.
    var closers = Kept<[Closer]>([])
    /// What it has needed in vain.
    var needs = Needs()
    /// The outcome for the waiters, which only they keep after the end: an instance may keep its handle, and thereby the work.
    var outcome: PendingOutcome?
    /// The task of an async load, once the one that began it waits for it.
    var task: Task<Void, Never>?
    /// The deadline at which a closing has given up the load.
    var overdue: Duration?
    /// The instance in doubt that the load may replace.
    var former: FormerInstance?
    /// That instance, once it's known that it stays.
    var kept: FormerInstance?

    @inline(never) init() {}

    /// Whether all waiters have left, so that the load is canceled.
    var isAbandoned: Bool { task != nil && waiters.isEmpty }
}

// MARK: Inputs

extension Load {
    /// Records that the load read a key from a cell of a node.
    @inline(__always)
    func record(_ token: LockToken, _ cell: CellReference, of owner: UnmanagedReference<Node>, as key: Key) {
        let depth = owner.depth
        guard !isFinished, depth <= node.depth else { return }
        if !cell.has(CellFlags.input) { cell.mark(CellFlags.input) }
        let place = cell.place
        let provenance = place?[token].provenance
        state[token].inputs.add(
            Input(
                key: key, time: cell.has(CellFlags.hasWord) ? cell.identity(token) : node.time(token, of: key),
                isKept: true, provenance: provenance,
                lifetime: provenance == nil ? nil : place?[token].lifetime.value), from: depth)
    }

    /// Records an input whose value was given to the load but not kept.
    func record(_ token: LockToken, _ outcome: LoadOutcome, of key: Key) {
        guard !isFinished, outcome.home.depth <= node.depth else { return }
        if outcome.isProvisional { state[token].isProvisional = true }
        let time = outcome.hasFailed && !outcome.isOld ? node.time(token, of: key) : Input.neverKept
        state[token].inputs.add(
            Input(key: key, time: time, isKept: false, provenance: outcome.provenance, lifetime: outcome.lifetime),
            from: outcome.home.depth)
    }

    /// Records a key that has no value: an external feature that was refused, or a setting that is missing or wrong.
    ///
    /// It counts as read from the root.
    package func recordMissing(_ token: LockToken, of key: Key, isProvisional: Bool = false) {
        guard !isFinished else { return }
        if isProvisional { state[token].isProvisional = true }
        let root = node.ancestor(at: 0)
        record(token, root.madeCell(token, key), of: UnmanagedReference(root), as: key)
    }

    /// Records an instance in doubt, which may go at its next load: what's made from it isn't kept.
    func record(_ token: LockToken, _ former: FormerInstance, at place: Place) {
        guard !isFinished else { return }
        state[token].isProvisional = true
        state[token].inputs.add(
            Input(
                key: place.key, time: former.time, isKept: true, provenance: place[token].provenance,
                lifetime: former.lifetime), from: place[token].node.depth)
    }

    /// Records a key of which the node sees nothing.
    func recordUnseen(_ token: LockToken, _ key: Key) {
        guard !isFinished else { return }
        state[token].inputs.add(
            Input(key: key, time: node.time(token, of: key), isKept: true, provenance: nil, lifetime: nil), from: 0)
    }

    /// Records where a key is held, whose value isn't read.
    func recordHeld(_ token: LockToken, _ key: Key) {
        guard let holder = node.path.first(where: { $0.holds(token, key) }) else {
            return recordMissing(token, of: key)
        }
        record(token, holder.madeCell(token, key), of: UnmanagedReference(holder), as: key)
    }

    /// Notes that what the load gives is only for its container.
    func noteLocal(_ token: LockToken) { if !isFinished { state[token].inputs.isLocal = true } }

    /// Whether any input has changed since it was read or, for another node than the load's, is another one there.
    func hasOldInputs(_ token: LockToken, for other: Node? = nil) -> Bool {
        if other == nil, family.state[token].now == begun { return false }
        return state[token].inputs.areOld(token, for: other ?? node)
    }

    /// Adds a closer, and returns whether the load was still running.
    func add(_ closer: Closer) -> Bool {
        family.lock.withLock { token in
            // Checked under the lock, where loads end, so that a closer that comes too late isn't lost.
            if isFinished { return false }
            state[token].more().closers.append(closer)
            return true
        }
    }

    /// The node that the handle reads and writes.
    var homeNode: Node {
        family.lock.withLock { token in
            if case .home(let home) = state[token].handle { home.object } else { node }
        }
    }

    /// The container that asked, while the load runs.
    var askedContainer: Container? {
        family.lock.withLock { token in
            if case .asking(let container) = state[token].handle { container.object } else { nil }
        }
    }
}

// MARK: The run

extension Load {
    /// Runs the load on this thread.
    ///
    /// Returns the result for the reader that began the load.
    func run(
        for container: Container, _ recorder: Load?, _ loader: (Container) throws -> Payload
    ) throws -> Payload {
        let view = Container(handle: self)
        family.emit(.began(self))
        let result: Result<Payload, any Error>
        do {
            result = .success(
                try Context.run(view, work) { reloads ? try reload(view, loader) : try loader(view) })
        } catch {
            result = .failure(error)
        }
        let (given, home) = endLoad(with: result, recorder)
        view.answers(from: home)
        work.deliver()
        return try given.get()
    }

    /// Begins the load in a separate task, which keeps the container that was asked.
    ///
    /// Returns a waiter for the end, or `nil` if the load has ended.
    ///
    /// - `mayRunHere`: Whether the load may run on this thread until it first suspends.
    // Inlined, since the compiler (6.3.1) otherwise makes a task that asks for its executor at each hop.
    @inline(__always)
    func start(
        for container: Container, mayRunHere: Bool,
        _ loader: @escaping @Sendable (Container) async throws -> Payload
    ) -> Waiter? {
        let task = Task<Void, Never>.start(atOnce: mayRunHere) { [self] in
            let view = Container(handle: self)
            family.emit(.began(self))
            let result: Result<Payload, any Error>
            do {
                // A load that every waiter left before it began doesn't begin, because another one may already be in progress.
                try Task.checkCancellation()
                result = .success(
                    try await Context.run(view, work) {
                        reloads ? try await reload(view, loader) : try await loader(view)
                    })
            } catch {
                result = .failure(error)
                // Close what the load opened before waiters are woken.
                await closeFailed()
            }
            view.answers(from: endLoad(with: result, nil).home)
            work.deliver()
            withExtendedLifetime(container) {}
        }
        if isFinished { return nil }
        let waiter = Waiter()
        let isOverdue: Bool? = family.lock.withLock { token in
            if isFinished { return nil }
            let rare = state[token].more()
            rare.task = task
            rare.waiters.append(waiter)
            return rare.overdue != nil || node.isOverdue(token)
        }
        guard let isOverdue else { return nil }
        if isOverdue { task.cancel() }
        return waiter
    }

    // MARK: Doubt

    /// The instance in doubt that the load replaces, if there's one.
    private var former: FormerInstance? { family.lock.withLock { token in state[token].rare?.former } }

    /// Loads unless there's an instance in doubt and what it was made from is the same.
    // A separate function, to keep the stack frames of nested loads small.
    @inline(never)
    private func reload(_ view: Container, _ loader: (Container) throws -> Payload) throws -> Payload {
        guard let former else { return try loader(view) }
        loadDeepInputs(view)
        return isUnchanged(former, view) ? former.payload : try keeping(former, loader(view))
    }

    private func reload(
        _ view: Container, _ loader: (Container) async throws -> Payload
    ) async throws -> Payload {
        guard let former else { return try await loader(view) }
        loadDeepInputs(view)
        if await isUnchanged(former, view) { return former.payload }
        // Asking may have failed because nobody waits any more.
        try Task.checkCancellation()
        return keeping(former, try await loader(view))
    }

    /// Loads some of the keys that a change has dropped together with this one, deepest first, so that no load nests deeply: the stack
    /// that a change needs must not grow with the length of a chain of features.
    private func loadDeepInputs(_ view: Container) {
        let keys = family.lock.withLock { token in
            func step(_ key: Key) -> (key: Key, inputs: ArraySlice<Key>) {
                (key, family.last(token, of: key)?.direct[...] ?? [])
            }
            var found: [Key] = []
            var seen: Set<Key> = [key]
            var way = [step(key)]
            while let last = way.indices.last {
                if let next = way[last].inputs.popFirst() {
                    guard seen.insert(next).inserted, case .missing = node.look(token, next) else { continue }
                    way.append(step(next))
                } else {
                    if last > 0, last.isMultiple(of: 32) { found.append(way[last].key) }
                    way.removeLast()
                }
            }
            return found
        }
        // Not through the handle: they aren't inputs.
        guard !keys.isEmpty, let container = view.owner else { return }
        for key in keys { _ = try? key.definition?.readNow(.reload, in: container) }
    }

    /// Asks for what a former instance was made from, as its load did, and returns whether all of it is the same.
    ///
    /// Otherwise, nothing that was read so far is an input.
    private func isUnchanged(_ former: FormerInstance, _ view: Container) -> Bool {
        let isSame = former.inputs.allSatisfy { input in
            if view.present(input.key, nil) == nil { _ = try? input.key.definition?.readNow(.reload, in: view) }
            return sees(input)
        }
        return note(isSame)
    }

    /// Does the same for a load that may suspend.
    private func isUnchanged(_ former: FormerInstance, _ view: Container) async -> Bool {
        var isSame = true
        for input in former.inputs where isSame {
            if view.present(input.key, nil) == nil { _ = try? await input.key.definition?.read(.reload, in: view) }
            isSame = sees(input)
        }
        return note(isSame)
    }

    /// Whether the node sees the same input, which the read has recorded.
    private func sees(_ input: (key: Key, time: UInt64)) -> Bool {
        family.lock.withLock { token in node.time(token, of: input.key) == input.time }
    }

    private func note(_ isSame: Bool) -> Bool {
        var garbage = Garbage()
        family.lock.withLock { token in
            guard isSame, let rare = state[token].rare else { return state[token].inputs.forget(&garbage) }
            rare.kept = rare.former
        }
        garbage.dispose()
        return isSame
    }

    /// Returns the former value if the new one equals it, and neither has teardown closures.
    private func keeping(_ former: FormerInstance, _ payload: Payload) -> Payload {
        // Another load may have replaced it meanwhile, whose instance may be in doubt by now.
        let current = family.lock.withLock { token in expected.use { $0.cell(token, key)?.place?.former(token) } }
        let former = current ?? former
        let isOpen = former.lifetime?.teardown.hasClosers ?? false
        if isOpen || !Equality(ofAny: key.valueType)(former.payload, payload) { return payload }
        let keeps = family.lock.withLock { token in
            guard let rare = state[token].rare, rare.closers.value.isEmpty else { return false }
            rare.kept = former
            return true
        }
        return keeps ? former.payload : payload
    }

    /// Runs the closers of a failed or canceled load.
    private func closeFailed() async {
        @inline(never) func take() -> Teardown? {
            family.lock.withLock { token in
                guard let closers = state[token].rare?.closers.takeAll(), !closers.isEmpty else { return nil }
                let run = Teardown(key, home: node, closers, overdue: overdue(token))
                node.addWork(token, run)
                return run
            }
        }
        // A child task of the load, or a closer, may register another one meanwhile.
        while let run = take() { await run.runAsWork(under: work, atOnce: true) }
    }

    /// Ends the load: keeps the instance, unless the key has another value, and wakes the waiters.
    ///
    /// Returns the result for the reader that began the load, and the node that the handle reads from now on.
    private func endLoad(
        with result: Result<Payload, any Error>, _ recorder: Load?
    ) -> (given: Result<Payload, any Error>, home: Node) {
        var effects = Effects(in: work)
        var given = result
        let error: (any Error)? = if case .failure(let thrown) = result { thrown } else { nil }
        let failedWay = error.map { [key] + work.way(to: $0) } ?? []
        let isCanceled = error is CancellationError
        let (home, isOutlived) = family.lock.withLock { token in
            if isStandIn { state[token].inputs.forget(&effects.garbage) }
            let outcome = LoadOutcome(token, of: self, failedWay: failedWay)
            state[token].handle = .home(UnmanagedReference(outcome.home))
            // What a closing has canceled gives its readers the reason.
            if isCanceled, node.isClosed(token) { given = .failure(LoadError.closed(way)) }
            let isLate = key.kind != .property && error == nil && node.refuses(token, work)
            // Finish first: as soon as the instance is in its cell, other threads may read through the handle that it kept.
            work.markFinished()
            effects.wake(state[token].rare?.waiters.takeAll() ?? [])
            let end = outcome.settle(token, &given, for: recorder, &effects)
            outcome.retire(token, &effects)
            family.emit(token, .ended(outcome, end, error), &effects)
            if case .kept = end { noteKept(token, outcome, &effects) }
            return (outcome.home, isLate && node.isFirstLate(token))
        }
        effects.perform()
        if isOutlived { family.reports.report(Messages.loadedAfterClosing(way)) }
        if let error, case .failure = given { parent?.needFailed(failedWay, error) }
        return (given, home)
    }

    /// Notes the beginning of a load, and its number unless that's 0.
    package func mark(_ token: LockToken, _ number: UInt64) {
        if key.kind == .property { return }
        state[token].mark = (number, state[token].mark?.start ?? ProcessTime.now)
    }

    /// What was noted when the load began.
    package func mark(_ token: LockToken) -> LoadMark? { state[token].mark }
}

// MARK: Waiters

extension Load {
    /// Adds a waiter for the end.
    func join(_ token: LockToken, _ waiter: Waiter) -> PendingOutcome {
        state[token].more().waiters.append(waiter)
        return pendingOutcome(token)
    }

    func pendingOutcome(_ token: LockToken) -> PendingOutcome {
        state[token].more().outcome.orMade(PendingOutcome(nil))
    }

    /// Notes that the load asks another container than that of its reader, and returns that.
    @inline(never)
    func asks(_ asked: Container) -> Container {
        family.lock.withLock { token in state[token].handle = .asking(UnmanagedReference(asked)) }
        return asked
    }

    /// Adds the load to the list of its key's loads.
    func begin(_ token: LockToken, in record: KeyRecord) {
        record.loads.append(work)
        expected.use { $0.place(token, key)[token].load = UnmanagedReference(work) }
        noteBegin(token)
        node.beginWork(token)
    }

    /// Returns when the load has ended.
    ///
    /// - Throws: `CancellationError` if the waiting task is canceled first.
    func await(_ waiter: Waiter) async throws {
        try await waiter.wait { [self] in withdraw(waiter) }
    }

    /// Removes a reader that no longer waits.
    ///
    /// When the last one leaves, the load is canceled, and the next reader begins a new one.
    private func withdraw(_ waiter: Waiter) {
        let task: Task<Void, Never>? = family.lock.withLock { token in
            if isFinished { return nil }
            state[token].rare?.waiters.remove(waiter)
            // Without a task, the one that began the load doesn't wait yet.
            guard state[token].rare?.isAbandoned == true else { return nil }
            leave(token)
            return state[token].rare?.task
        }
        task?.cancel()
    }

    /// Gives up the load at a deadline, unless another call has: no closing waits for it any longer, and its closers begin canceled.
    ///
    /// Lets all readers go who wait for its task, to look again, and returns that for the caller to cancel it.
    func giveUp(_ token: LockToken, at deadline: Duration, _ effects: inout Effects) -> Task<Void, Never>? {
        let rare = state[token].more()
        if rare.overdue != nil { return nil }
        rare.overdue = deadline
        node.endWork(token, &effects)
        guard let task = rare.task else { return nil }
        leave(token)
        // What it gives afterward is for none of them.
        rare.outcome = nil
        effects.wake(rare.waiters.takeAll())
        return task
    }

    /// The deadline at which the load was given up.
    func overdue(_ token: LockToken) -> Duration? { state[token].rare?.overdue }

    /// Lets no reader join the load any longer.
    func leave(_ token: LockToken) {
        guard let place = expected.use({ $0.cell(token, key)?.place }), place[token].load?.object === work else {
            return
        }
        place[token].load = nil
    }
}

extension Task where Failure == Never {
    /// Starts a task.
    ///
    /// If `atOnce` is `true` and the platform supports it, the task runs on the caller's thread until it first suspends, so
    /// that an operation that doesn't suspend needs no hop to another thread.
    static func start(
        atOnce: Bool, _ operation: sending @escaping @isolated(any) () async -> Success
    ) -> Task {
        guard atOnce, #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else {
            return Task(operation: operation)
        }
        return .immediate(operation: operation)
    }

    /// Starts a detached task, which otherwise runs as with `start`.
    static func startDetached(
        atOnce: Bool, _ operation: sending @escaping @isolated(any) () async -> Success
    ) -> Task {
        guard atOnce, #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else {
            return .detached(operation: operation)
        }
        return .immediateDetached(operation: operation)
    }
}

extension Task<Never, Never> {
    /// Whether code with this isolation runs on an actor, which a load must not block.
    ///
    /// It can't be inlined: the compiler (6.3.1) fails otherwise.
    @inline(never)
    static func isOnActor(_ isolation: (any Actor)?) -> Bool { isolation != nil }
}
