/// A read that could not be answered at once.
///
/// It looks again and again, until there is an answer or somebody has to load or to wait, which threads and tasks do in
/// different ways. What it does under the lock is in `Decision.swift`.
struct Resolution: ~Copyable {
    /// What is to be done, as a look under the lock says.
    enum Decision {
        case found(Payload)
        case load(Load, Replacement?)
        case wait(Load, Waiter, Locked<LoadOutcome?>)
        /// The feature is to be loaded in the root first.
        case share(Node)
        /// The container is closed.
        case closed
        /// The container has gone away.
        case ended
        // `next` deals with these and never returns them.
        case failed(any Error)
        case cyclic(LoadCycle)
        case external(Strictness)
        /// The sources are to be asked for something first.
        ///
        /// Seldom and large: loads stand on one another, and each keeps what it decided on the stack.
        indirect case ask(Question)
    }

    /// What is remembered from one look to the next.
    struct Progress: ~Copyable {
        var need: Need?
        /// The load that was waited for last, and the node of the reader.
        fileprivate(set) var awaited: (node: Node, load: Load, outcome: Locked<LoadOutcome?>)?
        /// Whether that was begun by this read, in a task of its own.
        fileprivate(set) var hasBegun = false
        /// How often something was waited for that was made from old values.
        var outdatedCount = 0
        /// When the wait that is under way began, if somebody hears of it.
        fileprivate var waitBegan: ContinuousClock.Instant?
        /// What the root gave.
        fileprivate var shared: Payload?

        deinit {
            guard let node = awaited?.node else { return }
            for drain in node.family.lock.withLock({ token in node.family.endUnderWay(token, in: node) }) {
                drain.wake()
            }
        }
    }

    let node: Node
    let request: Request
    /// The container that was asked; whoever reads keeps it.
    let container: UnmanagedReference<Container>
    /// The load that reads through its handle.
    let recorder: Load?
    /// Whether the reader is a task that may suspend; otherwise its thread waits.
    let isTask: Bool

    var key: Key { request.key }

    init(_ request: Request, in node: Node, for container: Container, _ recorder: Load?, isTask: Bool = false) {
        self.request = request
        self.node = node
        self.container = UnmanagedReference(container)
        self.recorder = recorder
        self.isTask = isTask
    }

    /// Gives the value, loading it on this thread if need be.
    ///
    /// `loader`: Makes the value; called at most once, in place.
    func read(_ loader: (Container) throws -> Payload) throws -> Payload {
        if let naming = request.naming { node.family.register(naming, of: key) }
        node.prepareScopes()
        var progress = Progress()
        while true {
            switch try next(&progress) {
            case .found(let payload): return payload
            case .closed: return try answerClosed(progress.need!, loader)
            case .ended: return try answerEnded(loader)
            case .share(let root): progress.shared = try share(root, loader)
            case .load(let load, let replacement): return try run(load, replacement, loader)
            case .wait(let load, let waiter, _):
                if case .thread(let signal) = waiter { signal.wait() }
                endWait(for: load, &progress)
            case .failed, .cyclic, .external, .ask: continue
            }
        }
    }

    // Apart from `read`, so that what stands on the stack while loads run within one another is small.

    private func share(_ root: Node, _ loader: (Container) throws -> Payload) throws -> Payload {
        let container = container.object.root
        defer { withExtendedLifetime(container) {} }
        return try Resolution(request, in: root, for: container, recorder).read(loader)
    }

    private func run(
        _ load: Load, _ replacement: Replacement?, _ loader: (Container) throws -> Payload
    ) throws -> Payload {
        try load.run(for: container.object, recorder) { view in
            try replacement.map { try $0.load(view) } ?? loader(view)
        }
    }

    /// Gives the value of an async key, loading it in a task of its own if need be.
    func readAsync(_ loader: @escaping @Sendable (Container) async throws -> Payload) async throws -> Payload {
        // A load must not hold up the actor of its reader.
        let hasActor = Task.isOnActor(#isolation)
        node.prepareScopes()
        var progress = Progress()
        // Who is cancelled begins nothing. Otherwise cancelled loads of a cycle would begin one another for ever.
        if Task.isCancelled { return try answerCancelled() }
        while true {
            switch try next(&progress) {
            case .found(let payload): return payload
            case .closed, .ended: throw LoadError.ended(key)  // `next` has thrown already.
            case .share(let root):
                let container = container.object.root
                let resolution = Resolution(request, in: root, for: container, recorder, isTask: true)
                progress.shared = try await resolution.readAsync(loader)
                withExtendedLifetime(container) {}
            case .load(let load, let replacement):
                let mayRunHere = !hasActor && !load.nesting.level.isMultiple(of: 16)
                let task = load.start(for: container.object, recorder, mayRunHere, replacement?.loadAsync ?? loader)
                guard let waiter = join(load, task, &progress) else { return try (await task.value).get() }
                try await load.await(waiter)
            case .wait(let load, let waiter, _):
                defer { endWait(for: load, &progress) }
                try await load.await(waiter)
            case .failed, .cyclic, .external, .ask: continue
            }
        }
    }

    /// Returns what is to be done next, in different ways by threads and tasks.
    ///
    /// If the reader can fail, the container is neither closed nor gone away.
    private func next(_ progress: inout Progress) throws -> Decision {
        while true {
            let isFirst = progress.need == nil
            let decision = node.family.lock.withLock { token in decide(token, &progress) }
            if isFirst { reportUnrecorded(by: progress.need?.frame) }
            switch consume decision {
            case .found(let payload): return .found(payload)
            case .load(let load, let replacement):
                progress.hasBegun = true
                return .load(load, replacement)
            case .wait(let load, let waiter, let outcome):
                beginWait(for: load, outcome, &progress)
                return .wait(load, waiter, outcome)
            case .share(let root): return progress.shared.map { .found($0) } ?? .share(root)
            case .closed:
                if key.kind.throws { throw LoadError.closed((progress.need?.frame?.way ?? []) + [key]) }
                return .closed
            case .ended:
                if key.kind.throws { throw LoadError.ended(key) }
                return .ended
            case .failed(let error):
                if let load = progress.awaited?.load { progress.need?.frame?.needFailed(load.failedWay(error), error) }
                throw error
            case .cyclic(let cycle): throw cycle.error(of: key)
            case .external(let strictness): return .found(try refuse(by: strictness, progress.need?.frame))
            case .ask(let question): question.ask()
            }
        }
    }

    @inline(never)  // Inlined, it has every read count a reference that only waits need.
    private func beginWait(for load: Load, _ outcome: Locked<LoadOutcome?>, _ progress: inout Progress) {
        progress.hasBegun = false
        progress.awaited = (node, load, outcome)
        progress.waitBegan = node.family.hasEvents ? .now : nil
    }

    /// The wait for a load of another reader is over.
    private func endWait(for load: Load, _ progress: inout Progress) {
        WaitGraph.remove(progress.need?.frame, waitingFor: load)
        if let waitBegan = progress.waitBegan.take() { load.tellOfWait(since: waitBegan, progress.need?.frame) }
    }

    /// Lets the reader wait for the load that it has begun, unless that has ended.
    private func join(
        _ load: Load, _ task: Task<Result<Payload, any Error>, Never>, _ progress: inout Progress
    ) -> Waiter? {
        guard let (waiter, outcome) = load.join(task, isFirstWait: progress.awaited == nil) else { return nil }
        progress.awaited = (node, load, outcome)
        return waiter
    }

    /// Answers one who cannot fail after the container has been closed: what is needed is loaded for its reader alone.
    private func answerClosed(_ need: Need, _ loader: (Container) throws -> Payload) throws -> Payload {
        let (load, replacement, strictness) = node.family.lock.withLock { token in
            let limit = Lookup(token, key, for: node).limit
            let replacement = self.replacement(token, at: limit)
            let load = makeLoad(token, UnmanagedReference(node), limit, need)
            return (load, replacement, request.isExternal && replacement == nil ? node.storage[token].strictness : nil)
        }
        if let strictness { return try refuse(by: strictness, need.frame) }
        return try load.runForReaderAlone { view in try replacement.map { try $0.load(view) } ?? loader(view) }
    }

    /// Answers one who cannot fail after the container has gone away.
    private func answerEnded(_ loader: (Container) throws -> Payload) throws -> Payload {
        guard key.kind == .property else { fatalError(LoadError.ended(key).description) }
        node.family.reports.report(Messages.readAfterEnd(of: key))
        return try loader(Container.ended)
    }

    /// Answers a reader whose task has been cancelled: with what is there.
    private func answerCancelled() throws -> Payload {
        if let present = node.presentAfterAsking(key, recorder) { return present }
        let need = node.family.lock.withLock { token in Need.look(token, for: key, in: node.family, through: recorder) }
        if let cycle = need.cycle { throw cycle.error(of: key) }
        throw CancellationError()
    }

    /// Answers for an external feature that was not swapped.
    ///
    /// It counts as read, from the root: a child that swaps it has its own instance of whatever was made with the
    /// placeholder.
    private func refuse(by strictness: Strictness, _ parent: (any CallFrame)?) throws -> Payload {
        node.family.lock.withLock { token in
            guard let root = node.path.first(where: { $0.isRoot }) else { return }
            let cell = root.storage.cell(token, key)
            for load in [recorder, node.ownRecorder(token)].compactMap(\.self) {
                load.record(token, cell, at: root.depth)
                if strictness.isForAll { load.state[token].isProvisional = true }
            }
        }
        let isForPart = (parent as? Exclusion).map { $0.modified == key && $0.node === node } ?? false
        return try strictness.answer(request, parent, isForPart: isForPart)
    }

    /// Tells, in debug builds, of a load that reads its own family past its handle.
    private func reportUnrecorded(by parent: (any CallFrame)?) {
        #if DEBUG
        let family = node.family
        guard recorder == nil, let load = parent as? Load, load.family === family,
            family.lock.withLock({ token in node.ownRecorder(token) }) == nil
        else { return }
        family.reports.report(Messages.unrecordedRead(of: key, by: load.requested))
        #endif
    }
}

extension KeyKind {
    /// Whether a read of the kind can throw.
    var `throws`: Bool { self == .throwingFeature || self == .asyncFeature }
}
