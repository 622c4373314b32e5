import Synchronization

/// A root and its descendants.
final class Family: Sendable {
    let lock: FamilyLock
    private let state = FamilyLocked(State())
    /// The root's storage, which outlives every node of the family.
    ///
    /// The records of keys stand beside its cells.
    private let rootStorage: StorageReference
    private let scoped = Atomic(false)
    private let sourced = Atomic(false)
    private let observed = Atomic(false)
    /// Where mistakes go that have no one to be thrown at.
    let reports = Reports()
    let closings = Closings()

    /// Whether scopes were ever made: reads then look whether their rules have run.
    var hasScopes: Bool { scoped.load(ordering: .acquiring) }

    /// Whether some container was ever given sources: reads of named keys then ask them first.
    var hasSources: Bool { sourced.load(ordering: .acquiring) }
    func markSourced() { sourced.store(true, ordering: .releasing) }

    /// Whether somebody observes events.
    var hasEvents: Bool { observed.load(ordering: .acquiring) }

    private struct Pair: Hashable {
        let feature: Key
        let key: Key
    }

    private struct State {
        var time: UInt64 = 0
        var layers: Set<NodeIdentity> = []
        /// Closings that wait until nothing is under way in a node.
        var drains: [NodeIdentity: [TaskWaiter]] = [:]
        /// How many containers are being closed.
        var closingCount = 0
        var hasClosings = false
        var namings: [Key: PropertyNaming] = [:]
        /// What was reported and is not to be reported again.
        var reported: Set<Pair> = []
        var eventHub: EventHub?
        var childCount: UInt64 = 0
    }

    init(rootStorage: StorageReference, lock: FamilyLock) {
        self.rootStorage = rootStorage
        self.lock = lock
    }

    deinit {
        state.free()
        lock.destroy()
    }

    // Everything below: under the lock.

    /// What the family knows of the loads of a key.
    func loads(of key: Key) -> FamilyLocked<CellState> { rootStorage.cell(key).makeInfo() }

    /// The same, if anything is known.
    func existingLoads(of key: Key) -> FamilyLocked<CellState>? { rootStorage.existingCell(key)?.info }

    /// The loads under way.
    var loads: [Load] {
        var loads: [Load] = []
        for cell in rootStorage.cells {
            if let info = cell.info { for load in info.value.loads { loads.append(load) } }
        }
        return loads
    }

    /// The nodes that hold what rules set for a scope.
    var layers: Set<NodeIdentity> { state.value.layers }

    func add(layer: Node) {
        state.value.layers.insert(NodeIdentity(node: layer))
        scoped.store(true, ordering: .releasing)
    }

    func remove(layer: Node) { state.value.layers.remove(NodeIdentity(node: layer)) }

    /// Closings that wait until nothing is under way in a node.
    var drains: [NodeIdentity: [TaskWaiter]] {
        get { state.value.drains }
        _modify { yield &state.value.drains }
    }

    /// Whether a container was ever closed.
    var hasClosings: Bool { state.value.hasClosings }

    func markClosing() { state.value.hasClosings = true }

    /// How many containers are being closed, with something to wait for or to run.
    var closingCount: Int {
        get { state.value.closingCount }
        set { state.value.closingCount = newValue }
    }

    /// How the sources are asked for the keys that have names and are read or observed: a change of theirs reaches those.
    var namings: [Key: PropertyNaming] { state.value.namings }

    /// Notes how the sources are asked for a key.
    func register(_ naming: PropertyNaming?, of key: Key) {
        guard let naming, state.value.namings[key] == nil else { return }
        state.value.namings[key] = naming
    }

    /// Those who observe events, if somebody does.
    var eventHub: EventHub? {
        get { state.value.eventHub }
        set {
            state.value.eventHub = newValue
            observed.store(newValue != nil, ordering: .releasing)
        }
    }

    /// The number of the next child that is made.
    func nextChildNumber() -> UInt64 {
        state.value.childCount += 1
        return state.value.childCount
    }

    /// Ends the sequences of a node that is closed; what is returned is to be released outside the lock.
    func endSequences(in node: Node) -> [Observer.Ending] {
        guard node.storage.state.followerCount > 0 else { return [] }
        return node.storage.cells.flatMap { cell in
            (cell.info?.value.followers?.state.value.observers.slots ?? []).compactMap { observer in
                observer.flatMap { $0.isSequence ? $0.end() : nil }
            }
        }
    }

    /// Whether something is reported for the first time: what a feature does with a key.
    func isNew(_ feature: Key, _ key: Key) -> Bool {
        state.value.reported.insert(Pair(feature: feature, key: key)).inserted
    }

    /// The time of the last change.
    var now: UInt64 { state.value.time }

    /// The time of the next change, which nothing else has.
    func tick() -> UInt64 {
        state.value.time += 1
        return state.value.time
    }

    /// How many provenances may stand behind one another before those of instances that are gone are taken for the cause: more
    /// than there are keys.
    var longestChain: Int { 2 * rootStorage.cellCount + 32 }
}
