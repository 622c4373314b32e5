/// What a node knows about a key besides its value: the instance that lives there, and what watches the key.
///
/// The cell owns it, and the family's lock protects it.
typealias Place = FamilyLocked<PlaceState>

struct PlaceState {
    // The node outlives its places.
    let node: UnmanagedReference<Node>
    let cell: CellReference

    // The instance that was loaded here.
    var provenance: Provenance?
    /// The instance's closers, and the lifetimes of its inputs.
    var lifetime = Kept<Lifetime?>(nil)
    /// The times of the inputs whose change drops the instance, as the node saw them when it was loaded.
    fileprivate var inputTimes: [UInt64] = []
    /// The last load in progress of which the instance is expected to live here, and which readers may join.
    var load: UnmanagedReference<Work>?
    /// The time that identifies the instance, if it stays after a doubt though it was made from other keys: links made before are
    /// then as old as the cell's own time says.
    fileprivate(set) var identity: UInt64?
    /// The number of instances that were loaded here.
    var loadCount = 0
    #if DEBUG
    /// The time that the last load took.
    var duration: Duration?
    #endif

    /// Whom a change of the key here may concern: the places of this node whose instances or observers depend on the key, and the
    /// key's places in children, which lead on to what depends on it there and below.
    fileprivate(set) var watchers = SparseList<Place>()
    /// The next place in the garbage.
    var nextInGarbage: Place?

    var rare: RarePlaceState?
    fileprivate(set) var record: KeyRecord?

    init(node: UnmanagedReference<Node>, cell: CellReference) {
        self.node = node
        self.cell = cell
    }

    /// Returns the rare state, creating it if necessary.
    mutating func more() -> RarePlaceState { rare.orMade(RarePlaceState()) }
    /// Returns what the family knows of the key, which is nothing at first.
    mutating func moreRecord() -> KeyRecord { record.orMade(KeyRecord()) }
    mutating func moreBinding() -> Binding { more().binding.orMade(Binding()) }
}

/// State that few places need.
///
/// The family's lock protects it, so its fields don't need the runtime's exclusivity checks.
final class RarePlaceState {
    @safe @exclusivity(unchecked) var binding: Binding?
    @safe @exclusivity(unchecked) var follower = Kept<Follower?>(nil)
    /// The instance, if it's in doubt.
    @safe @exclusivity(unchecked) var former = Kept<FormerInstance?>(nil)
    /// The time at which the key was last reset or replaced here while a load of it was in progress.
    @safe @exclusivity(unchecked) var resetTime: UInt64 = 0

    @inline(never) init() {}
}

/// What a family knows of a key: the loads in progress, the provenance of the last one, and who observes it.
///
/// The place in the root has it, since each load looks there.
final class KeyRecord {
    /// The code that runs a load keeps it until it has left the list.
    @safe @exclusivity(unchecked) var loads = SparseList<Work>()
    @safe @exclusivity(unchecked) var last: Provenance?
    /// Whether a reader that doesn't see what lives in the declared home was reported.
    @safe @exclusivity(unchecked) var isOverridden = false
    /// The places with observers.
    @safe @exclusivity(unchecked) fileprivate var observed = SparseList<Place>()
    /// The inputs, direct and indirect, of all loads since the key was first observed, also of those that failed: a change of one may
    /// give observers another instance.
    @safe @exclusivity(unchecked) fileprivate var inputs: Set<Key> = []

    @inline(never) init() {}
}

extension FamilyLocked: WordIdentifier where Value == PlaceState {}

// Whom a change of a key concerns.
extension Place {
    var key: Key { unshared.cell.key }

    /// Lets changes of keys, as the node sees them, concern what's here.
    func watch(_ token: LockToken, _ keys: some Sequence<Key>) {
        self[token].node.use { node in
            for key in keys where key != self.key {
                let other = node.place(token, key)
                if other.list(token, self) { other.watchAbove(token) }
            }
        }
    }

    /// Lets changes above reach the place, as far as the key isn't held in between.
    func watchAbove(_ token: LockToken) {
        var (place, node) = (self, self[token].node)
        while let above = node.use({ $0.holds(token, key) ? nil : $0.parent }) {
            let other = above.place(token, key)
            guard other.list(token, place) else { return }
            (place, node) = (other, UnmanagedReference(above))
        }
    }

    /// Lists a place whom changes here concern, and returns whether it's new.
    private func list(_ token: LockToken, _ place: Place) -> Bool {
        guard self[token].watchers.append(unlessThere: place) else { return false }
        markSpecial(token)
        return true
    }

    /// Removes a place that changes here no longer concern.
    func unlist(_ token: LockToken, _ place: Place) {
        self[token].watchers.remove(place)
        markSpecial(token)
    }

    /// Makes writes of the cell take the slow path while they concern somebody.
    func markSpecial(_ token: LockToken) {
        let isSpecial = !self[token].watchers.isEmpty || self[token].rare?.follower.value != nil
        let cell = self[token].cell
        if isSpecial != cell.has(CellFlags.special) { cell.mark(CellFlags.special, isSpecial) }
    }

    /// Whether nothing is here that a change concerns, here or below.
    func isIdle(_ token: LockToken) -> Bool {
        self[token].watchers.isEmpty && self[token].provenance == nil && self[token].rare?.follower.value == nil
    }

    /// Whether a change of a key may concern the instance or the observers.
    func isConcerned(_ token: LockToken, by key: Key) -> Bool {
        if self[token].rare?.follower.value != nil { return true }
        guard let provenance = self[token].provenance else { return false }
        return provenance.reloads || provenance.mask & key.mask != 0 && provenance.keys.contains(key)
            || provenance.homeKeys.contains(key)
    }

    /// Leaves the lists of others, because the node ends.
    func leave(_ token: LockToken) {
        guard let above = self[token].node.use({ $0.parent }) else { return }
        above.cell(token, key)?.place?.unlist(token, self)
        if self[token].rare?.follower.value != nil { above.rootPlace(token, key)[token].record?.observed.remove(self) }
    }

    // MARK: Observers

    /// Gives the place a follower, or takes it away.
    func follow(_ token: LockToken, _ follower: Follower?, _ garbage: inout Garbage) {
        let node = self[token].node.object
        let record = node.rootPlace(token, key)[token].moreRecord()
        self[token].more().follower.set(follower, &garbage)
        markSpecial(token)
        guard follower != nil else {
            record.observed.remove(self)
            return
        }
        if record.observed.isEmpty { record.inputs = [] }
        record.observed.append(self)
        record.inputs.formUnion(node.keysOfInstances(token, of: key))
        watchAbove(token)
        watch(token, record.inputs)
    }

    /// Lets changes of what a load has read concern those who observe its key; this is the key's place in the root.
    func watchObserved(_ token: LockToken, _ inputs: [Key]) {
        guard let record = self[token].record, !record.observed.isEmpty else { return }
        for key in inputs where record.inputs.insert(key).inserted {
            for place in record.observed.all { place.watch(token, CollectionOfOne(key)) }
        }
    }

    // MARK: The instance

    /// Keeps the provenance and the lifetime of an instance.
    func adopt(_ token: LockToken, _ provenance: Provenance, _ lifetime: Lifetime?, _ garbage: inout Garbage) {
        self[token].provenance = provenance
        self[token].lifetime.set(lifetime, &garbage)
        if provenance.reloads {
            self[token].inputTimes = self[token].node.use { node in provenance.direct.map { node.time(token, of: $0) } }
        }
        watchInputs(token, provenance)
    }

    /// Keeps an instance that was in doubt.
    func confirm(
        _ token: LockToken, _ former: FormerInstance, _ provenance: Provenance, _ lifetime: Lifetime?,
        _ garbage: inout Garbage
    ) {
        self[token].identity = former.time
        self[token].rare?.former.set(nil, &garbage)
        self[token].provenance.take().map { garbage.add($0) }
        adopt(token, provenance, lifetime, &garbage)
    }

    /// Watches what decides where the instance lives and whether it stays.
    ///
    /// An instance that lives in the root and doesn't reload stays.
    func watchInputs(_ token: LockToken, _ provenance: Provenance) {
        let node = self[token].node.object
        if node.isRoot { return provenance.reloads ? watch(token, provenance.direct) : () }
        // A value set above replaces the instance.
        watchAbove(token)
        watch(token, provenance.homeKeys)
        if provenance.reloads {
            for input in provenance.direct { watch(token, node.keysOfInstances(token, of: input)) }
            return watch(token, provenance.keys)
        }
        // One key that's held keeps it here.
        guard !provenance.isLocal, node.storage[token].heldMask & provenance.mask != 0 else { return }
        watch(token, provenance.keys.first { node.holds(token, $0) }.map { [$0] } ?? [])
    }

    /// Whether the instance still may live here.
    func isAnchored(_ token: LockToken) -> Bool {
        guard let provenance = self[token].provenance else { return true }
        return self[token].node.use { provenance.isAnchored(token, key, in: $0) }
    }

    /// Whether the instance is kept though it reloads and the node no longer sees the same inputs.
    func isOld(_ token: LockToken) -> Bool {
        guard let provenance = self[token].provenance, provenance.reloads, self[token].cell.has(CellFlags.loaded) else {
            return false
        }
        return self[token].node.use { node in
            !zip(provenance.direct, self[token].inputTimes).allSatisfy { node.time(token, of: $0) == $1 }
        }
    }

    /// Discards the provenance and the lifetime of the instance, which leaves its cell.
    func forget(_ token: LockToken, _ garbage: inout Garbage) {
        guard let provenance = self[token].provenance.take() else { return }
        garbage.add(provenance)
        self[token].identity = nil
        self[token].lifetime.set(nil, &garbage)
        self[token].rare?.former.set(nil, &garbage)
    }

    /// The instance in doubt, if there's one.
    func former(_ token: LockToken) -> FormerInstance? { self[token].rare?.former.value }

    /// Keeps the instance, which leaves its cell, with its provenance and lifetime until the next load has asked for its inputs.
    func doubt(_ token: LockToken, _ payload: Payload, _ garbage: inout Garbage) {
        guard let provenance = self[token].provenance else { return }
        let former = FormerInstance(
            payload: payload, time: self[token].cell.identity(token), lifetime: self[token].lifetime.value,
            inputs: Array(zip(provenance.direct, self[token].inputTimes)))
        self[token].more().former.set(former, &garbage)
    }
}

/// An instance that is in doubt, because something that it was made from has changed or is itself in doubt.
///
/// The next load asks for its inputs before it calls `load(in:)`. If they're the same, so is the instance.
final class FormerInstance: Sendable {
    let payload: Payload
    /// The time that identified it.
    let time: UInt64
    /// Its lifetime, which the load that asks keeps: a reader may get the instance though its place has left it meanwhile.
    let lifetime: Lifetime?
    /// The inputs that the load read, in order, and the times that identified what it saw.
    let inputs: [(key: Key, time: UInt64)]

    init(payload: Payload, time: UInt64, lifetime: Lifetime?, inputs: [(Key, UInt64)]) {
        self.payload = payload
        self.time = time
        self.lifetime = lifetime
        self.inputs = inputs
    }
}
