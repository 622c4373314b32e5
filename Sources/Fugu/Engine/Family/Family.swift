import Synchronization

/// A root and its descendants.
final class Family: Sendable {
    let lock: FamilyLock
    let state = FamilyLocked(FamilyState())
    /// The root's storage, which outlives every node of the family.
    ///
    /// The state of its cells has what the family knows of each key's loads.
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

    init(rootStorage: StorageReference, lock: FamilyLock) {
        self.rootStorage = rootStorage
        self.lock = lock
    }

    deinit {
        state.free()
        lock.destroy()
    }

    /// What the family knows of the loads of a key.
    func rootState(_ token: LockToken, of key: Key) -> FamilyLocked<CellState> {
        rootStorage.cell(token, key).makeState()
    }

    /// The same, if anything is known.
    func existingRootState(_ token: LockToken, of key: Key) -> FamilyLocked<CellState>? {
        rootStorage.existingCell(token, key)?.state
    }

    /// The loads under way.
    func loads(_ token: LockToken) -> [Load] {
        var loads: [Load] = []
        for cell in rootStorage.cells(token) {
            if let cellState = cell.state { for load in cellState[token].loads { loads.append(load) } }
        }
        return loads
    }

    func add(_ token: LockToken, layer: Node) {
        state[token].layers.insert(UnmanagedReference(layer))
        scoped.store(true, ordering: .releasing)
    }

    func setEventHub(_ token: LockToken, _ hub: EventHub?) {
        state[token].eventHub = hub
        observed.store(hub != nil, ordering: .releasing)
    }

    /// Remembers how the sources are asked for a key.
    func register(_ naming: PropertyNaming, of key: Key) { lock.withLock { state[$0].register(naming, of: key) } }

    /// Returns how long a chain of provenances may get before it's shortened.
    ///
    /// A chain that is longer than the number of keys contains provenances of instances that are gone.
    func longestChain(_ token: LockToken) -> Int { 2 * rootStorage.cellCount(token) + 32 }
}

/// The part of a family that changes.
struct FamilyState {
    /// The time of the last change.
    private(set) var now: UInt64 = 0
    /// The nodes that hold what rules set for a scope; a node leaves this before it goes.
    var layers: Set<UnmanagedReference<Node>> = []
    /// Closings that wait until nothing is under way in a node.
    var drains: [UnmanagedReference<Node>: [TaskWaiter]] = [:]
    /// The number of containers that are being closed, with something to wait for or to run.
    var closingCount = 0
    /// Whether a container was ever closed.
    var hasClosings = false
    /// How sources are asked for each named key that was read or is observed: a change of the sources reaches these.
    private(set) var namings: [Key: PropertyNaming] = [:]
    /// For each feature, the keys for which it was reported and is not to be reported again.
    private var reported: [Key: Set<Key>] = [:]
    /// Who observes events, if anybody does.
    fileprivate(set) var eventHub: EventHub?
    private var childCount: UInt64 = 0

    /// Returns the time of the next change, which nothing else has.
    mutating func tick() -> UInt64 {
        now += 1
        return now
    }

    /// Returns the number of the next child.
    mutating func nextChildNumber() -> UInt64 {
        childCount += 1
        return childCount
    }

    /// Remembers how the sources are asked for a key.
    mutating func register(_ naming: PropertyNaming, of key: Key) {
        if namings[key] == nil { namings[key] = naming }
    }

    /// Returns whether something that a feature does with a key is reported for the first time.
    mutating func isNew(_ feature: Key, _ key: Key) -> Bool {
        reported[feature, default: []].insert(key).inserted
    }
}
