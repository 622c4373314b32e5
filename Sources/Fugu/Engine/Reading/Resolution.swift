/// What a look under the lock says is to be done.
enum Decision {
    case found(Payload)
    case start(Flight, Replacement?)
    case wait(Flight, Waiter, Landing)
    case failed(any Error)
    case ended
    case refused
    case faulty(Fault)
    /// The feature is to be loaded in the root first.
    case shared(Node)
    case external(Strictness)
    /// The sources are to be asked for something first.
    case ask(Question)
}

extension Node {
    /// Gives the value of a key for this node, loading it if need be.
    ///
    /// - Parameters:
    ///   - container: The container that was asked; kept alive by the caller.
    ///   - recorder: The load that reads through its handle.
    ///   - load: Makes the value; called at most once, in place.
    func resolve(
        _ request: Request, for container: Container, recorder: Flight?, load: (Container) throws -> Payload
    ) throws -> Payload {
        prepareScopes()
        if let naming = request.naming { family.lock.withLock { family.note(naming, of: request.key) } }
        var need: Need?
        var shared: Payload?
        var awaited: (flight: Flight, landing: Landing)?
        defer {
            if awaited != nil {
                awaited = nil
                endWaiting()
            }
        }
        while true {
            let isFirst = need == nil
            let decision = family.lock.withLock {
                decide(request, for: container, recorder, &need, after: awaited?.landing)
            }
            if isFirst { reportUnrecorded(request.key, need?.activity, recorder) }
            switch consume decision {
            case .found(let payload): return payload
            case .failed(let error):
                if let awaited { need?.activity?.needFailed(awaited.flight.failedWay(error), error) }
                throw error
            case .ended: return try answerEnded(request, container, load)
            case .refused: return try answerClosed(request, container, recorder, need, load)
            case .faulty(let fault): throw error(of: fault, request.key)
            case .external(let strictness): return try refuse(request, by: strictness, recorder, need?.activity)
            case .ask(let question): ask(question)
            case .shared(let root):
                if let shared { return shared }
                shared = try root.resolve(request, for: container.root, recorder: recorder, load: load)
            case .start(let flight, let replacement):
                return try flight.run(for: container, recorder) { view in
                    guard let replacement else { return try load(view) }
                    return try replacement.load(view)
                }
            case .wait(let flight, let waiter, let landing):
                if case .thread(let signal) = waiter { signal.wait() }
                WaitGraph.remove(need?.activity, waitingFor: flight)
                awaited = (flight, landing)
            }
        }
    }

    /// A read that waited has ended.
    func endWaiting() {
        for drain in family.lock.withLock({ endUnderWay() }) { drain.wake() }
    }

    /// Under the lock: what is there for this node, without loading. Links this node's cell to an ancestor's.
    func present(_ key: Key, _ recorder: Flight? = nil) -> (payload: Payload, cell: CellReference)? {
        note(find(key).present, key, recorder)
    }

    /// Under the lock: gives what was found.
    private func note(_ found: Found?, _ key: Key, _ recorder: Flight?) -> (payload: Payload, cell: CellReference)? {
        guard let (cell, owner) = found, let payload = cell.payload else { return nil }
        recorder?.record(cell, at: owner.depth)
        ownRecorder?.record(cell, at: owner.depth)
        if owner != Unowned(self) { link(key, to: cell) }
        return (payload, cell)
    }

    /// Under the lock: lets readers of this node read an ancestor's cell, unless a source in between is still to be asked.
    func link(_ key: Key, to cell: CellReference) {
        if openQuestion(key) == nil { storage.cell(key).link(to: cell, at: family.now) }
    }

    /// A value, and the node at or above the one that asks in which it stands.
    typealias Found = (cell: CellReference, owner: Unowned<Node>)

    /// Under the lock: who has the key for this node. If nobody has, `limit` is the node whose replaced loader is to be
    /// used, if there is one.
    func find(_ key: Key) -> (present: Found?, limit: Unowned<Node>?) {
        guard let holder = path.firstResult({ $0.holds(key) ? Unowned($0) : nil }) else {
            return (findLoaded(key, upTo: nil), nil)
        }
        let cell = holder.use { $0.storage.existingCell(key)! }
        if cell.has(CellState.hasWord), !cell.has(CellState.loaded) { return ((cell, holder), nil) }
        return (findLoaded(key, upTo: holder), holder)
    }

    /// Under the lock: the nearest instance that was loaded and is valid for this node.
    private func findLoaded(_ key: Key, upTo limit: Unowned<Node>?) -> Found? {
        path.firstResult { node -> Found?? in
            if let cell = node.storage.existingCell(key), cell.has(CellState.loaded), isValid(cell, of: node.depth) {
                return .some((cell, Unowned(node)))
            }
            return Unowned(node) == limit ? .some(nil) : nil
        } ?? nil
    }

    /// Under the lock: whether what was loaded at a depth is right for this node too: nothing below it, on the way here,
    /// holds anything that it was made from.
    private func isValid(_ cell: CellReference, of depth: Int) -> Bool {
        if depth == self.depth { return true }
        guard let info = cell.info, let recipe = info.value.recipe else { return true }
        return isValid(recipe, of: depth)
    }

    /// Under the lock: whether this node, at a depth or below, sees an instance there that was made by the recipe.
    func isValid(_ recipe: Recipe, of depth: Int) -> Bool {
        if depth == self.depth { return true }
        return !recipe.isLocal && !recipe.isOverridden(for: self, above: depth)
    }

    /// Under the lock: takes what is there, joins a load in flight, or begins one. If there is no task that waits, the
    /// thread does.
    @inline(never)  // For threads and for tasks.
    func decide(
        _ request: Request, for container: Container, _ recorder: Flight?, _ known: inout Need?,
        after awaited: Landing?, isTask: Bool = false
    ) -> Decision {
        if isEnded { return .ended }
        let key = request.key
        // What has been loaded meanwhile may tell of names that nobody has asked the sources below its home for.
        if let question = openQuestion(key) { return .ask(question) }
        let (found, limit) = find(key)
        if let present = note(found, key, recorder) { return .found(present.payload) }
        if request.isShared, !isRoot, limit == nil { return decideShared(key, recorder) }
        var need = known ?? self.need(key, through: recorder)
        if let awaited {
            if let decision = accept(awaited, key, recorder, isOwn: need.hasBegun) { return decision }
            need.outdatedCount += 1
        }
        known = need
        if let fault = need.fault { return .faulty(fault) }
        let parent = need.activity
        if key.kind != .property, awaited == nil, isRefusing(parent) { return .refused }
        let loads = family.loads(of: key)
        let last = loads.value.lastRecipe
        let expected = expectedHome(request, last, limit)
        // Who was given nothing but old values, again and again, loads in parallel.
        let mayJoin = need.outdatedCount < 4
        let joined = loads.value.flights.first(expectedAt: expected, by: last) {
            $0.asker.expectedHome(request, last, limit)
        } _: { flight -> Decision? in
            guard mayJoin, flight.isOpen(limit), !flight.isOutdated else { return nil }
            if let circle = WaitGraph.add(parent, waitingFor: flight) { return cycle(circle, closedBy: key) }
            if awaited == nil { beginUnderWay() }
            let waiter = isTask ? Waiter.task(TaskWaiter()) : .thread(Signal())
            return .wait(flight, waiter, flight.join(waiter))
        }
        if let joined { return joined }
        let replacement = limit.flatMap { $0.use { $0.replacement(of: key) } }
        if request.isExternal, replacement == nil, let strictness = storage.facts.strictness {
            return .external(strictness)
        }
        let flight = Flight(
            request, asker: self, container: container, expected: expected, limit: limit, need: need)
        loads.value.flights.append(flight)
        beginUnderWay()
        family.noteBeginning(of: flight)
        return .start(flight, replacement)
    }

    /// Under the lock: what to do where a wait would close a circle. If all in it were asked for here, each really needs the
    /// next. Otherwise some may wait for what will turn out to be none of theirs: a load in parallel shows it.
    private func cycle(_ circle: [any Activity], closedBy key: Key) -> Decision? {
        guard circle.allSatisfy({ ($0 as? Flight)?.asker === self }) else { return nil }
        return .faulty(Fault(way: circle.compactMap(\.key) + [key], kind: .cycle))
    }

    /// Under the lock: what becomes of a read of a feature that belongs to the whole family and is not seen here: it is to be
    /// loaded in the root, or something here hides the instance there.
    private func decideShared(_ key: Key, _ recorder: Flight?) -> Decision {
        let root = path.first { $0.isRoot }!
        guard let cell = root.storage.existingCell(key), cell.has(CellState.loaded),
            let recipe = cell.info?.value.recipe
        else { return .shared(root) }
        let way = recipe.way(.max) { key in path.contains { !$0.isRoot && $0.holds(key) } } ?? []
        let above = need(key, through: recorder).activity?.way ?? []
        return .faulty(Fault(way: above + [key] + way, kind: .overridden))
    }

    /// Under the lock: where the key's next instance for this node will live, judging by its last one.
    private func expectedHome(_ request: Request, _ last: Recipe?, _ limit: Unowned<Node>?) -> Unowned<Node> {
        if request.isLocal || isRoot || last?.isLocal == true { return Unowned(self) }
        return path.firstResult { node in
            let isHome = node.isRoot || Unowned(node) == limit || last.map { node.holdsInput(of: $0) } ?? false
            return isHome ? Unowned(node) : nil
        }!
    }

    /// Under the lock: what takes the place of a feature's own load here.
    private func replacement(of key: Key) -> Replacement? {
        guard let info = storage.existingCell(key)?.info else { return nil }
        return info.value.replacement
    }

    /// Under the lock: what the end of a load means to this node, which waited for it, if it left nothing to be found.
    private func accept(_ landing: Landing, _ key: Key, _ recorder: Flight?, isOwn: Bool) -> Decision? {
        guard let outcome = landing.outcome.withLock({ $0 }), !outcome.isOutdated,
            isOwn || !outcome.isProvisional, isWithin(outcome.home), isValid(outcome.recipe, of: outcome.home.depth)
        else { return nil }
        switch outcome.result {
        case .failure(let error): return .failed(error)
        case .success(let payload):
            recorder?.record(outcome, of: key)
            ownRecorder?.record(outcome, of: key)
            return .found(payload)
        }
    }
}

extension Node {
    /// Says that the container is closed.
    func refusal(of key: Key, _ parent: (any Activity)?) -> LoadError { .closed((parent?.way ?? []) + [key]) }

    /// Answers after the container has been closed: who can fail does; what cannot is loaded for its reader alone.
    private func answerClosed(
        _ request: Request, _ container: Container, _ recorder: Flight?, _ need: Need?,
        _ load: (Container) throws -> Payload
    ) throws -> Payload {
        let parent = need?.activity
        if request.key.kind.throws { throw refusal(of: request.key, parent) }
        let (flight, replacement, strictness) = family.lock.withLock {
            let limit = find(request.key).limit
            let replacement = limit.flatMap { $0.use { $0.replacement(of: request.key) } }
            let flight = Flight(
                request, asker: self, container: container, expected: Unowned(self), limit: limit, need: need ?? Need(activity: nil, standing: nil, fault: nil))
            return (flight, replacement, request.isExternal && replacement == nil ? storage.facts.strictness : nil)
        }
        if let strictness { return try refuse(request, by: strictness, recorder, parent) }
        if let replacement { return try flight.runForReaderAlone(replacement.load) }
        return try flight.runForReaderAlone(load)
    }

    /// Answers after the container has gone away.
    private func answerEnded(
        _ request: Request, _ container: Container, _ load: (Container) throws -> Payload
    ) throws -> Payload {
        let key = request.key
        guard key.kind != .property else {
            family.reports.report(Messages.readAfterEnd(of: key))
            return try load(Container.ended)
        }
        let error = LoadError.ended(key)
        guard key.kind.throws else { fatalError(error.description) }
        throw error
    }

    /// Tells, in debug builds, of a load that reads its own family past its handle.
    func reportUnrecorded(_ key: Key, _ parent: (any Activity)?, _ recorder: Flight?) {
        #if DEBUG
        guard recorder == nil, let flight = parent as? Flight, flight.family === family,
            family.lock.withLock({ ownRecorder }) == nil
        else { return }
        family.reports.report(Messages.unrecordedRead(of: key, by: flight.requested))
        #endif
    }
}

extension KeyKind {
    /// Whether a read of the kind can throw.
    var `throws`: Bool { self == .throwingFeature || self == .asyncFeature }
}

extension Flight {
    /// Runs the load on this thread. Returns what its own asker gets.
    func run(for container: Container, _ recorder: Flight?, _ load: (Container) throws -> Payload) throws -> Payload {
        // A default reads nothing through a handle.
        let view = requested.kind == .property ? container : Container(view: self)
        let result = Result {
            try Current.run(self) {
                if view === container { return try load(view) }
                return try Container.$current.withValue(view) { try load(view) }
            }
        }
        let (given, home) = end(with: result, recorder)
        if view !== container { view.answers(from: home) }
        Deferred.deliver(after: self)
        return try given.get()
    }

    /// Runs the load on this thread, for a container that is closed: nothing is kept, and what it needs is loaded for it
    /// alone.
    fileprivate func runForReaderAlone(_ load: (Container) throws -> Payload) throws -> Payload {
        let view = Container(view: self)
        family.lock.withLock {
            facts.value.isForReaderAlone = true
            facts.value.isAbandoned = true
            // Where cycles are looked for.
            family.loads(of: requested).value.flights.append(self)
        }
        let result = Result {
            try Current.run(self) { try Container.$current.withValue(view) { try load(view) } }
        }
        let way = way
        let (inputs, rare) = family.lock.withLock {
            defer {
                facts.value.inputs = []
                facts.value.rare = nil
            }
            facts.value.home = Unowned(asker)
            facts.value.container = nil
            finish()
            family.existingLoads(of: requested)?.value.flights.remove(self)
            return (facts.value.inputs, facts.value.rare)
        }
        let closers = rare?.closers.count ?? 0
        for input in inputs { _ = input.recipe?.take() }
        view.answers(from: asker)
        Deferred.deliver(after: self)
        family.reports.report(Messages.loadedAfterClosing(way, closers: closers))
        return try result.get()
    }
}
