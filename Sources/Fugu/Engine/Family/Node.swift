/// A container as the engine sees it: its storage, its family and its place in it.
///
/// A node outlives its ``Container`` in handles that features captured. When the container goes away the node is ended:
/// it gives up everything it held, and what is left is memory that can be asked safely.
final class Node: Sendable {
    let storage: StorageReference
    let family: Family
    fileprivate let above: ChainReference<Node>?
    let depth: Int

    var parent: Node? { above?.object }
    var isRoot: Bool { above == nil }

    /// A root.
    init() {
        let lock = FamilyLock()
        storage = StorageReference.make(branch: nil, lock: lock)
        family = Family(rootStorage: storage, lock: lock)
        above = nil
        depth = 0
    }

    /// A child.
    ///
    /// What is read through it is an input of `recorder`, the load whose handle it was made from.
    init(parent: Node, recorder: Load?) {
        let family = parent.family
        self.family = family
        above = ChainReference(parent)
        depth = parent.depth + 1
        // The root's children are branches of their own.
        storage = StorageReference.make(branch: depth > 1 ? parent.storage.branch : nil, lock: family.lock)
        family.lock.withLock { token in parent.adopt(token, self, recorder) }
    }

    deinit {
        storage.free()
        above?.release { $0.above }
    }
}

/// What a node knows beside its cells.
///
/// The lock of the family protects it.
struct NodeState {
    /// A bit for every key that was ever held here, by `Key.mask`: zero for a key means it is not held.
    var heldMask: UInt64 = 0
    /// Who waits for the closing under way, if one is.
    var closing: FamilyLocked<ClosingWaits>?
    var isClosed = false
    var isEnded = false
    /// How many loads were asked for here and have not ended, and how many reads here wait for loads.
    var underWay: UInt32 = 0
    /// For how many keys somebody observes here.
    var followerCount: UInt32 = 0
    /// How many observed keys, and instances that reload, there are here and below.
    var activeCount: UInt32 = 0
    /// The number that tells it apart: its position among all children made in the family, from 1.
    ///
    /// The root's is 0.
    var serial: UInt64 = 0
    /// Refuses external features; children inherit it.
    var strictness: Strictness?
    /// What few containers have.
    private(set) var rare: FamilyLocked<RareNodeState>?
    // Children are unlinked before they go, so these never dangle.
    var firstChild: UnmanagedReference<Node>?
    var nextSibling: UnmanagedReference<Node>?
    var previousSibling: UnmanagedReference<Node>?

    func free() { rare?.free() }

    /// Returns the rare state, made if there is none.
    mutating func more() -> FamilyLocked<RareNodeState> {
        if let rare { return rare }
        let made = FamilyLocked(RareNodeState())
        rare = made
        return made
    }

    /// Takes the rare state away, to be released outside the lock.
    fileprivate mutating func takeRare() -> (any AnyObject & Sendable)? {
        guard let rare = rare.take() else { return nil }
        defer { rare.free() }
        return Retained(rare.unshared)
    }
}

/// What few containers have: made when one does, so that the others are small.
///
/// The lock of the family protects it.
struct RareNodeState {
    /// What is asked for named keys.
    var sources: (any ValueSources)?
    /// Rises with every change of `sources`.
    var sourceGeneration: UInt32 = 0
    /// How many answers were put into cells.
    var answers: UInt32 = 0
    /// Rules and scopes.
    var scopes = ScopeState()
    /// Tracks reads for the Observation framework.
    var tracker: Tracker?
    /// What was registered outside of loads.
    var closers: [Closer] = []
    /// The load that records what is read here.
    var recorder: Load?
    /// The last failed load of each key that was asked for here.
    var failures: [Key: FailedLoad] = [:]
}

extension UnmanagedReference<Node> {
    var depth: Int { use { $0.depth } }
    fileprivate var storage: StorageReference { use { $0.storage } }
    fileprivate var parent: UnmanagedReference<Node>? { use { $0.above?.uncounted } }
}

/// A node and its ancestors, nearest first.
///
/// Whoever walks it keeps the node, which keeps its ancestors.
struct Path: Sequence, IteratorProtocol {
    fileprivate var following: UnmanagedReference<Node>?

    mutating func next() -> Node? {
        guard let node = following else { return nil }
        following = node.parent
        return node.object
    }

    // The walks of every read and load, which count nothing on their way.

    /// What `body` gives for the first node that it gives something for.
    @inline(__always)
    func firstResult<R>(_ body: (Node) -> R?) -> R? {
        var following = following
        while let node = following {
            if let result = node.use(body) { return result }
            following = node.parent
        }
        return nil
    }

    @inline(__always)
    func first(where isMet: (Node) -> Bool) -> Node? {
        firstResult { isMet($0) ? UnmanagedReference($0) : nil }?.object
    }

    @inline(__always)
    func contains(where isMet: (Node) -> Bool) -> Bool { firstResult { isMet($0) ? true : nil } ?? false }
}

extension Node {
    func hasChildren(_ token: LockToken) -> Bool { storage[token].firstChild != nil }
    func isEnded(_ token: LockToken) -> Bool { storage[token].isEnded }
    /// The load whose handle this container, or one above it, was made from: what is read through here is its input.
    func ownRecorder(_ token: LockToken) -> Load? { storage[token].rare?[token].recorder }

    /// What it is called.
    ///
    /// It never changes: `adopt` sets it before anybody else can reach the node.
    var number: Int { Int(storage.unshared.serial) }

    private func adopt(_ token: LockToken, _ child: Node, _ recorder: Load?) {
        child.storage[token].serial = family.state[token].nextChildNumber()
        if let strictness = storage[token].strictness { child.storage[token].strictness = strictness }
        if let recorder = recorder ?? ownRecorder(token) { child.storage[token].more()[token].recorder = recorder }
        let added = UnmanagedReference(child)
        let next = storage[token].firstChild
        child.storage[token].nextSibling = next
        next?.storage[token].previousSibling = added
        storage[token].firstChild = added
    }

    private func leaveParent(_ token: LockToken) {
        let previous = storage[token].previousSibling
        let next = storage[token].nextSibling
        if let previous { previous.storage[token].nextSibling = next } else { parent?.storage[token].firstChild = next }
        next?.storage[token].previousSibling = previous
    }

    /// The node and its ancestors, nearest first.
    var path: Path { Path(following: UnmanagedReference(self)) }

    /// Whether something was set here for the key.
    func holds(_ token: LockToken, _ key: Key) -> Bool {
        storage[token].heldMask & key.mask != 0 && storage.existingCell(token, key)?.has(CellFlags.held) == true
    }

    /// Whether something was set here that the provenance names.
    func holdsInput(_ token: LockToken, of provenance: Provenance) -> Bool {
        // `isOverridden` remembers its answer: a chain that is loaded again asks this of all its links.
        provenance.isOverridden(token, for: self, above: depth - 1)
    }

    /// Whether this is `ancestor` or stands below it.
    func isWithin(_ ancestor: Node) -> Bool {
        if self === ancestor { return true }
        guard family === ancestor.family, depth > ancestor.depth else { return false }
        return path.first { $0.depth == ancestor.depth } === ancestor
    }

    /// Whether something between this node and its ancestor, this included, is set for the key, hiding the ancestor's.
    func isShadowed(_ token: LockToken, _ key: Key, below ancestor: Node) -> Bool {
        path.firstResult { $0 === ancestor ? false : $0.holds(token, key) ? true : nil } ?? true
    }

    /// Returns this node and all its descendants, as far as they are wanted: what stands below one that isn't is left out.
    func subtree(_ token: LockToken, where isWanted: (Node) -> Bool = { _ in true }) -> [Node] {
        guard isWanted(self) else { return [] }
        var result = [self]
        var index = 0
        while index < result.count {
            var child = result[index].storage[token].firstChild?.object
            while let next = child {
                if isWanted(next) { result.append(next) }
                child = next.storage[token].nextSibling?.object
            }
            index += 1
        }
        return result
    }

    /// The nodes at and below this one that have observed keys or instances that reload, or have them below.
    func activeNodes(_ token: LockToken) -> [Node] { subtree(token) { $0.storage[token].activeCount > 0 } }

    /// Changes the number of observed keys and of instances that reload, here and in all ancestors.
    ///
    /// When a key is first set in a node, only nodes with such keys or instances are looked at.
    func countActive(_ token: LockToken, _ change: Int32) {
        for node in path {
            node.storage[token].activeCount = UInt32(Int32(node.storage[token].activeCount) + change)
        }
    }

    /// Gives up everything.
    ///
    /// Returns what is to be released outside the lock.
    func giveUp(_ token: LockToken) -> Garbage {
        var garbage = Garbage()
        storage[token].isEnded = true
        if isRoot {
            garbage.add(family.state[token].eventHub)
            family.setEventHub(token, nil)
        } else {
            leaveParent(token)
        }
        for cell in storage.cells(token) { Change(node: self, cell: cell).giveUp(token, &garbage) }
        if let rare = storage[token].rare { giveUp(token, rare, &garbage) }
        return garbage
    }

    private func giveUp(_ token: LockToken, _ rare: FamilyLocked<RareNodeState>, _ garbage: inout Garbage) {
        if !rare[token].closers.isEmpty { garbage.addAbandoned(nil) }
        if let layer = rare[token].scopes.layer {
            family.state[token].layers.remove(UnmanagedReference(self))
            let above = parent?.storage[token].rare
            if above?[token].scopes.scopes[layer.path]?.layer == UnmanagedReference(self) {
                garbage.add(Retained(above?[token].scopes.scopes.removeValue(forKey: layer.path)))
            }
        }
        garbage.add(storage[token].takeRare())
    }
}
