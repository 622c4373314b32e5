import Synchronization

// How the engine works, for those who meet it here first.
//
// A *family* is a root container and all its descendants. It has one lock, which guards everything below and is never
// held while user code runs. Every operation has the same shape: *decide* under the lock, which is pure bookkeeping, and
// then *act* outside it: run a load, wait for one, release what was replaced, call observers.
//
// Key      one word that identifies what is held (Keys/Key.swift).
// Cell     what one node knows of one key (Storage/Storage.swift). Its state is one of
//            absent   nothing here; perhaps a *link* to the ancestor's cell that a read gave last,
//            set      code (or a rule, or a source) put a value or a replaced loader here: the node *holds* the key,
//            loaded   a load ended here; the cell's *recipe* tells what it read.
//          "Loading" is no state of a cell, since nobody knows where a load will end: it is a flight of the family.
// Record   who in the family is concerned with one key: observers, dependents, copies. Made with the first of them. The
//          loads in flight and the last recipe, which most keys have, stand beside the root's cell (`loads(of:)`).
// Flight   one load. It is the handle that `load(in:)` reads through, so it records every read as an input; it knows the
//          activity that needs it, and so the way that led to it.
//
// A read (Engine/Resolution.swift) first looks for the nearest node that holds the key: what is set wins over all that is
// loaded. If nobody holds it, the nearest loaded instance that is *valid* for the asker is taken: one loaded at X is valid
// for C if no node below X on the way to C holds a key of its recipe. Otherwise a load begins or is joined. The home of
// what was loaded (Engine/Commit.swift) is the deepest node among those that held its inputs. Roots and children take the
// same way; a root's path merely has one node.
//
// The key's last recipe predicts the home of its next load. Those who expect the same home share a flight; whom its
// result does not fit resolves again. Before anyone waits, the wait graph is searched: a wait that would close a circle
// is not begun, the load goes on in parallel, and if there really is a cycle it shows on the way of that load.
//
// A write (Engine/Write.swift) becomes a change (Engine/Change.swift): it alters cells under the lock and collects its
// *effects*: garbage, events, reloads. Events queue in the record of their key, one thread at a time delivers them, outside
// the lock.
//
// A present value is read without any of this, from the cell (Storage/Storage.swift). A child reads an ancestor's cell by
// a link with a stamp; a stamp is right while nothing between them became set or unset, which is all that could give the
// child something else.

/// A root and its descendants.
final class Family: Sendable {
    let lock: FamilyLock
    private let facts = FamilyState(FamilyFacts())
    /// The root's storage, which outlives every node of the family. The records of keys stand beside its cells.
    private let rootStorage: StorageReference
    private let scoped = Atomic(false)
    private let sourced = Atomic(false)
    /// Where mistakes go that have no one to be thrown at.
    let reports = Reports()
    let closings = Closings()

    /// Whether scopes were ever made: reads then look whether their rules have run.
    var hasScopes: Bool { scoped.load(ordering: .acquiring) }

    /// Whether some container was ever given sources: reads of named keys then ask them first.
    var hasSources: Bool { sourced.load(ordering: .acquiring) }
    func noteSources() { sourced.store(true, ordering: .releasing) }

    private struct Pair: Hashable {
        let feature: Key
        let key: Key
    }

    private struct FamilyFacts {
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
        /// Who wants to know what is loaded.
        var loadLog: LoadLog?
    }

    init(rootStorage: StorageReference, lock: FamilyLock) {
        self.rootStorage = rootStorage
        self.lock = lock
    }

    deinit {
        facts.free()
        lock.destroy()
    }

    // Everything below: under the lock.

    /// What the family knows of the loads of a key.
    func loads(of key: Key) -> FamilyState<CellFacts> { rootStorage.cell(key).makeInfo() }

    /// The same, if anything is known.
    func existingLoads(of key: Key) -> FamilyState<CellFacts>? { rootStorage.existingCell(key)?.info }

    /// The loads under way.
    var flights: [Flight] {
        var flights: [Flight] = []
        for cell in rootStorage.cells {
            if let info = cell.info { for flight in info.value.flights { flights.append(flight) } }
        }
        return flights
    }

    /// The nodes that hold what rules set for a scope.
    var layers: Set<NodeIdentity> { facts.value.layers }

    func add(layer: Node) {
        facts.value.layers.insert(NodeIdentity(node: layer))
        scoped.store(true, ordering: .releasing)
    }

    func remove(layer: Node) { facts.value.layers.remove(NodeIdentity(node: layer)) }

    /// Closings that wait until nothing is under way in a node.
    var drains: [NodeIdentity: [TaskWaiter]] {
        get { facts.value.drains }
        _modify { yield &facts.value.drains }
    }

    /// Whether a container was ever closed.
    var hasClosings: Bool { facts.value.hasClosings }

    func noteClosing() { facts.value.hasClosings = true }

    /// How many containers are being closed, with something to wait for or to run.
    var closingCount: Int {
        get { facts.value.closingCount }
        set { facts.value.closingCount = newValue }
    }

    /// How the sources are asked for the keys that have names and are read or observed: a change of theirs reaches those.
    var namings: [Key: PropertyNaming] { facts.value.namings }

    /// Notes how the sources are asked for a key.
    func note(_ naming: PropertyNaming?, of key: Key) {
        guard let naming, facts.value.namings[key] == nil else { return }
        facts.value.namings[key] = naming
    }

    /// Where loads are noted, if somebody asked for that.
    var loadLog: LoadLog? {
        get { facts.value.loadLog }
        set { facts.value.loadLog = newValue }
    }

    /// Ends the sequences of a node that is closed; what is returned is to be released outside the lock.
    func endSequences(in node: Node) -> [Observer.Ending] {
        guard node.storage.facts.followerCount > 0 else { return [] }
        return node.storage.cells.flatMap { cell in
            (cell.info?.value.followers?.facts.value.observers.slots ?? []).compactMap { observer in
                observer.flatMap { $0.isSequence ? $0.end() : nil }
            }
        }
    }

    /// Whether something is reported for the first time: what a feature does with a key.
    func isNew(_ feature: Key, _ key: Key) -> Bool {
        facts.value.reported.insert(Pair(feature: feature, key: key)).inserted
    }

    /// The time of the last change.
    var now: UInt64 { facts.value.time }

    /// The time of the next change, which nothing else has.
    func tick() -> UInt64 {
        facts.value.time += 1
        return facts.value.time
    }

    /// How many recipes may stand behind one another before those of instances that are gone are taken for the cause: more
    /// than there are keys.
    var longestChain: Int { 2 * rootStorage.cellCount + 32 }
}
