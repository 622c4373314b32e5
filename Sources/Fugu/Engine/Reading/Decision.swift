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
    /// Under the lock: takes what is there, joins a load in flight, or begins one.
    ///
    /// If there is no task that waits, the thread does.
    func decide(
        _ request: Request, for container: Container, _ recorder: Flight?, _ need: inout Need?,
        after awaited: Landing?, isTask: Bool = false
    ) -> Decision {
        if isEnded { return .ended }
        let key = request.key
        // What has been loaded meanwhile may tell of names that nobody has asked the sources below its home for.
        if let question = openQuestion(key) { return .ask(question) }
        let (found, limit) = find(key)
        if let present = note(found, key, recorder) { return .found(present.payload) }
        if request.isShared, !isRoot, limit == nil { return decideShared(key, recorder) }
        if need == nil { need = self.need(key, through: recorder) }
        if let awaited {
            if let decision = accept(awaited, key, recorder, isOwn: need!.hasBegun) { return decision }
            need!.outdatedCount += 1
        }
        if let fault = need!.fault { return .faulty(fault) }
        let parent = need!.activity
        if key.kind != .property, awaited == nil, isRefusing(parent) { return .refused }
        let loads = family.loads(of: key)
        let last = loads.value.lastRecipe
        let expected = expectedHome(request, last, limit)
        // Who was given nothing but old values, again and again, loads in parallel.
        let mayJoin = need!.outdatedCount < 4
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
            request, asker: self, container: container, expected: expected, limit: limit, need: need!)
        loads.value.flights.append(flight)
        beginUnderWay()
        return .start(flight, replacement)
    }

    /// Under the lock: what to do where a wait would close a circle.
    ///
    /// If all in it were asked for here, each really needs the next. Otherwise some may wait for what will turn out to
    /// be none of theirs: a load in parallel shows it.
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
    func replacement(of key: Key) -> Replacement? {
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
