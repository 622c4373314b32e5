/// What is rarely needed of a cell.
///
/// The lock of the family protects it.
struct CellState {
    // What the family knows of the key: at the root's cell only.
    /// The loads under way.
    var loads = LoadList()
    /// What the last load of this key was made from, by which the home of the next one is guessed.
    var lastProvenance: Provenance?
    /// Whether an instance was made below the root, so that debug builds report the next one.
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
    let node: UnmanagedReference<Node>
    let key: Key
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
    func isFollowed(_ token: LockToken) -> Bool {
        self[token].followers != nil || self[token].place.hasBelow || !self[token].dependents.isEmpty
    }

    /// Unlinks the cell of a key, and those above that were linked for it alone, if nobody wants to hear of changes there.
    func unlinkIfIdle(_ token: LockToken) {
        var following: Self? = self
        while let cellState = following, cellState[token].place.node != nil, !cellState.isNeeded(token) {
            let place = cellState[token].place
            if let previous = place.previous {
                previous[token].place.next = place.next
            } else {
                place.above?[token].place.firstBelow = place.next
            }
            place.next?[token].place.previous = place.previous
            cellState[token].place = Place()
            following = place.above
        }
    }

    private func isNeeded(_ token: LockToken) -> Bool {
        self[token].followers != nil || self[token].place.hasBelow || self[token].provenance != nil
    }
}

extension Node {
    /// Links the cell of a key below those of the ancestors, whose writes take the long way from now on.
    func link(_ token: LockToken, _ key: Key) {
        var node = self
        var cellState = storage.cell(token, key).makeState()
        while cellState[token].place.node == nil {
            cellState[token].place.node = UnmanagedReference(node)
            node.storage.cell(token, key).mark(CellFlags.special)
            guard let parent = node.parent else { return }
            let above = parent.storage.cell(token, key).makeState()
            let next = above[token].place.firstBelow
            cellState[token].place.above = above
            cellState[token].place.next = next
            next?[token].place.previous = cellState
            above[token].place.firstBelow = cellState
            (node, cellState) = (parent, above)
        }
    }

    /// Calls `body` with the nodes at and below this one, parents first, that are linked for the key, down to where
    /// something else is set for it.
    func forEachLinked(_ token: LockToken, _ key: Key, _ body: (Node, FamilyLocked<CellState>) -> Void) {
        guard let cellState = storage.existingCell(token, key)?.state else { return }
        guard cellState[token].place.hasBelow else { return body(self, cellState) }
        // As they are now: `body` may unlink them.
        var reached: [(Node, FamilyLocked<CellState>)] = [(self, cellState)]
        var index = 0
        while index < reached.count {
            var following = reached[index].1[token].place.firstBelow
            while let next = following {
                if let node = next[token].place.node?.object, !node.holds(token, key) { reached.append((node, next)) }
                following = next[token].place.next
            }
            index += 1
        }
        for (node, cellState) in reached { body(node, cellState) }
    }
}

extension CellReference {
    /// Records when the value last changed, so that those who saw it before can tell.
    func markChanged(_ token: LockToken, at time: UInt64) { state?[token].changed = time }
}
