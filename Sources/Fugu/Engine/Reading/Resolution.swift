/// A read that could not be answered at once.
///
/// It looks again and again, until there is an answer or somebody has to load or to wait, which threads and tasks do in
/// different ways.
private struct Resolution: ~Copyable {
    enum Step {
        case found(Payload)
        case load(Load, Replacement?)
        case wait(Load, Waiter)
        /// The feature is to be loaded in the root first.
        case share(Node)
        /// The container is closed, or has gone away, and the reader cannot fail.
        case closed
        case ended
    }

    private(set) var need: Need?
    private var awaited: (node: Node, load: Load, pendingOutcome: PendingOutcome)?
    /// The wait that is under way, if somebody hears of it.
    private var span: WaitSpan?
    /// What the root gave.
    var shared: Payload?

    deinit { awaited?.node.endWaiting() }

    /// What is to be done next.
    ///
    /// - `recorder`: The load that reads through its handle.
    /// - `isTask`: Whether the reader is a task that may suspend.
    mutating func next(
        of node: Node, _ request: Request, for container: Container, _ recorder: Load?, isTask: Bool
    ) throws -> Step {
        while true {
            let isFirst = need == nil
            let decision = node.family.lock.withLock { token in
                node.decide(
                    token, request, for: container, recorder, &need, after: awaited?.pendingOutcome, isTask: isTask)
            }
            if isFirst { node.reportUnrecorded(request.key, need?.frame, recorder) }
            switch consume decision {
            case .found(let payload): return .found(payload)
            case .failed(let error):
                if let awaited { need?.frame?.needFailed(awaited.load.failedWay(error), error) }
                throw error
            case .ended:
                if request.key.kind.throws { throw LoadError.ended(request.key) }
                return .ended
            case .refused:
                if request.key.kind.throws { throw node.refusal(of: request.key, need?.frame) }
                return .closed
            case .cyclic(let cycle): throw node.error(of: cycle, request.key)
            case .external(let strictness):
                return .found(try node.refuse(request, by: strictness, recorder, need?.frame))
            case .ask(let question): question.ask()
            case .shared(let root): return shared.map { .found($0) } ?? .share(root)
            case .start(let load, let replacement):
                need?.hasBegun = true
                return .load(load, replacement)
            case .wait(let load, let waiter, let pendingOutcome):
                need?.hasBegun = false
                awaited = (node, load, pendingOutcome)
                span = WaitSpan.begin(waitingFor: load, need?.frame)
                return .wait(load, waiter)
            }
        }
    }

    /// The wait for a load of another reader is over.
    mutating func endWait(for load: Load) {
        WaitGraph.remove(need?.frame, waitingFor: load)
        span.take()?.end()
    }

    /// Lets the reader wait for the load that it has begun, unless that has ended.
    mutating func join(_ load: Load, _ task: Task<Result<Payload, any Error>, Never>) -> Waiter? {
        guard let (waiter, pendingOutcome) = load.join(task, isFirstWait: awaited == nil) else { return nil }
        awaited = (load.asker, load, pendingOutcome)
        return waiter
    }
}

extension Node {
    /// Gives the value of a key for this node, loading it if need be.
    ///
    /// - `container`: The container that was asked; kept alive by the caller.
    /// - `recorder`: The load that reads through its handle.
    /// - `load`: Makes the value; called at most once, in place.
    func resolve(
        _ request: Request, for container: Container, recorder: Load?, load loader: (Container) throws -> Payload
    ) throws -> Payload {
        if let naming = request.naming {
            family.lock.withLock { token in family.state[token].register(naming, of: request.key) }
        }
        prepareScopes()
        var resolution = Resolution()
        while true {
            switch try resolution.next(of: self, request, for: container, recorder, isTask: false) {
            case .found(let payload): return payload
            case .closed: return try answerClosed(request, container, recorder, resolution.need, loader)
            case .ended: return try answerEnded(request, loader)
            case .share(let root):
                resolution.shared = try root.resolve(request, for: container.root, recorder: recorder, load: loader)
            case .load(let load, let replacement):
                return try load.run(for: container, recorder) { view in
                    try replacement.map { try $0.load(view) } ?? loader(view)
                }
            case .wait(let load, let waiter):
                if case .thread(let signal) = waiter { signal.wait() }
                resolution.endWait(for: load)
            }
        }
    }

    /// Gives the value of an async key for this node, loading it in a task of its own if need be.
    func resolveAsync(
        _ request: Request, for container: Container, recorder: Load?,
        load loader: @escaping @Sendable (Container) async throws -> Payload
    ) async throws -> Payload {
        // A load must not hold up the actor of its reader.
        let hasActor = Task.isOnActor(#isolation)
        prepareScopes()
        var resolution = Resolution()
        // Who is cancelled begins nothing. Otherwise cancelled loads of a cycle would begin one another for ever.
        if Task.isCancelled { return try answerCancelled(request, recorder) }
        while true {
            switch try resolution.next(of: self, request, for: container, recorder, isTask: true) {
            case .found(let payload): return payload
            case .closed, .ended: throw LoadError.ended(request.key)  // `next` has thrown already.
            case .share(let root):
                resolution.shared = try await root.resolveAsync(
                    request, for: container.root, recorder: recorder, load: loader)
            case .load(let load, let replacement):
                let mayRunHere = !hasActor && !load.nesting.level.isMultiple(of: 16)
                let task = load.start(for: container, recorder, mayRunHere, replacement?.loadAsync ?? loader)
                guard let waiter = resolution.join(load, task) else { return try (await task.value).get() }
                try await load.await(waiter)
            case .wait(let load, let waiter):
                defer { resolution.endWait(for: load) }
                try await load.await(waiter)
            }
        }
    }

    /// A read that waited has ended.
    fileprivate func endWaiting() {
        for drain in family.lock.withLock({ token in endUnderWay(token) }) { drain.wake() }
    }

    /// Tells, in debug builds, of a load that reads its own family past its handle.
    fileprivate func reportUnrecorded(_ key: Key, _ parent: (any CallFrame)?, _ recorder: Load?) {
        #if DEBUG
        guard recorder == nil, let load = parent as? Load, load.family === family,
            family.lock.withLock({ token in ownRecorder(token) }) == nil
        else { return }
        family.reports.report(Messages.unrecordedRead(of: key, by: load.requested))
        #endif
    }
}

extension Node {
    /// Answers a reader whose task has been cancelled: with what is there.
    private func answerCancelled(_ request: Request, _ recorder: Load?) throws -> Payload {
        if let present = presentAfterAsking(request.key, recorder) { return present }
        if let cycle = family.lock.withLock({ token in need(token, request.key, through: recorder).cycle }) {
            throw error(of: cycle, request.key)
        }
        throw CancellationError()
    }
}

extension KeyKind {
    /// Whether a read of the kind can throw.
    var `throws`: Bool { self == .throwingFeature || self == .asyncFeature }
}
