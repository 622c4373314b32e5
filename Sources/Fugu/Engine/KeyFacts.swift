/// Who is concerned with one key in a family. Made with the first of them.
final class KeyRecord: Sendable {
    let key: Key
    let facts = FamilyState(KeyFacts())

    init(_ key: Key) { self.key = key }

    deinit { facts.free() }
}

/// The changing part of a record. Guarded by the lock of the family.
struct KeyFacts {
    /// The nodes below the root that have a loaded instance.
    var copies: Set<NodeIdentity> = []
    /// Instances that read this key and reload when it changes.
    var dependents: Set<Dependent> = []
    var observers: [Observer] = []
    /// Loads the key again by itself: known once somebody observes it who could say how.
    var reloader: Reloader?
    var events: [Event] = []
    var isDelivering = false
    /// How sources are asked for the key, if it has a name.
    var naming: PropertyNaming?

    /// Whether a change of the value concerns somebody.
    var isFollowed: Bool { !observers.isEmpty || !dependents.isEmpty }

    /// Whether nobody is.
    var isIdle: Bool { copies.isEmpty && dependents.isEmpty && observers.isEmpty }
}

/// A node as an element of a set. The node is unlinked from all sets before it goes.
struct NodeIdentity: Hashable {
    private let reference: Unowned<Node>

    init(node: Node) { reference = Unowned(node) }

    var node: Node { reference.object }
}

/// An instance that is dropped when something changes that it read at or above `depth`.
struct Dependent: Hashable {
    let node: NodeIdentity
    let key: Key
    let depth: Int
    /// Whether it did not read the key itself, but at `depth` something that was made from the key: it matters then only
    /// if the key becomes held below that.
    var isIndirect = false
}

/// What is rarely needed of a cell. Guarded by the lock of the family.
struct CellFacts {
    // What the family knows of the key: at the root's cell only.
    /// The loads under way.
    var flights = FlightList()
    /// What the last load of this key read: where the next one will live.
    var lastRecipe: Recipe?
    /// Who is concerned with it.
    var record: KeyRecord?

    var recipe: Recipe?
    var lease: Lease?
    var replacement: Replacement?
    /// How often the cell's value was set, reset or loaded since somebody recorded it.
    var changes: UInt32 = 0
    /// Whether something was made from it.
    var isInput = false
    var exclusion: Exclusion?
    /// The generation of the sources that were asked for the key.
    var answered: UInt32?
    /// What was reported of the sources' answer, if it is a wrong value.
    var mistake: String?
}

extension CellFacts {
    /// At the root's cell: whether nobody is concerned with what a node that had nothing for the key sets now.
    var isIdle: Bool { flights.isEmpty && record?.facts.value.isIdle != false }
}

extension CellReference {
    /// Counts a change, for those who read the value before.
    func countChange() { info?.value.changes &+= 1 }
}
