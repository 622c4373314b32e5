import Synchronization

/// A root container and its descendants.
final class Family: Sendable {
    let lock: FamilyLock
    let state = FamilyLocked(FamilyState())
    /// The root's storage, which outlives every node of the family.
    ///
    /// The places of its cells hold what the family knows about each key.
    private let rootStorage: StorageReference
    private let observed = Atomic(false)
    /// Receives the mistakes that can't be thrown.
    let reports = Reports()

    init(rootStorage: StorageReference, lock: FamilyLock) {
        self.rootStorage = rootStorage
        self.lock = lock
    }

    deinit {
        state.free()
        lock.destroy()
    }

    /// Whether events are observed.
    var hasEvents: Bool { observed.load(ordering: .relaxed) }

    func setEventHub(_ token: LockToken, _ hub: EventHub?, _ garbage: inout Garbage) {
        state[token].eventHub.set(hub, &garbage)
        observed.store(hub != nil, ordering: .relaxed)
    }

    /// The place of a key in the root, if there is one.
    func rootPlace(_ token: LockToken, of key: Key) -> Place? {
        rootStorage.existingCell(token, key.known(at: 0))?.place
    }

    /// Returns the loads in progress.
    func loads(_ token: LockToken) -> [Frame] {
        rootStorage.cells(token).flatMap { $0.place?[token].rare?.loads.all ?? [] }
    }
}

/// The mutable part of a family.
struct FamilyState {
    /// The time of the last change, load, or failure.
    private(set) var now: UInt64 = 0
    private(set) var childCount: UInt64 = 0
    /// How to ask sources for each named key that was read or observed.
    var namings = KeyTable<PropertyNaming>()
    /// The nodes that have sources; a node is removed when it ends.
    var sourced = WordTable<ObjectIdentifier, UnmanagedReference<Node>>()
    /// The call of a leaver's closer that runs, of which the error is kept.
    var leaverCall = Kept<CloserCall?>(nil)
    /// The reports that debug builds have already made: for each feature, the keys.
    private var reported = KeyTable<Set<Key>>()
    fileprivate(set) var eventHub = Kept<EventHub?>(nil)

    /// Advances the clock and returns the new time, which no other change has.
    mutating func tick() -> UInt64 {
        now += 1
        return now
    }

    mutating func nextChildNumber() -> UInt64 {
        childCount += 1
        return childCount
    }

    /// Records a report about a feature and a key, and returns whether it's the first one.
    mutating func isNew(_ feature: Key, _ key: Key) -> Bool { reported.insert(key, for: feature) }
}

/// A container as the engine sees it: its storage, its family, and its position in it.
///
/// A node can outlive its ``Container`` in handles that features captured. When the container is released, the node ends:
/// it releases everything it held, and what's left can still be asked safely.
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
    /// - `recorder`: The load whose handle made the child. What the load reads through the child is an input of the load.
    init(parent: Node, recorder: Frame?) {
        let family = parent.family
        self.family = family
        above = ChainReference(parent)
        depth = parent.depth + 1
        // Each child of the root starts a new branch.
        storage = StorageReference.make(branch: depth > 1 ? parent.storage.branch : nil, lock: family.lock)
        family.lock.withLock { token in parent.addChild(token, self, recorder) }
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
    /// The container is closed, so that features loaded later aren't kept.
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
    var isRefusing: Bool { life >= .refusing }
    var isClosed: Bool { life >= .closed }
    /// The number of loads requested here that haven't ended, plus the number of reads here that wait for loads.
    var inProgress: UInt32 = 0
    /// The number that identifies the node: 0 for the root, and from 1 for children, in the order in which they're made.
    var serial: UInt64 = 0
    /// Refuses external features; children inherit it.
    var strictness: Strictness?
    var rare: RareNodeState?
    // Children are unlinked before they're released, so these never dangle.
    var firstChild: UnmanagedReference<Node>?
    var nextSibling: UnmanagedReference<Node>?
    var previousSibling: UnmanagedReference<Node>?

    /// Goes on to a later part of the node's life, unless it has got there.
    mutating func advance(to next: Life) { life = max(life, next) }

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
    /// The sources that are asked for named keys.
    var sources = Kept<(any ValueSources)?>(nil)
    /// The rules that were added here, in order.
    var rules: [ScopeRule] = []
    /// The scopes of this container by path, held weakly, and their nodes.
    var scopes: [String: (container: WeakReference<Container>, node: UnmanagedReference<Node>)] = [:]
    /// The state of the rules, if the container is a scope.
    var scope: ScopeState?
    /// Tracks reads for the Observation framework.
    var tracker: Tracker?
    /// The closers that were registered outside loads.
    var closers = Kept<[Closer]>([])
    /// The closing in progress, which has finished once it has run the closers, but not yet released everything.
    var closing: Frame?
    /// How many closings will run, or are running, the closers of what leaves.
    var dueClosings = 0
    /// The closers of instances, in the order in which these ended loading; whoever removes one keeps it.
    var teardowns = SparseList<Teardown>()
    /// The closers of instances that others load while a closing runs here, until it ends.
    var lateTeardowns = SparseList<Teardown>()
    /// The frame of the closers of the instance that has left last, from here or below; each waits for the one before.
    var lastLeaver: Frame?
    var hasClosers: Bool { !closers.value.isEmpty || !teardowns.isEmpty || !lateTeardowns.isEmpty }
    /// The waits of reads here for loads that other reads have begun, here or elsewhere.
    var joined = SparseList<Waiter>()
    /// The tasks that wait until no load is in progress here.
    var idleWaiters: [Waiter] = []
    /// The load whose handle made the container or an ancestor.
    var recorder: Frame?
    /// Whether a test's trait has made the container within that of another trait.
    var isTestRoot = false
    /// Whether the container is being configured, and the refusals meanwhile.
    var isConfiguring = false
    var refusals = Kept<[Strictness.Refusal]>([])
    /// The last failed load of each key that was requested here.
    var failures = KeyTable<FailedLoad>()
    /// What's told of every access, in a test process.
    var watcher: Watcher?
    /// The reports that debug builds have made of reads that ignore what is overridden here: for each reader, the keys.
    private var reported = KeyTable<Set<Key>>()
    #if DEBUG
    /// Where `Container.with` or `withChild` made the container.
    var place: SourcePlace?
    #endif

    @inline(never) init() {}

    /// Records a report about a reader and a key, and returns whether it's the first one.
    func isNew(_ reader: Key, _ key: Key) -> Bool { reported.insert(key, for: reader) }
}

/// A weak reference that can be copied under a lock.
///
/// Make the object strong outside every lock, because releasing it may end it.
struct WeakReference<Object: AnyObject & Sendable>: Sendable, Equatable {
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

    /// Whether this is a copy of the other one.
    static func == (left: Self, right: Self) -> Bool { left.holder === right.holder }
}

extension UnmanagedReference<Node> {
    var depth: Int { use { $0.depth } }
    var parent: UnmanagedReference<Node>? { use { $0.above?.uncounted } }
}

/// A node and its ancestors, nearest first.
///
/// The caller keeps the node, which keeps its ancestors.
struct Path: Sequence, IteratorProtocol {
    fileprivate var following: UnmanagedReference<Node>?
    /// The ancestor before which the path ends, or `nil` if it ends with the root.
    fileprivate var end: UnmanagedReference<Node>?

    mutating func next() -> Node? {
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
    @inline(__always) func contains(where isMeant: (Node) -> Bool) -> Bool {
        firstResult { isMeant($0) ? true : nil } != nil
    }
}

extension Node {
    func hasChildren(_ token: LockToken) -> Bool { storage[token].firstChild != nil }
    func isEnded(_ token: LockToken) -> Bool { storage[token].isEnded }

    /// Makes every link past this node that was made before `time` invalid.
    @inline(__always)
    func raiseEpoch(_ token: LockToken, to time: UInt64) {
        storage.raiseEpoch(token, to: time, reachesDescendants: !isRoot && hasChildren(token))
    }

    /// The serial number.
    ///
    /// It never changes: `addChild` sets it before other threads can reach the node.
    var number: Int { Int(storage.unshared.serial) }

    private func addChild(_ token: LockToken, _ child: Node, _ recorder: Frame?) {
        child.storage[token].serial = family.state[token].nextChildNumber()
        if let strictness = storage[token].strictness { child.storage[token].strictness = strictness }
        // No closing comes to what's made once one of this node or above knows its nodes.
        let isMissed = storage[token].isRefusing && path.contains { $0.storage[token].rare?.closing != nil }
        child.storage[token].advance(to: isMissed ? .closed : storage[token].life)
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
    var path: Path { Path(following: UnmanagedReference(self), end: nil) }
    /// The node and its ancestors below one of them, nearest first.
    func path(below ancestor: Node) -> Path {
        Path(following: UnmanagedReference(self), end: UnmanagedReference(ancestor))
    }

    /// Whether this node is `ancestor` or one of its descendants.
    func isWithin(_ ancestor: Node) -> Bool {
        if self === ancestor { return true }
        guard family === ancestor.family, depth > ancestor.depth else { return false }
        return self.ancestor(at: ancestor.depth) === ancestor
    }

    /// Returns the ancestor at a depth, or this node if it isn't deeper.
    func ancestor(at depth: Int) -> Node {
        if depth >= self.depth { return self }
        return path.first { $0.depth == depth }!
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

    /// Whether the key is held here.
    @inline(__always)
    func holds(_ token: LockToken, _ key: Key) -> Bool {
        storage[token].heldMask & key.mask != 0 && storage.existingCell(token, key)?.has(CellFlags.held) == true
    }

    /// Whether the key is held here, and changes above don't reach what's held.
    func hides(_ token: LockToken, _ key: Key) -> Bool {
        guard holds(token, key) else { return false }
        return storage.existingCell(token, key)?.place?[token].rare?.replacement.value?.link?.wrapsInherited != true
    }

    /// Whether one of the keys, whose bits are in `mask`, is held here.
    func holdsAny(_ token: LockToken, of keys: [Key], _ mask: UInt64) -> Bool {
        storage[token].heldMask & mask != 0 && keys.contains { holds(token, $0) }
    }

    /// Returns the place of a key, creating it if necessary.
    @inline(never) func place(_ token: LockToken, _ key: Key) -> Place {
        let cell = storage.cell(token, key)
        if let place = cell.place { return place }
        let made = Place(PlaceState(node: UnmanagedReference(self), cell: cell))
        cell.setPlace(made)
        return made
    }

    /// Whether the container is closed.
    var isClosed: Bool { family.lock.withLock { token in storage[token].isClosed } }

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
        var abandoned: [Key?] = []
        var followers: [Follower] = []
        var effects = Effects()
        var next: Node?
        family.lock.withLock { token in
            guard isReleased || storage[token].isReleased else { return }
            let isClosing = storage[token].rare.map { $0.closing != nil || $0.dueClosings > 0 } ?? false
            storage[token].isReleased = hasChildren(token) || isClosing
            if storage[token].isReleased { return }
            storage[token].advance(to: .ended)
            if let parent {
                leaveParent(token)
                if parent.storage[token].isReleased { next = parent }
            } else {
                family.setEventHub(token, nil, &garbage)
            }
            for cell in storage.cells(token) {
                // Instances that depend on keys of this node live in it, so only the links to places above must be undone.
                if let place = cell.takePlace() {
                    if let follower = place[token].rare?.follower.value { followers.append(follower) }
                    place.unlink(token)
                    garbage.add(place)
                }
                garbage.add(cell.clear(at: family.state[token].tick()))
            }
            guard let rare = storage[token].rare.take() else { return }
            for teardown in rare.teardowns.takeAll() + rare.lateTeardowns.takeAll() {
                abandoned.append(teardown.key)
                garbage.add(teardown)
                garbage.add(Retained(teardown.takeUses()))
            }
            if !rare.closers.value.isEmpty { abandoned.append(nil) }
            if rare.sources.value != nil { family.state[token].sourced[ObjectIdentifier(self)] = nil }
            if let scope = rare.scope { scope.forget(token, in: self) }
            effects.wake(rare.idleWaiters)
            garbage.add(rare)
        }
        effects.wakeWaiters()
        garbage.dispose()
        for follower in followers { follower.end() }
        #if DEBUG
        if !abandoned.isEmpty { family.reports.report(Messages.neverClosed(abandoned)) }
        #endif
        return next
    }
}

// MARK: What a node sees of a key

/// What a node sees of a key, without loading.
enum Look {
    /// The cell whose value is seen, and its owner: the node or an ancestor.
    case found(CellReference, UnmanagedReference<Node>)
    /// Nothing. `limit` is the nearest node that holds the key without a value, because its loader was replaced or a source
    /// has a wrong value.
    case missing(limit: UnmanagedReference<Node>?)
}

extension Node {
    /// Returns the nearest value of a key that's held, or loaded and valid here.
    @inline(never) func look(_ token: LockToken, _ key: Key) -> Look { lookInline(token, key) }

    /// Does the same for a caller that's called so often that a call less counts.
    @inline(__always)
    func lookInline(_ token: LockToken, _ key: Key) -> Look {
        key.isInherited ? lookForInherited(token, key) : look(token) { _ in key }
    }

    @inline(never)
    private func lookForInherited(_ token: LockToken, _ key: Key) -> Look { look(token) { key.known(at: $0.depth) } }

    @inline(__always)
    private func look(_ token: LockToken, _ key: (Node) -> Key) -> Look {
        var held: UInt64 = 0
        return path.firstResult { owner -> Look? in
            if let cell = owner.storage.existingCell(token, key(owner)) {
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

    /// Returns the time that identifies what the node sees of a key, or 0 if it sees nothing.
    ///
    /// That of a replaced loader differs from those of values: where it's held, there may be an instance that isn't seen here.
    func time(_ token: LockToken, of key: Key) -> UInt64 {
        switch look(token, key) {
        case .found(let cell, _): cell.inputTime(cell.place?[token].provenance)
        case .missing(let limit?): limit.use { ~($0.storage.existingCell(token, key.known(at: $0.depth))?.time ?? 0) }
        case .missing(nil): 0
        }
    }

    /// Returns the keys of the instances past which the node sees when it looks for some keys: a change of one may uncover one.
    func passed(_ token: LockToken, _ keys: [Key]) -> Set<Key> {
        var passed: Set<Key> = []
        if isRoot { return passed }
        for key in keys where family.rootPlace(token, of: key)?[token].rare?.last != nil {
            var seen: CellReference?
            if case .found(let cell, _) = look(token, key) { seen = cell }
            _ = path.firstResult { owner -> Bool? in
                guard let cell = owner.storage.existingCell(token, key.known(at: owner.depth)) else { return nil }
                if cell == seen { return true }
                if cell.has(CellFlags.loaded), let made = cell.place?[token].provenance, !made.isLocal {
                    passed.formUnion(made.keys)
                }
                return nil
            }
        }
        return passed
    }

    /// Returns the first input of the nearest instance of a key above that a node below it holds, so that the instance isn't this
    /// node's.
    func override(_ token: LockToken, hiding key: Key) -> Key? {
        path.firstResult { owner in
            guard let cell = owner.storage.existingCell(token, key.known(at: owner.depth)), cell.has(CellFlags.loaded),
                let made = cell.place?[token].provenance
            else { return nil }
            return made.keys.first { input in path(below: owner).contains { $0.holds(token, input) } }
        }
    }

    /// Looks, records the result for the load that reads it, and links the cell so that later reads need no lock.
    ///
    /// - `mustReport`: Set to `true` if it may have to be reported that the value is outdated.
    @inline(__always)
    func read(_ token: LockToken, _ key: Key, for recorder: Frame?, _ mustReport: inout Bool) -> Payload? {
        guard case .found(let cell, let owner) = lookInline(token, key) else { return nil }
        recorder?.record(token, cell, of: owner, as: key)
        link(token, key, to: cell, of: owner)
        let status = cell.status
        if status & (CellFlags.fast | CellFlags.special) != CellFlags.fast {
            // Under the lock, a value is closed for no other reason than a change of an input.
            mustReport = status & CellFlags.fast == 0 || cell.place?[token].rare?.rest != nil
        }
        return cell.payload(status)
    }

    /// Lets readers here read an ancestor's cell without the lock.
    @inline(__always)
    func link(_ token: LockToken, _ key: Key, to cell: CellReference, of owner: UnmanagedReference<Node>) {
        if owner == UnmanagedReference(self) { return }
        storage.cell(token, key.known(at: depth)).link(to: cell, at: family.state[token].now)
    }
}
