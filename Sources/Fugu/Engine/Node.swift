import Synchronization

/// A root container and its descendants.
final class Family: Sendable {
    let lock: FamilyLock
    let state = FamilyLocked(FamilyState())
    /// The root's storage, which outlives every node of the family.
    ///
    /// The places of its cells have what the family knows of each key.
    private let rootStorage: StorageReference
    private let observed = Atomic(false)
    /// Where mistakes go that have no one to be thrown at.
    let reports = Reports()
    let leavers = Leavers()

    init(rootStorage: StorageReference, lock: FamilyLock) {
        self.rootStorage = rootStorage
        self.lock = lock
    }

    deinit {
        state.free()
        lock.destroy()
    }

    /// Whether somebody observes events.
    var hasEvents: Bool { observed.load(ordering: .relaxed) }

    func setEventHub(_ token: LockToken, _ hub: EventHub?) {
        state[token].eventHub = hub
        observed.store(hub != nil, ordering: .relaxed)
    }

    /// The place of a key in the root, if there is one.
    func rootPlace(_ token: LockToken, of key: Key) -> Place? { rootStorage.existingCell(token, key)?.place }

    /// The loads under way.
    func loads(_ token: LockToken) -> [Frame] {
        rootStorage.cells(token).flatMap { $0.place?[token].rare?.loads.all ?? [] }
    }
}

/// The part of a family that changes.
struct FamilyState {
    /// The time of the last change.
    private(set) var now: UInt64 = 0
    private(set) var childCount: UInt64 = 0
    /// How sources are asked for each named key that was read or is observed.
    var namings: [Key: PropertyNaming] = [:]
    /// How many attempts to read at one moment are under way.
    var attemptCount = 0
    /// The nodes that have sources; a node leaves before it goes.
    var sourced: Set<UnmanagedReference<Node>> = []
    /// Reports that debug builds have made: for each feature, the keys.
    private var reported: [Key: Set<Key>] = [:]
    fileprivate(set) var eventHub: EventHub?

    /// Returns the time of the next change, which nothing else has.
    mutating func tick() -> UInt64 {
        now += 1
        return now
    }

    mutating func nextChildNumber() -> UInt64 {
        childCount += 1
        return childCount
    }

    /// Returns whether something that a feature does with a key is reported for the first time.
    mutating func isNew(_ feature: Key, _ key: Key) -> Bool { reported[feature, default: []].insert(key).inserted }
}

/// A container as the engine sees it: its storage, its family, and its place in it.
///
/// A node outlives its ``Container`` in handles that features captured. When the container is released, the node ends:
/// it gives up everything it held, and what is left is memory that can be asked safely.
final class Node: Sendable {
    let storage: StorageReference
    let family: Family
    fileprivate let above: ChainReference<Node>?
    let depth: Int

    var parent: Node? { above?.object }
    var isRoot: Bool { above == nil }

    /// Creates a root.
    init() {
        let lock = FamilyLock()
        storage = StorageReference.make(branch: nil, lock: lock)
        family = Family(rootStorage: storage, lock: lock)
        above = nil
        depth = 0
    }

    /// Creates a child.
    ///
    /// - `recorder`: The load whose handle the child was made from: what it reads through the child is its input.
    init(parent: Node, recorder: Frame?) {
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

/// A node's state beside its cells.
///
/// The lock of the family protects it.
struct NodeState {
    /// A bit for every key that was ever held here, by `Key.mask`: zero for a key means it is not held.
    var heldMask: UInt64 = 0
    var isEnded = false
    /// Whether features are not loaded any more, since the container or one above it is closed or being closed.
    var isRefusing = false
    /// Whether the container is closed: nothing that is loaded is kept.
    var isClosed = false
    /// How many loads were asked for here and have not ended, and how many reads here wait for loads.
    var underWay: UInt32 = 0
    /// The number that tells it apart: its position among all children made in the family, from 1; the root's is 0.
    var serial: UInt64 = 0
    /// Refuses external features; children inherit it.
    var strictness: Strictness?
    /// Rare state.
    var rare: RareNodeState?
    // Children are unlinked before they go, so these never dangle.
    var firstChild: UnmanagedReference<Node>?
    var nextSibling: UnmanagedReference<Node>?
    var previousSibling: UnmanagedReference<Node>?

    /// Returns the rare state, made if there is none.
    mutating func more() -> RareNodeState { rare.orMade(RareNodeState()) }
}

extension Optional where Wrapped: AnyObject {
    /// Returns the object, made if there is none.
    @inline(__always)
    mutating func orMade(_ make: @autoclosure () -> Wrapped) -> Wrapped {
        if let self { return self }
        let made = make()
        self = made
        return made
    }
}

/// Rare state: made when a container has any, so that the others are small.
///
/// The lock of the family protects it.
final class RareNodeState {
    /// The sources that are asked for named keys.
    var sources: (any ValueSources)?
    /// The rules that were added here, in order.
    var rules: [ScopeRule] = []
    /// The scopes of this container by path, for as long as someone holds them.
    var scopes: [String: WeakReference<Container>] = [:]
    var scopeNodes: [String: UnmanagedReference<Node>] = [:]
    /// The work of rules here, if the container is a scope.
    var scope: ScopeState?
    /// Tracks reads for the Observation framework.
    var tracker: Tracker?
    /// Closers that were registered outside of loads.
    var closers: [Closer] = []
    /// The closing under way.
    var closing: Frame?
    /// How many former instances have closers that are still to run, and how many of these are needed by nothing any more.
    var leaverCount = 0
    var releasedCount = 0
    /// Who waits until nothing is under way here, or nothing is left to leave.
    var idle: [TaskWaiter] = []
    /// The load from whose handle the container was made.
    var recorder: Frame?
    /// Refusals while the container is being configured; nil at other times.
    var refusals: [Strictness.Refusal]?
    /// The last failed load of each key that was asked for here.
    var failures: [Key: FailedLoad] = [:]
}

extension UnmanagedReference<Node> {
    var depth: Int { use { $0.depth } }
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

    /// Returns what `body` gives for the first node that it gives something for; nothing is counted on the way.
    @inline(__always)
    func firstResult<R>(_ body: (Node) -> R?) -> R? {
        var following = following
        while let node = following {
            if let result = node.use(body) { return result }
            following = node.parent
        }
        return nil
    }
}

extension Node {
    func hasChildren(_ token: LockToken) -> Bool { storage[token].firstChild != nil }
    func isEnded(_ token: LockToken) -> Bool { storage[token].isEnded }

    /// Its name.
    ///
    /// It never changes: `adopt` sets it before anybody else can reach the node.
    var number: Int { Int(storage.unshared.serial) }

    private func adopt(_ token: LockToken, _ child: Node, _ recorder: Frame?) {
        child.storage[token].serial = family.state[token].nextChildNumber()
        if let strictness = storage[token].strictness { child.storage[token].strictness = strictness }
        if storage[token].isRefusing {
            child.storage[token].isRefusing = true
            child.storage[token].isClosed = storage[token].isClosed
        }
        if let recorder = recorder ?? storage[token].rare?.recorder { child.storage[token].more().recorder = recorder }
        let added = UnmanagedReference(child)
        let next = storage[token].firstChild
        child.storage[token].nextSibling = next
        next?.use { $0.storage[token].previousSibling = added }
        storage[token].firstChild = added
    }

    private func leaveParent(_ token: LockToken) {
        let previous = storage[token].previousSibling
        let next = storage[token].nextSibling
        if let previous {
            previous.use { $0.storage[token].nextSibling = next }
        } else {
            parent?.storage[token].firstChild = next
        }
        next?.use { $0.storage[token].previousSibling = previous }
    }

    /// The node and its ancestors, nearest first.
    var path: Path { Path(following: UnmanagedReference(self)) }

    /// Whether this is `ancestor` or stands below it.
    func isWithin(_ ancestor: Node) -> Bool {
        if self === ancestor { return true }
        guard family === ancestor.family, depth > ancestor.depth else { return false }
        return self.ancestor(at: ancestor.depth) === ancestor
    }

    /// Returns the node on the way to the root that stands at a depth.
    func ancestor(at depth: Int) -> Node {
        if depth >= self.depth { return self }
        return path.firstResult { $0.depth == depth ? UnmanagedReference($0) : nil }!.object
    }

    /// Returns this node and all its descendants, parents first.
    func subtree(_ token: LockToken) -> [Node] {
        var result = [self]
        var index = 0
        while index < result.count {
            var child = result[index].storage[token].firstChild?.object
            while let next = child {
                result.append(next)
                child = next.storage[token].nextSibling?.object
            }
            index += 1
        }
        return result
    }

    /// Whether something was set here for the key.
    @inline(__always)
    func holds(_ token: LockToken, _ key: Key) -> Bool {
        storage[token].heldMask & key.mask != 0 && storage.existingCell(token, key)?.has(CellFlags.held) == true
    }

    /// Whether something was set here for one of the keys, which have the bits of `mask`.
    func holdsAny(_ token: LockToken, of keys: [Key], _ mask: UInt64) -> Bool {
        storage[token].heldMask & mask != 0 && keys.contains { holds(token, $0) }
    }

    /// Returns the place of a key, made if there is none.
    func place(_ token: LockToken, _ key: Key) -> Place {
        let cell = storage.cell(token, key)
        if let place = cell.place { return place }
        let made = Place(PlaceState(node: UnmanagedReference(self), cell: cell))
        cell.setPlace(made)
        return made
    }

    /// Whether the container is closed.
    var isClosed: Bool { family.lock.withLock { token in storage[token].isClosed } }

    /// The container is being released: gives up everything.
    func end() {
        var garbage = Garbage()
        var abandoned: [Key?] = []
        var followers: [Follower] = []
        var effects = Effects(in: nil)
        family.lock.withLock { token in
            storage[token].isEnded = true
            if isRoot {
                garbage.add(family.state[token].eventHub)
                family.setEventHub(token, nil)
            } else {
                leaveParent(token)
            }
            for cell in storage.cells(token) {
                // Who depends on keys of this node lives in it, so only the places above are notified.
                if let place = cell.takePlace() {
                    for (key, closers) in place[token].lifetime?.abandon(in: self) ?? [] {
                        abandoned.append(key)
                        garbage.add(Retained(closers))
                    }
                    if let follower = place[token].rare?.follower { followers.append(follower) }
                    place.unlink(token)
                    garbage.add(place)
                }
                garbage.add(cell.clear(at: family.state[token].tick()))
            }
            guard let rare = storage[token].rare.take() else { return }
            if !rare.closers.isEmpty { abandoned.append(nil) }
            if rare.sources != nil { family.state[token].sourced.remove(UnmanagedReference(self)) }
            if let scope = rare.scope { scope.forget(token, in: self) }
            passLeavers(token, rare)
            effects.wake(rare.idle.map { .task($0) })
            garbage.add(rare)
        }
        effects.wakeWaiters()
        garbage.dispose()
        for follower in followers { follower.end() }
        #if DEBUG
        if !abandoned.isEmpty { family.reports.report(Messages.neverClosed(abandoned)) }
        #endif
    }
}

// MARK: What a node sees of a key

/// A node's view of a key, without loading.
enum Look {
    /// The cell whose value is seen, and the node at or above that it stands in.
    case found(CellReference, UnmanagedReference<Node>)
    /// The value that an update in progress has set.
    case pending(Payload)
    /// Nothing; `limit` is the nearest node that holds the key without a value, by a replaced loader or since a
    /// source has a wrong value.
    case missing(limit: UnmanagedReference<Node>?)
}

extension Node {
    /// Looks for the value of a key that is nearest: what is held, or what was loaded and is valid here.
    ///
    /// - `draft`: The update through whose handle the key is read, whose writes hide what they will replace.
    @inline(__always)
    func look(_ token: LockToken, _ key: Key, through draft: Frame? = nil) -> Look {
        var held: UInt64 = 0
        return path.firstResult { owner -> Look? in
            if let draft, let write = draft.pendingWrite(token, of: key, in: owner) {
                switch write.operation {
                case .set(let payload): return .pending(payload)
                case .replace:
                    return write.made.map { .pending($0.payload) } ?? .missing(limit: UnmanagedReference(owner))
                default:
                    if let made = write.made { return .pending(made.payload) }
                    // The layer behind is uncovered.
                    let rare = owner.storage.existingCell(token, key)?.place?[token].rare
                    if let rule = rare?.rule { return .pending(rule) }
                    switch rare?.supplied ?? .nothing {
                    case .value(let payload): return .pending(payload)
                    case .failure: return .missing(limit: UnmanagedReference(owner))
                    case .nothing: break
                    }
                    held |= owner.storage[token].heldMask
                    return nil
                }
            }
            if let cell = owner.storage.existingCell(token, key) {
                let status = cell.status
                if status & CellFlags.loaded != 0 {
                    let provenance = cell.place?[token].provenance
                    if provenance?.isValid(token, for: self, from: owner, held) ?? true {
                        return .found(cell, UnmanagedReference(owner))
                    }
                } else if status & (CellFlags.held | CellFlags.hasWord) == CellFlags.held | CellFlags.hasWord {
                    return .found(cell, UnmanagedReference(owner))
                }
                if status & CellFlags.held != 0 { return .missing(limit: UnmanagedReference(owner)) }
            }
            held |= owner.storage[token].heldMask
            return nil
        } ?? .missing(limit: nil)
    }

    /// Looks, records what is found for the load that reads it, and lets readers here find it without the lock.
    ///
    /// - `isOutdated`: Set to `true` if it must be reported that an input was set after the load.
    @inline(__always)
    func read(_ token: LockToken, _ key: Key, for recorder: Frame?, _ isOutdated: inout Bool) -> Payload? {
        guard case .found(let cell, let owner) = look(token, key) else { return nil }
        recorder?.record(token, cell, of: owner)
        link(token, key, to: cell, of: owner)
        let status = cell.status
        // Under the lock nothing else is closed.
        if status & CellFlags.fast == 0 { isOutdated = true }
        return cell.payload(status)
    }

    /// Lets readers here read an ancestor's cell without the lock.
    @inline(__always)
    func link(_ token: LockToken, _ key: Key, to cell: CellReference, of owner: UnmanagedReference<Node>) {
        if owner == UnmanagedReference(self) { return }
        storage.cell(token, key).link(to: cell, at: family.state[token].now)
    }
}
