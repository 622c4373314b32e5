import Synchronization

/// A root container and its descendants.
package final class Family: Sendable {
    package let lock: FamilyLock
    let state = FamilyLocked(FamilyState())
    /// The root's storage, which outlives every node of the family.
    ///
    /// The places of its cells hold what the family knows about each key.
    private let rootStorage: StorageReference
    private let heard = Atomic(false)
    private let listened = Atomic(false)
    /// Receives the mistakes that can't be thrown.
    package let reports = Reports()

    init(rootStorage: StorageReference, lock: FamilyLock) {
        self.rootStorage = rootStorage
        self.lock = lock
    }

    deinit {
        state.free()
        lock.destroy()
    }

    /// Whether somebody observes events.
    var isHeard: Bool { heard.load(ordering: .relaxed) }
    /// Whether a test wants to know who uses the containers.
    var isListened: Bool { listened.load(ordering: .relaxed) }

    /// Sets what makes events of facts.
    package func setSink(_ token: LockToken, _ sink: (any FactSink)?, _ garbage: inout Garbage) {
        state[token].sink.replace(by: sink, &garbage)
        heard.store(sink != nil, ordering: .relaxed)
    }

    /// Sets what learns of uses.
    func setListener(_ token: LockToken, _ listener: (any UseListener)?, _ garbage: inout Garbage) {
        state[token].listener.replace(by: listener, &garbage)
        listened.store(listener != nil, ordering: .relaxed)
    }

    /// The place of a key in the root, if there is one.
    func rootPlace(_ token: LockToken, of key: Key) -> Place? {
        rootStorage.existingCell(token, key)?.place
    }

    /// What's known of a key that was loaded.
    func record(_ token: LockToken, of key: Key) -> KeyRecord? { rootPlace(token, of: key)?[token].record }
    /// The provenance of the last load of a key.
    func last(_ token: LockToken, of key: Key) -> Provenance? { record(token, of: key)?.last }

    /// Returns the loads in progress.
    package func loads(_ token: LockToken) -> [Load] {
        rootStorage.cells(token).flatMap { $0.place?[token].record?.loads.all.compactMap(\.load) ?? [] }
    }
}

/// The mutable part of a family.
struct FamilyState {
    /// The time of the last change, load, or failure.
    private(set) var now: UInt64 = 0
    /// The time at which a key was last reset or replaced while a load of it was in progress.
    var lastReset: UInt64 = 0
    private(set) var childCount: UInt64 = 0
    /// The name of each named key that was read or observed.
    var namings = KeyTable<any KeyNaming>()
    /// The nodes that have a supplier; a node is removed when it ends.
    var supplied = WordTable<ObjectIdentifier, UnmanagedReference<Node>>()
    fileprivate(set) var sink = Kept<(any FactSink)?>(nil)
    fileprivate(set) var listener = Kept<(any UseListener)?>(nil)
    #if DEBUG
    var past = FamilyPast()
    #endif

    /// Advances the clock and returns the new time, which no other change has.
    mutating func tick() -> UInt64 {
        now += 1
        return now
    }

    mutating func nextChildNumber() -> UInt64 {
        childCount += 1
        return childCount
    }
}

/// A container as the engine sees it: its storage, its family, and its position in it.
///
/// A node can outlive its ``Container`` in handles that features captured. When the container is released, the node ends:
/// it releases everything it held, and what's left can still be asked safely.
package final class Node: Sendable {
    package let storage: StorageReference
    package let family: Family
    fileprivate let above: ChainReference<Node>?
    package let depth: Int

    package var parent: Node? { above?.object }
    package var isRoot: Bool { above == nil }

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
    /// - `made`: How the container is made, for reports.
    init(parent: Node, _ made: Making) {
        let family = parent.family
        self.family = family
        above = ChainReference(parent)
        depth = parent.depth + 1
        // Each child of the root starts a new branch.
        storage = StorageReference.make(branch: depth > 1 ? parent.storage.branch : nil, lock: family.lock)
        family.lock.withLock { token in parent.addChild(token, self, made) }
    }

    deinit {
        storage.free()
        above?.release { $0.above }
    }
}

/// The life of a node, which only goes forward.
enum Life: Comparable {
    case open
    /// The container refuses to load features, because it or an ancestor is closed or closing.
    case refusing
    /// Nothing that began before is awaited any longer: it has ended, or a deadline is over. What begins to load is never closed.
    case closed
    /// The container was released.
    case ended
}

/// A node's state besides its cells.
///
/// The family's lock protects it.
struct NodeState {
    /// The bits of all keys that were ever held here, by `Key.mask`; a key whose bit is zero isn't held.
    var heldMask: UInt64 = 0
    private(set) var life = Life.open
    var isEnded: Bool { life == .ended }
    /// Whether the container was released, and the node hasn't ended yet.
    var isReleased = false
    /// Whether `withChild` made the container, and it isn't closed yet.
    var isOperation = false
    var isRefusing: Bool { life >= .refusing }
    var isClosed: Bool { life >= .closed }
    /// When it was closed.
    private(set) var closed = UInt64.max
    /// The number of loads requested here that haven't ended, and of instances that have left whose closers run.
    var inProgress: UInt32 = 0
    /// The number that identifies the node: 0 for the root, and from 1 for children, in the order in which they're made.
    var serial: UInt64 = 0
    /// What refuses external features; children inherit it.
    var policy: (any LoadPolicy)?
    var rare: RareNodeState?
    #if DEBUG
    /// How the container was made, and where.
    var made: Making?
    /// The bits of the keys from which instances were made that live here and don't reload.
    var readMask: UInt64 = 0
    #endif
    // Children are unlinked before they're released, so these never dangle.
    var firstChild: UnmanagedReference<Node>?
    var nextSibling: UnmanagedReference<Node>?
    var previousSibling: UnmanagedReference<Node>?

    /// Goes on to a later part of the node's life, unless it has got there.
    mutating func advance(to next: Life) { life = max(life, next) }

    mutating func close(at time: UInt64) {
        if isClosed { return }
        (life, closed) = (.closed, time)
    }

    /// Returns the rare state, creating it if necessary.
    mutating func more() -> RareNodeState { rare.orMade(RareNodeState()) }
}

extension Optional where Wrapped: AnyObject {
    /// Returns the object, creating it if necessary.
    @inline(__always)
    mutating func orMade(_ make: @autoclosure () -> Wrapped) -> Wrapped {
        if let self { return self }
        let made = make()
        self = made
        return made
    }
}

/// State that few nodes need, created on first use to keep the others small.
///
/// The family's lock protects it.
final class RareNodeState {
    /// Whom the node asks for named keys.
    var supplier = Kept<(any ValueSupplier)?>(nil)
    /// What another module keeps here.
    var attachment: (any ContainerAttachment)?
    /// When the run of rules began whose values the node has, and the keys that it set.
    var rules: (begun: UInt64, keys: Set<Key>) = (0, [])
    /// Tracks reads for the Observation framework.
    var tracker: Tracker?
    var closing = ClosingState()
    /// Whether declared homes above don't count here and below.
    var isHomeRoot = false

    @inline(never) init() {}
}

/// A weak reference that can be copied under a lock.
///
/// Make the object strong outside every lock, because releasing it may end it.
struct WeakReference<Object: AnyObject & Sendable>: Sendable {
    private final class Holder: Sendable {
        weak let object: Object?
        init(_ object: Object?) { self.object = object }
    }
    private let holder: Holder

    init(_ object: Object?) { holder = Holder(object) }

    /// The object, if it still exists.
    ///
    /// Ask outside every lock.
    var object: Object? { holder.object }
}

extension UnmanagedReference<Node> {
    var depth: Int { use { $0.depth } }
    var parent: UnmanagedReference<Node>? { use { $0.above?.uncounted } }
}

/// A node and its ancestors, nearest first.
///
/// The caller keeps the node, which keeps its ancestors.
package struct Path: Sequence, IteratorProtocol {
    fileprivate var following: UnmanagedReference<Node>?
    /// The ancestor before which the path ends, or `nil` if it ends with the root.
    fileprivate var end: UnmanagedReference<Node>?

    package mutating func next() -> Node? {
        guard let node = following, node != end else { return nil }
        following = node.parent
        return node.object
    }

    /// Returns the first result of `body` that isn't `nil`, without retaining nodes on the way.
    @inline(__always)
    func firstResult<R>(_ body: (Node) -> R?) -> R? {
        var following = following
        while let node = following, node != end {
            if let result = node.use(body) { return result }
            following = node.parent
        }
        return nil
    }

    // Those of sequences retain each node on the way.
    @inline(__always) func first(where isMeant: (Node) -> Bool) -> Node? {
        firstResult { isMeant($0) ? UnmanagedReference($0) : nil }?.object
    }
    @inline(__always) package func contains(where isMeant: (Node) -> Bool) -> Bool {
        firstResult { isMeant($0) ? true : nil } != nil
    }
}

// What other modules ask.
extension Node {
    package func isClosed(_ token: LockToken) -> Bool { storage[token].isClosed }
    package func policy(_ token: LockToken) -> (any LoadPolicy)? { storage[token].policy }
    package func supplier(_ token: LockToken) -> (any ValueSupplier)? { storage[token].rare?.supplier.value }
}

extension Family {
    package func sink(_ token: LockToken) -> (any FactSink)? { state[token].sink.value }
}

extension CellReference {
    package func provenance(_ token: LockToken) -> Provenance? { place?[token].provenance }
    package func loadCount(_ token: LockToken) -> Int { place?[token].loadCount ?? 0 }
}

extension Load {
    package func inputs(_ token: LockToken) -> [Input] { state[token].inputs.all }
}

extension Node {
    func hasChildren(_ token: LockToken) -> Bool { storage[token].firstChild != nil }
    package func isEnded(_ token: LockToken) -> Bool { storage[token].isEnded }

    package func childCount(_ token: LockToken) -> Int {
        var count = 0
        var child = storage[token].firstChild?.object
        while let next = child {
            count += 1
            child = next.storage[token].nextSibling?.object
        }
        return count
    }

    /// Makes every link past this node that was made before `time` invalid.
    @inline(__always)
    func raiseEpoch(_ token: LockToken, to time: UInt64) {
        storage.raiseEpoch(token, to: time, reachesDescendants: !isRoot && hasChildren(token))
    }

    /// The serial number.
    ///
    /// It never changes: `addChild` sets it before other threads can reach the node.
    package var number: Int { Int(storage.unshared.serial) }

    /// Returns the name that was set for the container itself, that of its attachment, or its number.
    package func displayName(_ token: LockToken) -> String {
        if let cell = storage.existingCell(token, Key.containerName), cell.has(CellFlags.held),
            let name = cell.payload?.string
        {
            return name
        }
        return storage[token].rare?.attachment?.name ?? Messages.boxName(number)
    }

    private func addChild(_ token: LockToken, _ child: Node, _ made: Making) {
        #if DEBUG
        child.storage[token].made = made
        #endif
        child.storage[token].serial = family.state[token].nextChildNumber()
        if let policy = storage[token].policy { child.storage[token].policy = policy }
        child.storage[token].advance(to: storage[token].life)
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
    package var path: Path { Path(following: UnmanagedReference(self), end: nil) }
    /// The node and its ancestors below one of them, nearest first.
    func path(below ancestor: Node) -> Path {
        Path(following: UnmanagedReference(self), end: UnmanagedReference(ancestor))
    }

    /// Whether this node is `ancestor` or one of its descendants.
    package func isWithin(_ ancestor: Node) -> Bool {
        if self === ancestor { return true }
        guard family === ancestor.family, depth > ancestor.depth else { return false }
        return self.ancestor(at: ancestor.depth) === ancestor
    }

    /// Returns the ancestor at a depth, or this node if it isn't deeper.
    package func ancestor(at depth: Int) -> Node {
        if depth >= self.depth { return self }
        return path.first { $0.depth == depth }!
    }

    /// Returns this node and all its descendants, parents first.
    package func subtree(_ token: LockToken) -> [Node] {
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

    /// Returns the cell of a key, if there's one.
    @inline(__always)
    package func cell(_ token: LockToken, _ key: Key) -> CellReference? { storage.existingCell(token, key) }

    /// Returns the cell of a key, creating it if necessary.
    @inline(__always)
    func madeCell(_ token: LockToken, _ key: Key) -> CellReference { storage.cell(token, key) }

    /// Whether the key is held here.
    @inline(__always)
    package func holds(_ token: LockToken, _ key: Key) -> Bool {
        storage[token].heldMask & key.mask != 0 && storage.existingCell(token, key)?.has(CellFlags.held) == true
    }

    /// Returns what code or a rule has set a key to here or above, nearest first, and the time that identifies it.
    func setting(_ token: LockToken, of key: Key) -> (setting: Setting, time: UInt64) {
        guard let cell = path.first(where: { $0.holds(token, key) })?.cell(token, key) else { return (.nothing, 0) }
        return (cell.setting(token), cell.time)
    }

    /// Whether one of the keys, whose bits are in `mask`, is held here.
    func holdsAny(_ token: LockToken, of keys: [Key], _ mask: UInt64) -> Bool {
        storage[token].heldMask & mask != 0 && keys.contains { holds(token, $0) }
    }

    /// Returns the place of a key in the root, creating it if necessary.
    func rootPlace(_ token: LockToken, _ key: Key) -> Place { ancestor(at: 0).place(token, key) }

    /// Returns the place of a key, creating it if necessary.
    @inline(never) func place(_ token: LockToken, _ key: Key) -> Place {
        let cell = madeCell(token, key)
        if let place = cell.place { return place }
        let made = Place(PlaceState(node: UnmanagedReference(self), cell: cell))
        cell.setPlace(made)
        return made
    }

    /// Whether the container is closed.
    var isClosed: Bool { family.lock.withLock { token in storage[token].isClosed } }

    /// Stops the program, since a read that can't throw has no value to give.
    package func stop(_ error: LoadError) -> Never {
        family.lock.withLock { token in storage[token].policy }?.willStop(error)
        stopProgram(error.description)
    }

    /// Whether the container is closed or closing.
    var isRefusing: Bool { family.lock.withLock { token in storage[token].isRefusing } }

    /// Ends the node, if its container was released, and then those above that only this one has kept.
    ///
    /// A node that's being closed, or has children, ends later. Only children that kept handles made don't keep the container itself.
    ///
    /// - `isReleased`: Whether the container is being released now.
    func end(isReleased: Bool) {
        var next = endAlone(isReleased)
        while let node = next { next = node.endAlone(false) }
    }

    /// Releases everything the node has, if it must end, and returns the parent if that may have to end, too.
    private func endAlone(_ isReleased: Bool) -> Node? {
        var garbage = Garbage()
        var followers: [Follower] = []
        var effects = Effects()
        var next: Node?
        family.lock.withLock { token in
            guard isReleased || storage[token].isReleased else { return }
            storage[token].isReleased = hasChildren(token) || storage[token].rare?.closing.calls ?? 0 > 0
            if storage[token].isReleased { return }
            let wasClosed = storage[token].isClosed
            storage[token].advance(to: .ended)
            if let parent {
                leaveParent(token)
                if parent.storage[token].isReleased { next = parent }
            }
            for cell in storage.cells(token) {
                if let place = cell.takePlace() {
                    if let follower = place[token].rare?.follower.value { followers.append(follower) }
                    place.leave(token)
                    garbage.add(place)
                }
                garbage.add(cell.clear(at: family.state[token].tick()))
            }
            let unclosed = endRare(token, wasClosed: wasClosed, &garbage, &effects)
            noteReleased(token, unclosed, &effects)
            guard isRoot else { return }
            family.setSink(token, nil, &garbage)
            family.setListener(token, nil, &garbage)
        }
        effects.perform()
        garbage.dispose()
        for follower in followers { follower.end() }
        return next
    }

    /// Releases the rare state, and returns the keys of the instances whose closers never ran, or `nil` for the container's own.
    @inline(__always)
    private func endRare(
        _ token: LockToken, wasClosed: Bool, _ garbage: inout Garbage, _ effects: inout Effects
    ) -> [Key?] {
        guard let rare = storage[token].rare.take() else { return [] }
        var unclosed: [Key?] = []
        if !wasClosed {
            for teardown in rare.closing.teardowns.takeAll() {
                unclosed.append(teardown.key)
                garbage.add(teardown)
                garbage.add(Retained(teardown.takeUses()))
            }
            if !rare.closing.closers.value.isEmpty { unclosed.append(nil) }
        } else if !rare.closing.teardowns.isEmpty {
            // What a load made that a closing has abandoned is closed once nobody has it.
            storage[token].more().closing.teardowns = rare.closing.teardowns.take()
        }
        if let parent { for run in rare.closing.runs.all { parent.addWork(token, run) } }
        if rare.supplier.value != nil { family.state[token].supplied[ObjectIdentifier(self)] = nil }
        effects.wake(rare.closing.idleWaiters)
        garbage.add(rare)
        return unclosed
    }
}
