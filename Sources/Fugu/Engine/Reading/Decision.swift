extension Resolution {
    /// Takes what is there, joins a load under way, or begins one.
    func decide(_ token: LockToken, _ progress: inout Progress) -> Decision {
        if node.isEnded(token) { return .ended }
        if let question = Question(token, before: key, in: node) { return .ask(question) }
        let lookup = Lookup(token, key, for: node)
        if let present = lookup.read(token, by: recorder) { return .found(present.payload) }
        if request.isShared, !node.isRoot, lookup.limit == nil { return decideShared(token) }
        if progress.need == nil { progress.need = Need.look(token, for: key, in: node.family, through: recorder) }
        if let outcome = progress.awaited?.outcome {
            if let decision = accept(token, outcome, isOwn: progress.hasBegun) { return decision }
            progress.outdatedCount += 1
        }
        if let cycle = progress.need!.cycle { return .cyclic(cycle) }
        if progress.awaited == nil, node.isRefusing(token, key, progress.need!.frame) { return .closed }
        let loads = node.family.rootState(token, of: key)
        let last = loads[token].lastProvenance
        let expected = expectedHome(token, for: node, last, lookup.limit)
        // Who was given nothing but old values, again and again, loads in parallel.
        if progress.outdatedCount < 4, !loads[token].loads.isEmpty,
            let decision = join(token, &loads[token].loads, expected, last, lookup.limit, progress)
        {
            return decision
        }
        let replacement = self.replacement(token, at: lookup.limit)
        if request.isExternal, replacement == nil, let strictness = node.storage[token].strictness {
            return .external(strictness)
        }
        let load = makeLoad(token, expected, lookup.limit, progress.need!)
        loads[token].loads.append(load)
        node.family.beginUnderWay(token, in: node)
        return .load(load, replacement)
    }

    /// Joins a load under way whose instance is expected to live where this reader's would.
    private func join(
        _ token: LockToken, _ loads: inout LoadList, _ expected: UnmanagedReference<Node>, _ last: Provenance?,
        _ limit: UnmanagedReference<Node>?, _ progress: borrowing Progress
    ) -> Decision? {
        loads.first(expectedAt: expected, by: last) {
            expectedHome(token, for: $0.asker, last, limit)
        } _: { load -> Decision? in
            guard load.isOpen(token, limit), !load.isOutdated(token) else { return nil }
            if let circle = WaitGraph.add(progress.need?.frame, waitingFor: load) { return cycle(circle) }
            if progress.awaited == nil { node.family.beginUnderWay(token, in: node) }
            let waiter = isTask ? Waiter.task(TaskWaiter()) : .thread(Signal())
            return .wait(load, waiter, load.join(token, waiter))
        }
    }

    func makeLoad(
        _ token: LockToken, _ expected: UnmanagedReference<Node>, _ limit: UnmanagedReference<Node>?, _ need: Need
    ) -> Load {
        Load(token, request, asker: node, container: container, expected: expected, limit: limit, need: need)
    }

    /// Returns what to do where a wait would close a circle.
    ///
    /// If all in it were asked for here, each really needs the next. Otherwise some may wait for what will turn out to
    /// be none of theirs: a load in parallel shows it.
    private func cycle(_ circle: [any CallFrame]) -> Decision? {
        guard circle.allSatisfy({ ($0 as? Load)?.asker === node }) else { return nil }
        return .cyclic(.cycle(circle.compactMap(\.key) + [key]))
    }

    /// Returns what to do about a shared feature that is not seen here: load it in the root, or, where something here
    /// hides the root's instance, fail.
    private func decideShared(_ token: LockToken) -> Decision {
        let root = node.path.first { $0.isRoot }!
        guard let cell = root.storage.existingCell(token, key), cell.has(CellFlags.loaded),
            let provenance = cell.state?[token].provenance
        else { return .share(root) }
        let way = provenance.way(.max) { key in node.path.contains { !$0.isRoot && $0.holds(token, key) } } ?? []
        let above = Need.look(token, for: key, in: node.family, through: recorder).frame?.way ?? []
        return .cyclic(.overridden(above + [key] + way))
    }

    /// Returns where the key's next instance for a node will live, judging by its last one.
    private func expectedHome(
        _ token: LockToken, for asker: Node, _ last: Provenance?, _ limit: UnmanagedReference<Node>?
    ) -> UnmanagedReference<Node> {
        if request.isLocal || asker.isRoot || last?.isLocal == true { return UnmanagedReference(asker) }
        return asker.path.firstResult { node in
            let isHome =
                node.isRoot || UnmanagedReference(node) == limit || last.map { node.holdsInput(token, of: $0) } ?? false
            return isHome ? UnmanagedReference(node) : nil
        }!
    }

    /// Returns what takes the place of the feature's own load in the nearest node that holds the key.
    func replacement(_ token: LockToken, at limit: UnmanagedReference<Node>?) -> Replacement? {
        guard let cellState = limit?.use({ $0.storage.existingCell(token, key)?.state }) else { return nil }
        return cellState[token].replacement
    }

    /// Returns what the outcome of a load gives the reader, who waited for it; nil if it doesn't fit.
    private func accept(_ token: LockToken, _ pendingOutcome: Locked<LoadOutcome?>, isOwn: Bool) -> Decision? {
        guard let outcome = pendingOutcome.withLock({ $0 }), !outcome.isOutdated,
            isOwn || !outcome.isProvisional, node.isWithin(outcome.home),
            outcome.provenance.isValid(token, for: node, from: outcome.home.depth)
        else { return nil }
        switch outcome.result {
        case .failure(let error): return .failed(error)
        case .success(let payload):
            recorder?.record(token, outcome, of: key)
            node.ownRecorder(token)?.record(token, outcome, of: key)
            return .found(payload)
        }
    }
}

/// What a node sees of a key without loading.
///
/// Whoever looks keeps the node.
struct Lookup {
    private let node: UnmanagedReference<Node>
    private let key: Key
    /// The cell whose value the node sees, and the node at or above it in which that stands.
    let present: (cell: CellReference, owner: UnmanagedReference<Node>)?
    /// The nearest node that holds the key without a value of its own: by a replaced loader, or since a source has a
    /// wrong value.
    let limit: UnmanagedReference<Node>?

    init(_ token: LockToken, _ key: Key, for node: borrowing Node) {
        self.node = UnmanagedReference(copy node)
        self.key = key
        let holder = node.path.firstResult { $0.holds(token, key) ? UnmanagedReference($0) : nil }
        if let holder {
            let cell = holder.use { $0.storage.existingCell(token, key)! }
            if cell.has(CellFlags.hasWord), !cell.has(CellFlags.loaded) {
                present = (cell, holder)
                limit = nil
                return
            }
        }
        limit = holder
        // The nearest instance that was loaded and is valid for the node.
        present =
            node.path.firstResult { owner -> (cell: CellReference, owner: UnmanagedReference<Node>)?? in
                if let cell = owner.storage.existingCell(token, key), cell.has(CellFlags.loaded),
                    Self.isValid(token, cell, from: owner.depth, for: node)
                {
                    return .some((cell, UnmanagedReference(owner)))
                }
                return UnmanagedReference(owner) == holder ? .some(nil) : nil
            } ?? nil
    }

    /// Whether what was loaded at a depth is right for a node too: nothing below it, on the way there, holds anything that
    /// it was made from.
    private static func isValid(_ token: LockToken, _ cell: CellReference, from depth: Int, for node: Node) -> Bool {
        if depth == node.depth { return true }
        guard let cellState = cell.state, let provenance = cellState[token].provenance else { return true }
        return provenance.isValid(token, for: node, from: depth)
    }

    /// Returns the value, if there is one, with its cell.
    ///
    /// Records it for the load that reads it, and links the node's cell to an ancestor's.
    @inline(__always)
    func read(
        _ token: LockToken, by recorder: Load? = nil
    ) -> (payload: Payload, cell: CellReference)? {
        guard let (cell, owner) = present, let payload = cell.payload else { return nil }
        record(token, for: recorder)
        if owner != node { link(token, to: cell) }
        return (payload, cell)
    }

    /// Records what is there for the load that reads it.
    func record(_ token: LockToken, for recorder: Load?) {
        guard let (cell, owner) = present else { return }
        recorder?.record(token, cell, at: owner.depth)
        node.use { $0.ownRecorder(token) }?.record(token, cell, at: owner.depth)
    }

    /// Lets readers of the node read an ancestor's cell, unless a source in between is still to be asked.
    func link(_ token: LockToken, to cell: CellReference) {
        node.use { node in
            guard Question(token, before: key, in: node) == nil else { return }
            node.storage.cell(token, key).link(to: cell, at: node.family.state[token].now)
        }
    }
}

/// Who needs what is read, as far as it is a load or the like.
struct Need {
    let frame: (any CallFrame)?
    /// The outermost frame on this thread or task.
    let outermost: (any CallFrame)?
    /// Why it must not be had.
    let cycle: LoadCycle?

    /// Looks for what runs on this thread or task, or, where nothing does, takes the load whose handle is used.
    static func look(_ token: LockToken, for key: Key, in family: Family, through recorder: Load?) -> Need {
        let (current, outermost) = Current.unfinishedAndOutermost
        var cycle = LoadCycle.find(token, of: key, in: family, neededBy: current ?? recorder)
        // A handle that another load lent: what runs here waits in its own name, but that load must not need itself either.
        if cycle == nil, let recorder, let current, current !== recorder,
            !current.chain.contains(where: { $0 === recorder })
        {
            cycle = LoadCycle.find(token, of: key, in: family, neededBy: recorder)
        }
        return Need(frame: current ?? recorder, outermost: outermost, cycle: cycle)
    }
}

/// The way of a load that must not be, from the outermost to the key that closes it.
enum LoadCycle {
    /// A load needs itself.
    case cycle([Key])
    /// A load is nested too deeply to be anything else.
    case tooDeep([Key])
    /// A feature that belongs to the whole family was made from something that the asker overrides.
    case overridden([Key])

    /// Looks whether a load would need itself; nil if not.
    static func find(
        _ token: LockToken, of key: Key, in family: Family, neededBy parent: (any CallFrame)?
    ) -> LoadCycle? {
        guard let parent else { return nil }
        let nesting = parent.nesting
        // The bits of several keys may be the same; who needs itself is in load.
        if nesting.mask & key.mask != 0, family.existingRootState(token, of: key)?[token].loads.isEmpty == false,
            parent.chain.contains(where: { $0.key == key && $0.family === family && $0 is Load })
        {
            return .cycle(parent.way + [key])
        }
        guard nesting.level >= 100, nesting.level >= Nesting.deepest || nesting.hasNoStackLeft else { return nil }
        return .tooDeep(parent.way + [key])
    }

    /// Returns the error, or stops the program if reads of the requested kind cannot throw.
    func error(of requested: Key) -> LoadError {
        let error: LoadError =
            switch self {
            case .cycle(let way): .cycle(way)
            case .tooDeep(let way): .tooDeep(way)
            case .overridden(let way): .overridden(way, of: requested)
            }
        guard requested.kind.throws else { fatalError(error.description) }
        return error
    }
}
