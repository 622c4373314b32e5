/// A read that could not be answered at once.
///
/// It looks again and again, until there is an answer or somebody has to load or to wait, which threads and tasks do in
/// different ways.
private struct Resolution: ~Copyable {
    enum Step {
        case found(Payload)
        case load(Flight, Replacement?)
        case wait(Flight, Waiter)
        /// The feature is to be loaded in the root first.
        case share(Node)
        /// The container is closed, or has gone away, and the reader cannot fail.
        case closed
        case ended
    }

    private(set) var need: Need?
    private var awaited: (node: Node, flight: Flight, landing: Landing)?
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
        of node: Node, _ request: Request, for container: Container, _ recorder: Flight?, isTask: Bool
    ) throws -> Step {
        while true {
            let isFirst = need == nil
            let decision = node.family.lock.withLock {
                node.decide(request, for: container, recorder, &need, after: awaited?.landing, isTask: isTask)
            }
            if isFirst { node.reportUnrecorded(request.key, need?.activity, recorder) }
            switch consume decision {
            case .found(let payload): return .found(payload)
            case .failed(let error):
                if let awaited { need?.activity?.needFailed(awaited.flight.failedWay(error), error) }
                throw error
            case .ended:
                if request.key.kind.throws { throw LoadError.ended(request.key) }
                return .ended
            case .refused:
                if request.key.kind.throws { throw node.refusal(of: request.key, need?.activity) }
                return .closed
            case .faulty(let fault): throw node.error(of: fault, request.key)
            case .external(let strictness):
                return .found(try node.refuse(request, by: strictness, recorder, need?.activity))
            case .ask(let question): node.ask(question)
            case .shared(let root): return shared.map { .found($0) } ?? .share(root)
            case .start(let flight, let replacement):
                need?.hasBegun = true
                return .load(flight, replacement)
            case .wait(let flight, let waiter, let landing):
                need?.hasBegun = false
                awaited = (node, flight, landing)
                span = WaitSpan.begin(waitingFor: flight, need?.activity)
                return .wait(flight, waiter)
            }
        }
    }

    /// The wait for a load of another reader is over.
    mutating func endWait(for flight: Flight) {
        WaitGraph.remove(need?.activity, waitingFor: flight)
        span.take()?.end()
    }

    /// Lets the reader wait for the load that it has begun, unless that has ended.
    mutating func join(_ flight: Flight, _ task: Task<Result<Payload, any Error>, Never>) -> Waiter? {
        guard let (waiter, landing) = flight.join(task, isFirstWait: awaited == nil) else { return nil }
        awaited = (flight.asker, flight, landing)
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
        _ request: Request, for container: Container, recorder: Flight?, load: (Container) throws -> Payload
    ) throws -> Payload {
        if let naming = request.naming { family.lock.withLock { family.note(naming, of: request.key) } }
        prepareScopes()
        var resolution = Resolution()
        while true {
            switch try resolution.next(of: self, request, for: container, recorder, isTask: false) {
            case .found(let payload): return payload
            case .closed: return try answerClosed(request, container, recorder, resolution.need, load)
            case .ended: return try answerEnded(request, load)
            case .share(let root):
                resolution.shared = try root.resolve(request, for: container.root, recorder: recorder, load: load)
            case .load(let flight, let replacement):
                return try flight.run(for: container, recorder) { view in
                    try replacement.map { try $0.load(view) } ?? load(view)
                }
            case .wait(let flight, let waiter):
                if case .thread(let signal) = waiter { signal.wait() }
                resolution.endWait(for: flight)
            }
        }
    }

    /// Gives the value of an async key for this node, loading it in a task of its own if need be.
    func resolveAsync(
        _ request: Request, for container: Container, recorder: Flight?,
        load: @escaping @Sendable (Container) async throws -> Payload
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
            case .closed, .ended: throw LoadError.ended(request.key)  // Has been thrown.
            case .share(let root):
                resolution.shared = try await root.resolveAsync(
                    request, for: container.root, recorder: recorder, load: load)
            case .load(let flight, let replacement):
                let mayRunHere = !hasActor && !flight.nesting.level.isMultiple(of: 16)
                let task = flight.start(for: container, recorder, mayRunHere, replacement?.loadAsync ?? load)
                guard let waiter = resolution.join(flight, task) else { return try (await task.value).get() }
                try await flight.await(waiter)
            case .wait(let flight, let waiter):
                defer { resolution.endWait(for: flight) }
                try await flight.await(waiter)
            }
        }
    }

    /// A read that waited has ended.
    fileprivate func endWaiting() {
        for drain in family.lock.withLock({ endUnderWay() }) { drain.wake() }
    }

    /// Tells, in debug builds, of a load that reads its own family past its handle.
    fileprivate func reportUnrecorded(_ key: Key, _ parent: (any Activity)?, _ recorder: Flight?) {
        #if DEBUG
        guard recorder == nil, let flight = parent as? Flight, flight.family === family,
            family.lock.withLock({ ownRecorder }) == nil
        else { return }
        family.reports.report(Messages.unrecordedRead(of: key, by: flight.requested))
        #endif
    }
}

extension Node {
    /// Answers a reader whose task has been cancelled: with what is there.
    private func answerCancelled(_ request: Request, _ recorder: Flight?) throws -> Payload {
        if let present = presentAfterAsking(request.key, recorder) { return present }
        if let fault = family.lock.withLock({ need(request.key, through: recorder).fault }) {
            throw error(of: fault, request.key)
        }
        throw CancellationError()
    }
}

extension KeyKind {
    /// Whether a read of the kind can throw.
    var `throws`: Bool { self == .throwingFeature || self == .asyncFeature }
}
