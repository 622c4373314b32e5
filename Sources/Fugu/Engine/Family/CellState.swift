/// What is rarely needed of a cell.
///
/// Locked by the lock of the family.
struct CellState {
    // What the family knows of the key: at the root's cell only.
    /// The loads under way.
    var loads = LoadList()
    /// What the last load of this key read: where the next one will live.
    var lastProvenance: Provenance?
    /// Whether an instance was made for a child, as far as that is of interest.
    var isMadeBelow = false

    var provenance: Provenance?
    var lifetime: InstanceLifetime?
    var replacement: Replacement?
    /// When the cell's value was last set, reset or loaded, if somebody was concerned with it by then.
    var changed: UInt64 = 0
    /// Whether something was made from it.
    var isInput = false
    /// How many instances were loaded here.
    var loadCount: UInt32 = 0
    var exclusion: Exclusion?
    /// The generation of the sources that were asked for the key.
    var answered: UInt32?
    /// What was reported of the sources' answer, if it is a wrong value.
    var mistake: String?
    /// Instances that read this cell and are dropped when it changes.
    var dependents: Set<Dependent> = []
    /// Those who observe the key in this container.
    var followers: Followers?
    var place = Place()
}

/// An instance: a key in a node.
///
/// The node unlinks it before it goes.
struct Dependent: Hashable {
    let node: NodeIdentity
    let key: Key
}

/// A node as an element of a set.
///
/// The node is unlinked from all sets before it goes.
struct NodeIdentity: Hashable {
    private let reference: UnmanagedReference<Node>

    init(node: Node) { reference = UnmanagedReference(node) }

    var node: Node { reference.object }
}

/// Where a cell stands among the cells of the same key in other containers that want to hear of changes above them:
/// those that are observed and those that have a copy of what was loaded.
///
/// Each is linked below its parent's cell, so that a change reaches them without a look at any other container. A cell
/// is unlinked before its container goes.
struct Place {
    fileprivate var node: UnmanagedReference<Node>?
    fileprivate var above: FamilyLocked<CellState>?
    fileprivate var firstBelow: FamilyLocked<CellState>?
    fileprivate var next: FamilyLocked<CellState>?
    fileprivate var previous: FamilyLocked<CellState>?

    /// Whether somebody below wants to hear of changes.
    var hasBelow: Bool { firstBelow != nil }
}

extension FamilyLocked<CellState> {
    /// Whether a change of the value is of interest here or below.
    var isFollowed: Bool { value.followers != nil || value.place.hasBelow || !value.dependents.isEmpty }

    fileprivate var isNeeded: Bool {
        value.followers != nil || value.place.hasBelow || value.provenance != nil
    }
}

// Under the lock.
extension Node {
    /// Links the cell of a key below those of the ancestors, whose writes take the long way from now on.
    func link(_ key: Key) {
        var node = self
        var info = storage.cell(key).makeInfo()
        while info.value.place.node == nil {
            info.value.place.node = UnmanagedReference(node)
            node.storage.cell(key).mark(CellFlags.special)
            guard let parent = node.parent else { return }
            let above = parent.storage.cell(key).makeInfo()
            let next = above.value.place.firstBelow
            info.value.place.above = above
            info.value.place.next = next
            next?.value.place.previous = info
            above.value.place.firstBelow = info
            (node, info) = (parent, above)
        }
    }

    /// Unlinks the cell of a key, and those above that were linked for it alone, if nobody wants to hear of changes there.
    func unlinkIfIdle(_ cell: CellReference) {
        var following = cell.info
        while let info = following, info.value.place.node != nil, !info.isNeeded {
            let place = info.value.place
            if let previous = place.previous {
                previous.value.place.next = place.next
            } else {
                place.above?.value.place.firstBelow = place.next
            }
            place.next?.value.place.previous = place.previous
            info.value.place = Place()
            following = place.above
        }
    }

    /// Calls `body` with the nodes at and below this one, parents first, that are linked for the key, down to where
    /// something else is set for it.
    func forEachLinked(_ key: Key, _ body: (Node, FamilyLocked<CellState>) -> Void) {
        guard let info = storage.existingCell(key)?.info else { return }
        guard info.value.place.hasBelow else { return body(self, info) }
        // As they are now: `body` may unlink them.
        var reached: [(Node, FamilyLocked<CellState>)] = [(self, info)]
        var index = 0
        while index < reached.count {
            var following = reached[index].1.value.place.firstBelow
            while let next = following {
                if let node = next.value.place.node?.object, !node.holds(key) { reached.append((node, next)) }
                following = next.value.place.next
            }
            index += 1
        }
        for (node, info) in reached { body(node, info) }
    }
}

extension Node {
    /// One more, or one less, who is to be asked when something is set for the first time here or above: those who
    /// observe, and instances that are dropped when what they were made from changes.
    func countActive(_ change: Int32) {
        for node in path {
            node.storage.state.activeCount = UInt32(Int32(node.storage.state.activeCount) + change)
        }
    }

    /// The nodes at and below this one in which there are such.
    var activeNodes: [Node] {
        guard storage.state.activeCount > 0 else { return [] }
        var result = [self]
        var index = 0
        while index < result.count {
            var child = result[index].storage.state.firstChild?.object
            while let next = child {
                if next.storage.state.activeCount > 0 { result.append(next) }
                child = next.storage.state.nextSibling?.object
            }
            index += 1
        }
        return result
    }
}

extension CellReference {
    /// Under the lock: notes a change, for those who saw the value before.
    func countChange(at time: UInt64) { info?.value.changed = time }
}
