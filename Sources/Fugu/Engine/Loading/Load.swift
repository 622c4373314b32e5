import Synchronization

/// One load, and what answers for the handle through which it reads.
final class Load: CallFrame {
    let requested: Key
    let isLocal: Bool
    let reloads: Bool
    let isExternal: Bool
    /// The node that was asked.
    let asker: Node
    // The asker keeps its ancestors.
    /// Where the instance is expected to live.
    let expected: UnmanagedReference<Node>
    /// The nearest node that holds the key without a value of its own: the instance lives there or deeper.
    ///
    /// Either that node's replaced loader runs, or the default stands in for a source's wrong value.
    let limit: UnmanagedReference<Node>?
    let parent: (any CallFrame)?
    let nesting: Nesting
    let outermost: (any CallFrame)?
    let state = FamilyLocked(LoadState())
    private let finished = Atomic(false)

    init(
        _ token: LockToken,
        _ request: Request, asker: Node, container: UnmanagedReference<Container>, expected: UnmanagedReference<Node>,
        limit: UnmanagedReference<Node>?,
        need: Need
    ) {
        requested = request.key
        isLocal = request.isLocal
        reloads = request.reloads
        isExternal = request.isExternal
        self.asker = asker
        self.expected = expected
        self.limit = limit
        parent = need.frame
        nesting = Nesting(under: parent?.nesting, loading: request.key)
        // Async loads run in tasks of their own.
        outermost = request.key.kind == .asyncFeature ? nil : need.outermost
        state[token].container = container
    }

    deinit {
        for input in state.unshared.inputs { _ = input.provenance?.take() }
        state.free()
    }

    /// Returns whether others may join, who would use the same loader.
    func isOpen(_ token: LockToken, _ limit: UnmanagedReference<Node>?) -> Bool {
        self.limit == limit && !state[token].isAbandoned
    }

    var family: Family { asker.family }
    var key: Key? { requested }
    // `node` is what the handle reads from, which is the asker until the load has ended.
    func isOf(_ node: Node) -> Bool { asker === node }
    var isFinished: Bool { finished.load(ordering: .sequentiallyConsistent) }
    func finish() { finished.store(true, ordering: .sequentiallyConsistent) }
    func needFailed(_ way: [Key], _ error: any Error) {
        let dropped = family.lock.withLock { token in
            isFinished ? [] : state[token].more().failedNeeds.replace(way, error)
        }
        withExtendedLifetime(dropped) {}
    }
    /// From this load to the one that threw the error with which it failed.
    func failedWay(_ error: any Error) -> [Key] {
        [requested] + family.lock.withLock { token in state[token].rare?.failedNeeds ?? [] }.way(to: error)
    }
}

/// The changing part of a load.
///
/// The lock of the family protects it.
struct LoadState {
    var inputs: [Input] = []
    /// What those who wait will be given; made with the first of them, and theirs alone once the load has ended.
    ///
    /// The load itself must not keep the outcome: an instance that keeps its handle would keep itself.
    var pendingOutcome: Locked<LoadOutcome?>?
    /// Where the instance belongs: the asker or an ancestor, which it keeps.
    ///
    /// Set when the load has ended.
    var home: UnmanagedReference<Node>?
    /// The asker's container while the load runs, for children made from the handle.
    ///
    /// Whoever runs the load keeps it.
    var container: UnmanagedReference<Container>?
    /// Its neighbours in the list of the key's loads, and where it stands in that list's index.
    var next: UnmanagedReference<Load>?
    var previous: UnmanagedReference<Load>?
    var indexed: UnmanagedReference<Node>?
    /// The task of an async load.
    var task: Task<Result<Payload, any Error>, Never>?
    /// Whether the task that began an async load waits for it by now.
    var isLaunched = false
    /// Whether nobody waits for it any more.
    var isAbandoned = false
    /// Whether what it makes is for its reader alone, since the container is closed.
    var isForReaderAlone = false
    /// Whether it was made from a placeholder that nobody asked for: then it is neither kept nor given to who waits, each of
    /// whom is to meet the failure.
    var isProvisional = false
    /// What few loads have.
    var rare: RareLoadState?
}

/// What few loads have: made when one does, so that the others are light.
final class RareLoadState {
    /// The keys of the inputs, once they are many.
    var seen: Set<Key> = []
    var waiters = WaiterQueue()
    /// What is to be reported when the load has ended.
    var report: String?
    /// The nodes in which the key was reset meanwhile.
    var resets: [Node] = []
    var closers: [Closer] = []
    /// What was needed and has failed; kept only if the load fails, too.
    var failedNeeds: [FailedNeed] = []
    /// The lifetimes of what was read.
    var needs: [InstanceLifetime] = []
    /// What events call the load.
    var number: UInt64?
}

extension LoadState {
    /// Returns the rare state, made if there is none.
    mutating func more() -> RareLoadState {
        if let rare { return rare }
        let made = RareLoadState()
        rare = made
        return made
    }
}

/// How a load ended.
struct LoadOutcome: Sendable {
    let result: Result<Payload, any Error>
    let home: Node
    let provenance: Provenance
    let lifetime: InstanceLifetime?
    /// Whether something changed meanwhile that it was made from, so that it is not kept: who waited asks again.
    let isOutdated: Bool
    /// Whether it was made from a placeholder that nobody asked for, so that it is right for who began the load alone.
    var isProvisional = false
}

extension Load {
    /// Whether an input of this load has changed by now, so that new readers must not be given what it makes.
    func isOutdated(_ token: LockToken) -> Bool {
        reloads && state[token].inputs.contains { $0.hasChanged(token, for: asker) }
    }

    /// Returns how many wait for the end.
    func waiterCount(_ token: LockToken) -> Int { state[token].rare?.waiters.count ?? 0 }

    /// Adds one who waits for the end.
    func join(_ token: LockToken, _ waiter: Waiter) -> Locked<LoadOutcome?> {
        state[token].more().waiters.append(waiter)
        let pendingOutcome = state[token].pendingOutcome ?? Locked(nil)
        state[token].pendingOutcome = pendingOutcome
        return pendingOutcome
    }

    /// Records that the load read a key from the cell of the container at a depth.
    func record(_ token: LockToken, _ cell: CellReference, at depth: Int) {
        guard !isFinished, depth <= asker.depth else { return }
        let cellState = cell.makeState()
        cellState[token].isInput = true
        cell.mark(CellFlags.special)
        add(
            token, cell.key, at: depth, changed: cellState[token].changed, cellState[token].provenance,
            cellState[token].lifetime)
    }

    /// Records an input whose value was given to those who waited but not kept.
    func record(_ token: LockToken, _ outcome: LoadOutcome, of key: Key) {
        guard !isFinished, outcome.home.depth <= asker.depth else { return }
        if outcome.isProvisional { state[token].isProvisional = true }
        add(token, key, at: outcome.home.depth, changed: Input.neverKept, outcome.provenance, outcome.lifetime)
    }

    private func add(
        _ token: LockToken,
        _ key: Key, at depth: Int, changed: UInt64, _ provenance: Provenance?, _ lifetime: InstanceLifetime?
    ) {
        // A key that is read again may have another instance by now, which is needed too.
        if let lifetime, state[token].rare?.needs.contains(where: { $0 === lifetime }) != true {
            state[token].more().needs.append(lifetime)
        }
        let count = state[token].inputs.count
        if count < 8 {
            guard !state[token].inputs.contains(where: { $0.key == key }) else { return }
        } else {
            let rare = state[token].more()
            if rare.seen.isEmpty { rare.seen = Set(state[token].inputs.map(\.key)) }
            guard rare.seen.insert(key).inserted else { return }
        }
        let input = Input(key: key, depth: depth, changed: changed, provenance: provenance.map { ChainReference($0) })
        if count == 0 { state[token].inputs = [input] } else { state[token].inputs.append(input) }
    }

    /// Returns the deepest of the nodes that held what was read.
    func home(_ token: LockToken) -> Node {
        if isLocal { return asker }
        var depth = limit?.depth ?? 0
        for input in state[token].inputs { depth = max(depth, input.depth) }
        if depth == asker.depth { return asker }
        return asker.path.first { $0.depth == depth }!
    }
}

/// What is remembered of a load that failed, for graphs: no error, which may keep anything, but its text.
struct FailedLoad: Sendable {
    let text: String
    /// From the key to the one whose load threw the error.
    let way: [Key]
    /// What the load had read by then.
    let inputs: [(key: Key, depth: Int)]
    var count = 1

    private static let longestText = 500

    /// Outside every lock, since the error says what it is.
    init(_ error: any Error, way: [Key], _ provenance: Provenance?) {
        let text = "\(error)"
        self.text = text.count > Self.longestText ? text.prefix(Self.longestText) + "…" : text
        self.way = way
        inputs = provenance?.inputs.map { ($0.key, $0.depth) } ?? []
    }
}

extension Load {
    /// Outside the lock: remembers that the load has failed.
    func remember(_ error: any Error, _ provenance: Provenance?) {
        if error is CancellationError { return }
        var failure = FailedLoad(error, way: failedWay(error), provenance)
        family.lock.withLock { token in
            if asker.isEnded(token) { return }
            let rare = asker.storage[token].more()
            failure.count += rare[token].failures[requested]?.count ?? 0
            rare[token].failures[requested] = failure
        }
    }
}
