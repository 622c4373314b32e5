// A load, from its handle to its end.

/// A load: a frame that has facts.
struct Load: Equatable, Sendable {
    let frame: Frame

    fileprivate init(_ frame: Frame) { self.frame = frame }

    init(of key: Key, for node: Node, under parent: Frame?, within own: Frame?, _ facts: LoadFacts) {
        self.init(Frame(.load, in: node.family, node, key, under: parent, within: own, facts))
    }

    static func == (one: Load, other: Load) -> Bool { one.frame === other.frame }

    /// The node for which it's loaded.
    @inline(__always) var node: Node { frame.node! }
    @inline(__always) var key: Key { frame.key! }
    @inline(__always) var facts: LoadFacts { frame.facts! }
    var family: Family { frame.family }
    var parent: Frame? { frame.parent }
    var state: FamilyLocked<FrameState> { frame.state }
    var isFinished: Bool { frame.isFinished }

    /// The path from what needs it to its key, also once it has finished.
    var way: [Key] { (parent?.way ?? []) + [key] }
}

extension Frame {
    /// The load, if the frame is that of one.
    var load: Load? { kind == .load ? Load(self) : nil }
}

/// What's known of a load when it begins.
struct LoadFacts: Sendable {
    /// The home that the feature declares.
    let home: Home
    /// The instance lives here or deeper: the node to which the feature declares to belong, or the nearest one that holds the key
    /// without a value.
    let floor: UnmanagedReference<Node>?
    /// Whether another loader than the feature's own loads.
    let isReplaced: Bool
    /// Whether a change of an input drops the instance, also one during the load.
    let reloads: Bool
    let isExternal: Bool
    /// Whether something is loaded in the feature's place, whose inputs don't count.
    let isStandIn: Bool
    /// The node in which the instance is expected to live.
    let expected: UnmanagedReference<Node>
    /// The time at which the load began.
    let begun: UInt64
}

/// A key that a load has read.
struct Input {
    let key: Key
    /// The time of what was seen, by `Node.time`, or `neverKept`.
    let time: UInt64
    /// Whether it was read from a cell; otherwise, its value wasn't kept, or its load failed.
    let isKept: Bool

    /// The time of a value that wasn't kept, which always counts as changed.
    static let neverKept = UInt64.max

    let provenance: Provenance?
    let lifetime: Lifetime?

    /// The identity of an input: another instance of the same key is another input.
    var identity: KeyOfObject { KeyOfObject(key: key, object: lifetime.map { ObjectIdentifier($0) }) }

    /// Whether the input is kept, and all of its own inputs are among the keys.
    fileprivate func isWithin(_ keys: [Key]) -> Bool {
        isKept && provenance?.keys.allSatisfy { keys.contains($0) } ?? true
    }
}

/// The mutable part of a frame, most of which is that of a load.
///
/// The family's lock protects it.
struct FrameState {
    private(set) var firstInput: Input?
    private(set) var moreInputs: [Input] = []
    /// The identities of the inputs, once there are many.
    private var seen: [KeyOfObject: Int]?
    private(set) var mask: UInt64 = 0
    /// The depth of the deepest node that a value was read from.
    fileprivate(set) var depth = 0
    fileprivate(set) var isLocal = false
    /// Whether the load read a placeholder for a refused feature.
    ///
    /// Its instance is then neither kept nor given to waiters, so that each of them meets the failure.
    var isProvisional = false
    /// Whether all waiters have left, so that the load is canceled.
    var isAbandoned: Bool { rare.map { $0.run.task != nil && $0.waiters.isEmpty } ?? false }
    /// The container that asked, while the load runs, for children made from the handle.
    ///
    /// The code that runs the load keeps it.
    var container: UnmanagedReference<Container>?
    /// The node that the handle reads after the load.
    fileprivate(set) var home: UnmanagedReference<Node>?
    #if DEBUG
    /// The time at which the load began.
    var start = Duration.zero
    #endif

    var rare: RareFrameState?

    /// Returns the rare state, creating it if necessary.
    mutating func more() -> RareFrameState { rare.orMade(RareFrameState()) }

    var inputs: [Input] { firstInput.map { [$0] + moreInputs } ?? [] }

    mutating func append(_ input: consuming Input) {
        if mask & input.key.mask == 0 {
            seen?[input.identity] = 0
        } else if contains(input) {
            return
        }
        mask |= input.key.mask
        if firstInput == nil { firstInput = input } else { moreInputs.append(input) }
    }

    /// Returns whether the same input was recorded before.
    ///
    /// A key that's read again may have another instance, which is another input.
    private mutating func contains(_ input: Input) -> Bool {
        if moreInputs.count < 8 {
            return firstInput?.identity == input.identity || moreInputs.contains { $0.identity == input.identity }
        }
        if seen == nil {
            seen = [:]
            for input in inputs { seen![input.identity] = 0 }
        }
        return seen!.updateValue(0, forKey: input.identity) != nil
    }

    /// Whether the inputs match a short provenance: a quick check that avoids creating an equal one.
    func isMadeFrom(_ provenance: Provenance) -> Bool {
        let keys = provenance.keys
        guard let first = firstInput, keys.count <= 16, provenance.direct.count == 1 + moreInputs.count,
            provenance.direct[0] == first.key,
            first.isWithin(keys)
        else { return false }
        for (index, input) in moreInputs.enumerated() {
            guard provenance.direct[index + 1] == input.key, input.isWithin(keys) else { return false }
        }
        return keys.allSatisfy { key in
            key == first.key || first.provenance?.keys.contains(key) == true
                || moreInputs.contains { $0.key == key || $0.provenance?.keys.contains(key) == true }
        }
    }

    /// Moves the inputs into the garbage.
    mutating func forgetInputs(_ garbage: inout Garbage) {
        guard let first = firstInput.take() else { return }
        garbage.add(first.provenance)
        garbage.add(first.lifetime)
        if moreInputs.isEmpty { return }
        garbage.add(Retained(moreInputs))
        (moreInputs, seen) = ([], nil)
    }
}

/// What few loads need while they run.
struct LoadRun {
    /// The closers that the load has registered.
    var closers = Kept<[Closer]>([])
    /// The outcome for the waiters, which only they keep after the end: an instance may keep its handle, and thereby the frame.
    var outcome: PendingOutcome?
    /// The task of an async load, once the one that began it waits for it.
    var task: Task<Void, Never>?
    /// What was noted when the load began, if somebody listened.
    var mark: LoadMark?
    /// The instance in doubt that the load replaces, or keeps, once that's known.
    var former: FormerInstance?
    var keepsFormer = false
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
        add(
            token,
            Input(
                key: key, time: cell.has(CellFlags.hasWord) ? cell.identity(token) : node.time(token, of: key),
                isKept: true, provenance: provenance,
                lifetime: provenance == nil ? nil : place?[token].lifetime.value), depth)
    }

    /// Records an input whose value was given to the load but not kept.
    func record(_ token: LockToken, _ outcome: LoadOutcome, of key: Key) {
        guard !isFinished, outcome.home.depth <= node.depth else { return }
        if outcome.isProvisional { state[token].isProvisional = true }
        let time = outcome.hasFailed && !outcome.isOld ? node.time(token, of: key) : Input.neverKept
        add(
            token,
            Input(key: key, time: time, isKept: false, provenance: outcome.provenance, lifetime: outcome.lifetime),
            outcome.home.depth)
    }

    /// Records a key that has no value: an external feature that was refused, or a setting that is missing or wrong.
    ///
    /// It counts as read from the root.
    func recordMissing(_ token: LockToken, of key: Key, isProvisional: Bool = false) {
        guard !isFinished else { return }
        if isProvisional { state[token].isProvisional = true }
        let root = node.ancestor(at: 0)
        record(token, root.madeCell(token, key), of: UnmanagedReference(root), as: key)
    }

    /// Records an instance in doubt, which may go at its next load: what's made from it isn't kept.
    func record(_ token: LockToken, _ former: FormerInstance, at place: Place) {
        guard !isFinished else { return }
        state[token].isProvisional = true
        let (key, depth) = (place.key, place[token].node.depth)
        add(
            token,
            Input(
                key: key, time: former.time, isKept: true, provenance: place[token].provenance,
                lifetime: former.lifetime), depth)
    }

    /// Records a key of which the node sees nothing.
    func recordUnseen(_ token: LockToken, _ key: Key) {
        guard !isFinished else { return }
        let time = node.time(token, of: key)
        add(token, Input(key: key, time: time, isKept: true, provenance: nil, lifetime: nil), 0)
    }

    /// Records where a key is held, whose value isn't read.
    func recordHeld(_ token: LockToken, _ key: Key) {
        guard let holder = node.path.first(where: { $0.holds(token, key) }) else {
            return recordMissing(token, of: key)
        }
        record(token, holder.madeCell(token, key), of: UnmanagedReference(holder), as: key)
    }

    /// Notes that what the load gives is only for its container.
    func noteLocal(_ token: LockToken) { if !isFinished { state[token].isLocal = true } }

    /// Lets nothing that was read so far be an input.
    func forgetInputs(_ token: LockToken, _ garbage: inout Garbage) {
        state[token].forgetInputs(&garbage)
        (state[token].depth, state[token].isLocal) = (0, false)
    }

    func add(_ token: LockToken, _ input: Input, _ depth: Int) {
        if depth > state[token].depth { state[token].depth = depth }
        if input.provenance?.isLocal == true { state[token].isLocal = true }
        state[token].append(input)
    }

    /// Whether any input has changed since it was read or, for another node than the load's, is another one there.
    func hasOldInputs(_ token: LockToken, for other: Node? = nil) -> Bool {
        if other == nil, family.state[token].now == facts.begun { return false }
        let node = other ?? node
        guard let first = state[token].firstInput else { return false }
        if node.time(token, of: first.key) != first.time { return true }
        return state[token].moreInputs.contains { node.time(token, of: $0.key) != $0.time }
    }

    /// Adds a closer, and returns whether the load was still running.
    func add(_ closer: Closer) -> Bool {
        family.lock.withLock { token in
            // Checked under the lock, where loads end, so that a closer that comes too late isn't lost.
            if isFinished { return false }
            state[token].more().run.closers.append(closer)
            return true
        }
    }

    /// The node that the handle reads and writes after the load.
    var homeNode: Node { family.lock.withLock { token in state[token].home?.object } ?? node }
    /// The container that asked, while the load runs.
    var askedContainer: Container? { family.lock.withLock { token in state[token].container?.object } }
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
                try Context.run(view, frame) { facts.reloads ? try reload(view, loader) : try loader(view) })
        } catch {
            result = .failure(error)
        }
        let (given, home) = endLoad(with: result, recorder)
        view.answers(from: home)
        frame.deliver()
        return try given.get()
    }

    /// Begins the load in a separate task, which keeps the container that was asked.
    ///
    /// Returns a waiter for the end, or `nil` if the load has ended.
    ///
    /// - `mayRunHere`: Whether the load may run on this thread until it first suspends.
    /// - `joined`: The waiter, if it has joined the load.
    func start(
        for container: Container, mayRunHere: Bool, _ joined: Waiter?,
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
                    try await Context.run(view, frame) {
                        facts.reloads ? try await reload(view, loader) : try await loader(view)
                    })
            } catch {
                result = .failure(error)
                // Close what the load opened before waiters are woken.
                await closeFailed()
            }
            view.answers(from: endLoad(with: result, nil).home)
            frame.deliver()
            withExtendedLifetime(container) {}
        }
        if isFinished { return nil }
        let waiter = joined ?? Waiter()
        var isRefused = false
        let isOver = family.lock.withLock { token in
            if isFinished { return true }
            let rare = state[token].more()
            rare.run.task = task
            if joined == nil { rare.waiters.append(waiter) }
            // A closing may have refused the reader before.
            isRefused = rare.waiters.isEmpty || node.storage[token].isClosed && node.refuses(token, parent)
            return false
        }
        if isRefused { refuse(waiter) }
        return isOver ? nil : waiter
    }

    // MARK: Doubt

    /// The instance in doubt that the load replaces, if there's one.
    private var former: FormerInstance? { family.lock.withLock { token in state[token].rare?.run.former } }

    /// Loads unless there's an instance in doubt and what it was made from is the same.
    // A separate function, to keep the stack frames of nested loads small.
    @inline(never)
    private func reload(_ view: Container, _ loader: (Container) throws -> Payload) throws -> Payload {
        guard let former else { return try loader(view) }
        return isUnchanged(former, view) ? former.payload : try keeping(former, loader(view))
    }

    private func reload(
        _ view: Container, _ loader: (Container) async throws -> Payload
    ) async throws -> Payload {
        guard let former else { return try await loader(view) }
        if await isUnchanged(former, view) { return former.payload }
        // Asking may have failed because nobody waits any more.
        try Task.checkCancellation()
        return keeping(former, try await loader(view))
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
            if isSame { state[token].rare?.run.keepsFormer = true } else { forgetInputs(token, &garbage) }
        }
        garbage.dispose()
        return isSame
    }

    /// Returns the former value if the new one equals it, and neither has teardown closures.
    private func keeping(_ former: FormerInstance, _ payload: Payload) -> Payload {
        let isOpen = former.lifetime?.teardown.hasClosers ?? false
        if isOpen || !Equality(ofAny: key.valueType)(former.payload, payload) { return payload }
        let keeps = family.lock.withLock { token in
            guard let rare = state[token].rare, rare.run.closers.value.isEmpty else { return false }
            rare.run.keepsFormer = true
            return true
        }
        return keeps ? former.payload : payload
    }

    /// Runs the closers of a failed or canceled load.
    private func closeFailed() async {
        @inline(never) func takeLast() -> Closer? {
            family.lock.withLock { token in state[token].rare?.run.closers.takeLast() }
        }
        // A child task of the load, or a closer, may register another one meanwhile.
        while let closer = takeLast() {
            // Not in this task, which may be canceled.
            do { try await Teardown(key, home: node, []).call(closer, in: frame, atOnce: true) } catch {
                family.reports.report(Messages.closerFailed(of: key, error))
            }
        }
    }

    /// Ends the load: keeps the instance, unless the key has another value, and wakes the waiters.
    ///
    /// Returns the result for the reader that began the load, and the node that the handle reads from now on.
    private func endLoad(
        with result: Result<Payload, any Error>, _ recorder: Load?
    ) -> (given: Result<Payload, any Error>, home: Node) {
        var effects = Effects(in: frame)
        var given = result
        var inputs: [Key] = []
        let error: (any Error)? = if case .failure(let thrown) = result { thrown } else { nil }
        let failedWay = error.map { [key] + frame.way(to: $0) } ?? []
        let (home, isOutlived) = family.lock.withLock { token in
            if facts.isStandIn { forgetInputs(token, &effects.garbage) }
            let outcome = LoadOutcome(token, of: self, way: failedWay)
            state[token].home = UnmanagedReference(outcome.home)
            let isLate = key.kind != .property && error == nil && node.refuses(token, frame)
            // Finish first: as soon as the instance is in its cell, other threads may read through the handle that it kept.
            effects.wake(frame.finish(token))
            let end = outcome.settle(token, &given, for: recorder, &effects)
            if !failedWay.isEmpty { inputs = state[token].inputs.map(\.key) }
            outcome.removeFromLists(token, &effects)
            family.emit(token, .ended(outcome, end, error), &effects)
            if case .kept = end { noteKept(token, outcome, &effects) }
            return (outcome.home, isLate && node.isFirstLate(token))
        }
        effects.perform()
        if isOutlived { family.reports.report(Messages.loadedAfterClosing(way)) }
        if let error {
            remember(error, inputs)
            if case .failure = given { parent?.needFailed(failedWay, error) }
        }
        return (given, home)
    }

    /// Outside the lock: remembers that the load has failed.
    private func remember(_ error: any Error, _ inputs: [Key]) {
        if error is CancellationError { return }
        let failure = FailedLoad(error, inputs: inputs)
        family.lock.withLock { token in
            if node.isEnded(token) { return }
            node.storage[token].more().failures[key] = failure
        }
    }

    /// Notes the beginning of a load, and its number unless that's 0.
    func mark(_ token: LockToken, _ number: UInt64) {
        if key.kind == .property { return }
        state[token].more().run.mark = (number, state[token].rare?.run.mark?.start ?? ProcessTime.now)
    }

    /// What was noted when the load began.
    func mark(_ token: LockToken) -> LoadMark? { state[token].rare?.run.mark }
}

// MARK: Waiters

extension Load {
    /// Adds a waiter for the end.
    func join(_ token: LockToken, _ waiter: Waiter) -> PendingOutcome {
        state[token].more().waiters.append(waiter)
        return pendingOutcome(token)
    }

    func pendingOutcome(_ token: LockToken) -> PendingOutcome {
        state[token].more().run.outcome.orMade(PendingOutcome(nil))
    }

    /// Notes that the load asks another container than that of its reader, and returns that.
    @inline(never)
    func asks(_ asked: Container) -> Container {
        family.lock.withLock { token in state[token].container = UnmanagedReference(asked) }
        return asked
    }

    /// Adds the load to the list of its key's loads.
    func begin(_ token: LockToken, for container: UnmanagedReference<Container>, in record: KeyRecord) {
        record.loads.append(frame)
        facts.expected.use { $0.place(token, key)[token].load = UnmanagedReference(frame) }
        noteBegin(token)
        state[token].container = container
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
            guard state[token].isAbandoned else { return nil }
            leave(token)
            return state[token].rare?.run.task
        }
        task?.cancel()
    }

    /// Lets no reader join the load any longer.
    func leave(_ token: LockToken) {
        guard let place = facts.expected.use({ $0.cell(token, key)?.place }), place[token].load?.object === frame else {
            return
        }
        place[token].load = nil
    }

    /// Refuses a reader that waits in a container that's being closed.
    func refuse(_ waiter: Waiter) {
        withdraw(waiter)
        waiter.release(with: LoadError.closed([]))
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
