/// What a look under the lock says is to be done.
enum Decision {
    case found(Payload)
    case start(Load, Replacement?)
    case wait(Load, Waiter, PendingOutcome)
    case failed(any Error)
    case ended
    case refused
    case cyclic(LoadCycle)
    /// The feature is to be loaded in the root first.
    case shared(Node)
    case external(Strictness)
    /// The sources are to be asked for something first.
    case ask(Question)
}

extension Node {
    /// Takes what is there, joins a load under way, or begins one.
    ///
    /// `isTask`: Whether a task waits if there is something to wait for; otherwise the thread does.
    func decide(
        _ token: LockToken,
        _ request: Request, for container: Container, _ recorder: Load?, _ need: inout Need?,
        after awaited: PendingOutcome?, isTask: Bool = false
    ) -> Decision {
        if isEnded(token) { return .ended }
        let key = request.key
        if let question = Question(token, before: key, in: self) { return .ask(question) }
        let (found, limit) = find(token, key)
        if let present = recordRead(token, of: found, key, recorder) { return .found(present.payload) }
        if request.isShared, !isRoot, limit == nil { return decideShared(token, key, recorder) }
        if need == nil { need = self.need(token, key, through: recorder) }
        if let awaited {
            if let decision = accept(token, awaited, key, recorder, isOwn: need!.hasBegun) { return decision }
            need!.outdatedCount += 1
        }
        if let cycle = need!.cycle { return .cyclic(cycle) }
        let parent = need!.frame
        if key.kind != .property, awaited == nil, isRefusing(token, parent) { return .refused }
        let loads = family.rootState(token, of: key)
        let last = loads[token].lastProvenance
        let expected = expectedHome(token, request, last, limit)
        // Who was given nothing but old values, again and again, loads in parallel.
        let mayJoin = need!.outdatedCount < 4
        let joined = loads[token].loads.first(expectedAt: expected, by: last) {
            $0.asker.expectedHome(token, request, last, limit)
        } _: { load -> Decision? in
            guard mayJoin, load.isOpen(token, limit), !load.isOutdated(token) else { return nil }
            if let circle = WaitGraph.add(parent, waitingFor: load) { return cycle(circle, closedBy: key) }
            if awaited == nil { beginUnderWay(token) }
            let waiter = isTask ? Waiter.task(TaskWaiter()) : .thread(Signal())
            return .wait(load, waiter, load.join(token, waiter))
        }
        if let joined { return joined }
        let replacement = limit.flatMap { $0.use { $0.replacement(token, of: key) } }
        if request.isExternal, replacement == nil, let strictness = storage[token].strictness {
            return .external(strictness)
        }
        let load = Load(
            token, request, asker: self, container: container, expected: expected, limit: limit, need: need!)
        loads[token].loads.append(load)
        beginUnderWay(token)
        return .start(load, replacement)
    }

    /// Returns what to do where a wait would close a circle.
    ///
    /// If all in it were asked for here, each really needs the next. Otherwise some may wait for what will turn out to
    /// be none of theirs: a load in parallel shows it.
    private func cycle(_ circle: [any CallFrame], closedBy key: Key) -> Decision? {
        guard circle.allSatisfy({ ($0 as? Load)?.asker === self }) else { return nil }
        return .cyclic(LoadCycle(way: circle.compactMap(\.key) + [key], kind: .cycle))
    }

    /// Returns what to do about a shared feature that is not seen here: load it in the root, or, where something here
    /// hides the root's instance, fail.
    private func decideShared(_ token: LockToken, _ key: Key, _ recorder: Load?) -> Decision {
        let root = path.first { $0.isRoot }!
        guard let cell = root.storage.existingCell(token, key), cell.has(CellFlags.loaded),
            let provenance = cell.state?[token].provenance
        else { return .shared(root) }
        let way = provenance.way(.max) { key in path.contains { !$0.isRoot && $0.holds(token, key) } } ?? []
        let above = need(token, key, through: recorder).frame?.way ?? []
        return .cyclic(LoadCycle(way: above + [key] + way, kind: .overridden))
    }

    /// Returns where the key's next instance for this node will live, judging by its last one.
    private func expectedHome(
        _ token: LockToken, _ request: Request, _ last: Provenance?, _ limit: UnmanagedReference<Node>?
    ) -> UnmanagedReference<Node> {
        if request.isLocal || isRoot || last?.isLocal == true { return UnmanagedReference(self) }
        return path.firstResult { node in
            let isHome =
                node.isRoot || UnmanagedReference(node) == limit || last.map { node.holdsInput(token, of: $0) } ?? false
            return isHome ? UnmanagedReference(node) : nil
        }!
    }

    /// Returns what takes the place of a feature's own load here.
    func replacement(_ token: LockToken, of key: Key) -> Replacement? {
        guard let cellState = storage.existingCell(token, key)?.state else { return nil }
        return cellState[token].replacement
    }

    /// Returns what the outcome of a load gives a reader here that waited for it; nil if it doesn't fit.
    private func accept(
        _ token: LockToken, _ pendingOutcome: PendingOutcome, _ key: Key, _ recorder: Load?, isOwn: Bool
    ) -> Decision? {
        guard let outcome = pendingOutcome.outcome.withLock({ $0 }), !outcome.isOutdated,
            isOwn || !outcome.isProvisional, isWithin(outcome.home),
            isValid(token, outcome.provenance, of: outcome.home.depth)
        else { return nil }
        switch outcome.result {
        case .failure(let error): return .failed(error)
        case .success(let payload):
            recorder?.record(token, outcome, of: key)
            ownRecorder(token)?.record(token, outcome, of: key)
            return .found(payload)
        }
    }
}
