// A read that couldn't be answered at once.

/// A read that looks again until it has an answer, or has to load or wait, which threads and tasks do differently.
struct Reading: ~Copyable {
    /// The next step, decided by a look under the lock.
    private enum Decision {
        case found(Payload)
        case load(Frame, Replacement?)
        case wait(Frame, Waiter)
        /// The feature declares that it belongs to an ancestor, where it must be loaded first.
        case above(Node)
        case external(Strictness)
        case cycle([Key])
        case tooDeep([Key])
        /// A container on the way has an instance of its own, because it overrides the last key, or because that is local.
        case hidden([Key], byLocal: Bool)
        case closed([Key])
        case failed(any Error, [Key])
        case cancelled
        /// The container was released.
        case ended
    }

    let request: Request
    let node: Node
    /// The load that reads through its handle.
    private var recorder: Frame?
    /// The container that was asked.
    ///
    /// The reader keeps it.
    let container: UnmanagedReference<Container>
    /// Whether the reader is a task that may suspend; otherwise its thread waits.
    private var isTask = false

    // The frame that needs the value, and the frame that runs on this thread or task.
    private let frame: Frame?
    private let own: Frame?
    /// The outcome of the load that this read last waited for, and the wait, unless this read began that load.
    private var awaited: (outcome: PendingOutcome, waiter: Waiter?)?
    /// The number of outcomes that weren't valid for this reader.
    private var misses = 0
    private var wait: WaitSpan?
    /// The value that the ancestor to which the feature belongs has loaded.
    private var given: Payload?
    /// Whether a read in a descendant asks, which records what it's given.
    private let isForDescendant: Bool
    /// Whether nobody reads, so that no error stops the program.
    private let hasNoReader: Bool

    private var key: Key { request.key }

    init(
        _ request: Request, in node: Node, for container: Container, _ recorder: Frame?,
        isForDescendant: Bool = false, hasNoReader: Bool = false
    ) {
        self.isForDescendant = isForDescendant
        self.hasNoReader = hasNoReader
        self.request = request
        self.node = node
        self.container = UnmanagedReference(container)
        self.recorder = recorder
        let scope = Context.bound
        own = scope?.own
        frame = own ?? scope?.unfinished ?? recorder
    }

    // MARK: Threads and tasks

    /// Returns the value, loading it on this thread if necessary.
    ///
    /// - `loader`: Loads the value. It's called at most once, on this thread.
    consuming func read(_ loader: (Container) throws -> Payload) throws -> Payload {
        while true {
            switch nextStep() {
            case .found(let payload): return payload
            case .above(let home): given = try load(in: home, loader)
            case .load(let load, let replacement): return try run(load, replacement, loader)
            case .wait(let load, let waiter):
                waiter.block()
                endWait(for: load)
            case .ended where key.kind == .property:
                node.family.reports.report(Messages.readAfterEnd(of: key))
                return try loader(Container.ended)
            case let decision: return try refuse(decision)
            }
        }
    }

    // Separate functions, to keep the stack frames of nested loads small.

    @inline(never)
    private func load(in home: Node, _ loader: (Container) throws -> Payload) throws -> Payload {
        let container = container.object.ancestor(home)
        defer { withExtendedLifetime(container) {} }
        return try Reading(
            request, in: home, for: container, recorder, isForDescendant: true, hasNoReader: hasNoReader
        ).read(loader)
    }

    private func run(
        _ load: Frame, _ replacement: Replacement?, _ loader: (Container) throws -> Payload
    ) throws -> Payload {
        let container = container.object
        if let replacement { return try load.run(for: container, recorder, replacement.load) }
        return try load.run(for: container, recorder, loader)
    }

    /// Returns the value of an async key, loading it in a separate task if necessary.
    consuming func readAsync(_ loader: @escaping @Sendable (Container) async throws -> Payload) async throws -> Payload
    {
        isTask = true
        // A load must not block its reader's actor.
        let hasActor = Task.isOnActor(#isolation)
        while true {
            let (load, waiter): (Frame, Waiter)
            switch nextStep() {
            case .found(let payload): return payload
            case .above(let home):
                given = try await self.load(in: home, loader)
                continue
            case .load(let own, let replacement):
                guard let joined = start(own, replacement?.loadAsync ?? loader, hasActor) else { continue }
                (load, waiter) = (own, joined)
            case .wait(let other, let joined):
                if let frame { other.raise(for: frame) }
                (load, waiter) = (other, joined)
            case let decision: return try refuse(decision)
            }
            do {
                try await load.await(waiter)
            } catch {
                endAwait(of: load, isCanceled: true)
                throw error
            }
            endAwait(of: load, isCanceled: false)
        }
    }

    private func load(
        in home: Node, _ loader: @escaping @Sendable (Container) async throws -> Payload
    ) async throws -> Payload {
        let container = container.object.ancestor(home)
        defer { withExtendedLifetime(container) {} }
        return try await Reading(request, in: home, for: container, recorder, isForDescendant: true).readAsync(loader)
    }

    /// Starts the task of a load, and returns the waiter for its end, or `nil` if it has ended.
    private func start(
        _ load: Frame, _ loader: @escaping @Sendable (Container) async throws -> Payload, _ hasActor: Bool
    ) -> Waiter? {
        let mayRunHere = !hasActor && !load.level.isMultiple(of: 16)
        let waiter = load.start(for: container.object, recorder, mayRunHere: mayRunHere, loader)
        if let frame, waiter != nil {
            frame.addOwnLoad(load)
            load.raise(for: frame)
        }
        return waiter
    }

    private func endAwait(of load: Frame, isCanceled: Bool) {
        guard let waiter = awaited!.waiter else {
            frame?.removeOwnLoad(load)
            return
        }
        endWait(for: load)
        if isCanceled { stopWaiting(waiter) }
    }

    /// Stops waiting, because the task was canceled.
    private func stopWaiting(_ waiter: Waiter) {
        var effects = Effects()
        node.family.lock.withLock { token in node.removeJoined(token, waiter, &effects) }
        effects.wakeWaiters()
    }

    private func endWait(for load: Frame) {
        Waits.remove(frame, for: load)
        if let wait { load.tellOf(wait, frame) }
    }

    /// Returns the placeholder of an external feature, or throws or stops.
    @inline(never)
    private func refuse(_ decision: consuming Decision) throws -> Payload {
        if case .external(let strictness) = decision { return try refuse(by: strictness) }
        throw error(decision)
    }

    /// Returns the error for a decision, or stops the program if reads of this kind of key can't throw.
    private func error(_ decision: consuming Decision) -> any Error {
        let error: LoadError
        switch decision {
        case .cycle(let way): error = isOwnReplacement ? .ownReplacement(way) : .cycle(way)
        case .tooDeep(let way): error = .tooDeep(way)
        case .hidden(let way, let byLocal): error = .overridden(way, of: key, home: request.home, byLocal: byLocal)
        case .closed(let way): error = .closed(way)
        case .failed(let other, let way):
            if !way.isEmpty { frame?.needFailed(way, other) }
            return other
        case .cancelled: return CancellationError()
        default: error = .ended(key)
        }
        guard key.kind.throws || hasNoReader else { node.stop(error.read(at: request.readPlace)) }
        return error
    }

    /// Whether the load that reads is a replaced loader of the same key, maybe within a child's decoration.
    private var isOwnReplacement: Bool {
        guard let frame, frame.kind == .load else { return false }
        return (frame.key == key || frame.key!.decorated == key) && frame.facts!.limit != nil
    }

    // MARK: Deciding

    /// Decides the next step, under the lock.
    @inline(never)
    private mutating func nextStep() -> Decision {
        // The former outcome is released outside the lock.
        let former = awaited
        defer { withExtendedLifetime(former) {} }
        var effects = Effects()
        let decision = node.family.lock.withLock { token -> Decision in
            let decision = decide(token)
            if let waiter = former?.waiter { node.removeJoined(token, waiter, &effects) }
            if case .wait(_, let waiter) = decision {
                node.addJoined(token, waiter)
                wait = node.family.hasEvents ? WaitSpan() : nil
            }
            return decision
        }
        effects.wakeWaiters()
        #if DEBUG
        if former == nil, given == nil, !isForDescendant { reportUnrecorded() }
        if case .above = decision, let home = request.home.key { reportUnset(home) }
        #endif
        return decision
    }

    /// Returns what's there, joins a load in progress, or begins one.
    private mutating func decide(_ token: LockToken) -> Decision {
        if node.isEnded(token) { return .ended }
        if recorder == nil { recorder = node.ownRecorder(token) { frame } }
        let limit: UnmanagedReference<Node>?
        switch node.lookInline(token, key) {
        case .found(let cell, let owner):
            recorder?.record(token, cell, of: owner, as: key)
            node.link(token, key, to: cell, of: owner)
            return .found(cell.payload!)
        case .missing(let holder): limit = holder
        }
        let replacement = limit?.use {
            $0.storage.existingCell(token, key.known(at: $0.depth))?.place?[token].rare?.replacement.value
        }
        // What a decoration makes, a loader that was replaced below the declared home, or what's read in a container that a trait has
        // made within another one's, lives where its inputs live.
        var declared = request.home
        var isFixed = declared.isFixed
        if isFixed {
            let declaredHome = node.declaredHome(token, with: declared.key)
            let home = node.testRoot(token, below: declaredHome) ?? declaredHome
            let isInferred = replacement?.link != nil || home === node && home !== declaredHome
            if isInferred { declared = .inferred }
            if isInferred || limit?.depth ?? 0 > home.depth {
                isFixed = false
            } else if home !== node {
                // The wait in this node is over.
                awaited = nil
                return decide(token, in: home, isReplaced: limit != nil)
            }
        }
        if let awaited {
            if let (outcome, result) = awaited.outcome.withLock({ $0 }),
                let decision = accept(token, outcome, result, isOwn: awaited.waiter == nil, limit)
            {
                return decision
            }
            misses += 1
        }
        if let decision = refuseNesting(token) { return decision }
        // A read that has waited for another's load began before a closing, which waits for the end of that read.
        let isLate = isRefused(token) && awaited?.waiter == nil
        if isLate, key.kind.throws { return .closed((frame?.way ?? []) + [key]) }
        if isTask, Task.isCancelled { return .cancelled }
        let rare = node.ancestor(at: 0).place(token, key.known(at: 0))[token].more()
        let isAskers = isFixed || declared.isLocal
        let expected = expectedHome(token, of: node, isAskers, rare.last, limit)
        // A reader that repeatedly got instances that are valid only for others loads in parallel.
        if misses < 4, !rare.loads.isEmpty, let decision = join(token, rare, isAskers, expected, limit) {
            return decision
        }
        // A value for tests isn't external itself.
        var isExternal = request.isExternal
        if isExternal, let strictness = node.storage[token].strictness {
            if replacement == nil, strictness.refuses(request) { return .external(strictness) }
            isExternal = !request.hasTestValue
        }
        let facts = LoadFacts(
            home: declared, isFixed: isFixed, reloads: request.reloads,
            isExternal: isExternal, wraps: replacement?.link != nil, limit: limit, expected: expected,
            begun: node.family.state[token].now, isLate: isLate)
        let load = Frame(.load, in: node.family, node, key, under: frame, within: isTask ? nil : own, facts)
        load.begin(token, for: container, in: &rare.loads)
        if isTask { awaited = (load.pendingOutcome(token), nil) }
        return .load(load, replacement)
    }

    /// Refuses a load that needs itself, or that's nested so deeply that it probably does.
    private func refuseNesting(_ token: LockToken) -> Decision? {
        guard let frame else { return nil }
        func needsItself(_ frame: Frame) -> Bool {
            frame.mask & key.mask != 0
                && frame.chain.contains { $0.kind == .load && $0.key == key && $0.family === node.family }
        }
        if needsItself(frame) { return .cycle(frame.way + [key]) }
        // Another load lent the handle. This code waits in its own frame, but that load must not need itself, either.
        if let recorder, recorder !== frame, needsItself(recorder), !frame.chain.contains(where: { $0 === recorder }) {
            return .cycle(recorder.way + [key])
        }
        let isTooDeep = frame.level >= 2_000 || frame.level >= 4 && isStackUsedUp(by: frame)
        return isTooDeep ? .tooDeep(frame.way + [key]) : nil
    }

    /// Whether the stack has no room for another load; if the bounds are unknown, it has room for a hundred.
    private func isStackUsedUp(by frame: Frame) -> Bool {
        // This much is nearly always left, and finding the bounds takes longer than many loads.
        if own == nil || frame.stackUsed < 32 << 10 { return false }
        let isDeep = frame.level >= 100
        return PlatformStack.current?.isNearlyUsedUp(isDeep) ?? isDeep
    }

    /// Whether a closed container refuses the read, which may load defaults, and what an earlier load needs.
    private func isRefused(_ token: LockToken) -> Bool {
        guard node.storage[token].isRefusing, key.kind != .property else { return false }
        guard let frame else { return true }
        var closed = node
        while let parent = closed.parent, parent.storage[token].isRefusing { closed = parent }
        return !frame.chain.contains { $0.facts?.isLate == false && $0.node!.isWithin(closed) }
    }

    /// Joins a load in progress whose instance is expected to live where this reader's would.
    private mutating func join(
        _ token: LockToken, _ rare: RarePlaceState, _ isAskers: Bool, _ mine: UnmanagedReference<Node>,
        _ limit: UnmanagedReference<Node>?
    ) -> Decision? {
        // What a container would inherit of a decorated feature is loaded as the feature itself, above.
        let depth = limit?.depth ?? 0
        for case let load? in rare.loads.candidates(for: node) {
            let facts = load.facts!
            guard facts.limit == limit, load.key!.known(at: depth) == key.known(at: depth),
                !load.state[token].isAbandoned,
                facts.expected == mine || expectedHome(token, of: load.node!, isAskers, rare.last, limit) == mine,
                !load.mustBeRetried(token),
                !mine.use({ $0.wasReset(token, key, since: facts.begun) })
            else { continue }
            if let circle = Waits.add(frame, for: load) {
                // A frame may wait for an instance that proves not to be valid for it, so load in parallel to find out.
                guard circle.allSatisfy({ $0.kind == .load && $0.node === node }) else {
                    return nil
                }
                return .cycle(circle.compactMap(\.key) + [key])
            }
            let waiter = Waiter(for: load)
            awaited = (load.join(token, waiter), waiter)
            return .wait(load, waiter)
        }
        return nil
    }

    /// Returns the node in which the key's next instance for `asker` will probably live, judging by the last one.
    ///
    /// - `isAskers`: Whether that's the asker by declaration.
    private func expectedHome(
        _ token: LockToken, of asker: Node, _ isAskers: Bool, _ last: Provenance?, _ limit: UnmanagedReference<Node>?
    ) -> UnmanagedReference<Node> {
        if isAskers || asker.isRoot || last?.isLocal == true {
            return UnmanagedReference(asker)
        }
        return asker.path.firstResult { node in
            let isHome =
                node.isRoot || UnmanagedReference(node) == limit
                || last.map { node.holdsAny(token, of: $0.keys, $0.mask) } ?? false
            return isHome ? UnmanagedReference(node) : nil
        }!
    }

    /// Returns the decision that an awaited load's outcome means for this reader, or `nil` if it isn't valid here.
    private func accept(
        _ token: LockToken, _ outcome: LoadOutcome, _ result: Result<Payload, any Error>, isOwn: Bool,
        _ limit: UnmanagedReference<Node>?
    ) -> Decision? {
        guard isOwn || !outcome.mustBeRetried && !outcome.isProvisional, node.isWithin(outcome.home),
            limit?.depth ?? 0 <= outcome.home.depth,
            isOwn || outcome.provenance.isValid(token, for: node, from: outcome.home)
        else { return nil }
        recorder?.record(token, outcome, of: key)
        switch result {
        case .failure(let error): return .failed(error, isOwn ? [] : outcome.way)
        case .success(let payload): return .found(payload)
        }
    }

    /// Returns what to do about a feature that belongs to an ancestor and isn't seen here: load it there, or fail if a key
    /// held on the way, or a local input, hides the instance.
    private func decide(_ token: LockToken, in home: Node, isReplaced: Bool) -> Decision {
        if case .found = home.look(token, key) {
            var isLocal = false
            let way = node.family.way(token, from: key) { input in
                if node.path(below: home).contains(where: { $0.holds(token, input) }) { return true }
                isLocal = node.family.isLocal(token, input)
                return isLocal
            }
            return .hidden((frame?.way ?? []) + way, byLocal: isLocal)
        }
        if request.isExternal, !isReplaced, let strictness = node.storage[token].strictness,
            strictness.refuses(request)
        {
            return .external(strictness)
        }
        return given.map { .found($0) } ?? .above(home)
    }

    // MARK: Refusals

    /// Returns the placeholder for an external feature that wasn't set, or throws.
    ///
    /// The feature counts as read from the root, so that a child that sets it has its own instances of what was made with
    /// the placeholder.
    private func refuse(by strictness: Strictness) throws -> Payload {
        // Reading a feature to set a part of it isn't a mistake.
        let (isForPart, configured) = (isForPart, configured)
        let isProvisional = strictness.isForAll || isForPart || configured != nil
        node.family.lock.withLock { token in recorder?.recordMissing(token, of: key, isProvisional: isProvisional) }
        if isForPart, request.placeholder != nil {
            return strictness.placeholder(request, for: container.object, isReported: false)
        }
        let refusal = strictness.refusal(request, frame)
        // The closure that configures the container may still set what it has read.
        if let configured {
            node.family.lock.withLock { token in configured.storage[token].more().refusals.append(refusal) }
        } else {
            strictness.report(refusal)
        }
        guard request.placeholder != nil else { throw refusal.error }
        return strictness.placeholder(request, for: container.object, isReported: configured == nil)
    }

    /// The loads that need what is read here, up to other work, innermost first.
    private var loads: [Frame] { frame.map { Array($0.chain.prefix { $0.kind == .load }) } ?? [] }

    /// Whether a part of what is read here, or of what is loaded from it, is about to be set.
    private var isForPart: Bool {
        guard let part = frame?.chain.first(where: { $0.kind != .load }), part.kind == .modify else { return false }
        guard let outermost = loads.last?.key else { return part.key == key && part.node === node }
        return part.key == outermost
    }

    /// The container that is being configured by the closure that reads, maybe through loads.
    private var configured: Node? {
        let node = loads.last?.node ?? node
        return node.family.lock.withLock { token in node.storage[token].rare?.isConfiguring == true ? node : nil }
    }

    #if DEBUG
    /// Reports a load that reads its own family without using its handle.
    private func reportUnrecorded() {
        guard recorder == nil, let load = frame, load.kind == .load, load.family === node.family else { return }
        node.family.reports.report(Messages.unrecordedRead(of: key, by: load.key!))
    }

    /// Reports that the key of the declared home is set nowhere.
    private func reportUnset(_ home: Key) {
        let isNew = node.family.lock.withLock { token in
            !node.path.contains { $0.holds(token, home) } && node.family.state[token].isNew(key, home)
        }
        if isNew { node.family.reports.report(Messages.homeUnset(key, home)) }
    }
    #endif
}

extension Node {
    /// Returns the nearest node that holds a key, or the root.
    fileprivate func declaredHome(_ token: LockToken, with key: Key?) -> Node {
        guard let key else { return ancestor(at: 0) }
        return path.first { $0.isRoot || $0.holds(token, key) }!
    }

    /// Returns the nearest container below a home that a test's trait has made, which tests regard as a root.
    fileprivate func testRoot(_ token: LockToken, below home: Node) -> Node? {
        TestProcess.isTesting ? path(below: home).first { $0.storage[token].rare?.isTestRoot == true } : nil
    }

    /// Whether an instance that's declared to live with a key may live here: the nearest node that holds the key is this one, or
    /// is above a replaced loader, which has no declared home.
    func isHome(_ token: LockToken, of feature: Key, with key: Key) -> Bool {
        let home = declaredHome(token, with: key)
        return home === self || path(below: home).contains { $0.holds(token, feature.known(at: $0.depth)) }
    }

    /// Returns the load whose handle made this container or an ancestor, if the reader is part of that load.
    @inline(__always)
    func ownRecorder(_ token: LockToken, for reader: () -> Frame?) -> Frame? {
        guard let own = storage[token].rare?.recorder, !own.isFinished, let reader = reader(),
            reader.chain.contains(where: { $0 === own })
        else { return nil }
        return own
    }
}

extension KeyKind {
    /// Whether a read of the kind can throw.
    var `throws`: Bool { self == .throwingFeature || self == .asyncFeature }
}
