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
    /// The places of the keys that the instance watches.
    fileprivate var watched = SmallList<Place>()
    /// The times of the inputs whose change drops the instance, as the node saw them when it was loaded.
    fileprivate var inputTimes: [UInt64] = []
    /// The last load in progress of which the instance is expected to live here, and which readers may join.
    var load: UnmanagedReference<Frame>?
    /// The number of instances that were loaded here.
    var loadCount = 0
    #if DEBUG
    /// The time that the last load took.
    var duration: Duration?
    #endif

    /// What a change of the key here may concern, here and below.
    fileprivate(set) var watchers = SparseList<Watcher>()
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
    /// The places of the keys that the follower watches.
    @safe @exclusivity(unchecked) fileprivate var watched = SmallList<Place>()
    /// The time at which the key was last reset or replaced here while a load of it was in progress.
    @safe @exclusivity(unchecked) var resetTime: UInt64 = 0

    @inline(never) init() {}
}

/// What a family knows of a key: the loads in progress, and the provenance of the last one.
///
/// The place in the root has it, since each load looks there.
final class KeyRecord {
    /// The code that runs a load keeps it until it has left the list.
    @safe @exclusivity(unchecked) var loads = SparseList<Frame>()
    @safe @exclusivity(unchecked) var last: Provenance?
    /// Whether a reader that doesn't see what lives in the declared home was reported.
    @safe @exclusivity(unchecked) var isOverridden = false

    @inline(never) init() {}
}

/// The instance of a place, or its follower, which watches keys: its node's places of them list it, and so do those above, as far as
/// a change there reaches it.
struct Watcher: WordIdentifier {
    let place: Place
    let isFollower: Bool

    var word: UInt { place.word | (isFollower ? 1 : 0) }

    /// The follower, if it's one.
    func follower(_ token: LockToken) -> Follower? { isFollower ? place[token].rare?.follower.value : nil }

    /// Watches more keys.
    @inline(never) func watch(_ token: LockToken, _ keys: [Key]) {
        place[token].node.use { node in for key in keys { watch(token, key, from: node) } }
    }

    fileprivate func watch(_ token: LockToken, _ key: Key, from first: Node) {
        _ = first.path.firstResult { node -> Bool? in
            let other = node.place(token, key)
            if other[token].watchers.append(unlessThere: self) {
                other.markSpecial(token)
                if isFollower { place[token].more().watched.append(other) } else { place[token].watched.append(other) }
            }
            // What's held here hides what changes above.
            return node.holds(token, key) ? true : nil
        }
    }

    /// Watches nothing any longer.
    @inline(never) func unwatch(_ token: LockToken) {
        let watched = isFollower ? place[token].rare?.watched.take() : place[token].watched.take()
        watched?.forEach { other in
            // Its node ends.
            if other[token].node.use({ $0.isEnded(token) }) { return }
            other[token].watchers.remove(self)
            other.markSpecial(token)
        }
    }

    /// Whether it watches the key of a place, here or above, since that's its own, and nothing in between hides that.
    func isOwn(_ token: LockToken, of start: Place) -> Bool {
        start[token].node.use { home in
            place.key == start.key
                && place[token].node.use { !$0.path(below: home).contains { $0.holds(token, place.key) } }
        }
    }
}

extension Place {
    var key: Key { unshared.cell.key }
    var instance: Watcher { Watcher(place: self, isFollower: false) }
    var observers: Watcher { Watcher(place: self, isFollower: true) }

    /// Lets neither the instance nor the follower watch anything any longer.
    func unwatchAll(_ token: LockToken) {
        instance.unwatch(token)
        if self[token].rare != nil { observers.unwatch(token) }
    }

    /// Lets changes above reach what watches the key here, since it's no longer held here.
    ///
    /// When it's held again, what's listed above stays there, and finds after a change that it sees none.
    func watchAbove(_ token: LockToken) {
        guard let parent = self[token].node.use({ $0.parent }) else { return }
        for watcher in self[token].watchers.all { watcher.watch(token, key, from: parent) }
    }

    /// Makes writes of the cell take the slow path while something depends on it.
    func markSpecial(_ token: LockToken) {
        let isSpecial = !self[token].watchers.isEmpty
        let cell = self[token].cell
        if isSpecial != cell.has(CellFlags.special) { cell.mark(CellFlags.special, isSpecial) }
    }

    /// Whether nothing but its own follower watches the key.
    func isAlone(_ token: LockToken) -> Bool {
        self[token].watchers.isEmpty
            || self[token].watchers.count == 1 && self[token].watchers.last?.word == observers.word
    }

    /// Calls `body` with the followers here and below that see what's seen here.
    @inline(never) func forEachFollower(_ token: LockToken, _ body: (Follower) -> Void) {
        for watcher in self[token].watchers.all where watcher.isOwn(token, of: self) {
            if let follower = watcher.follower(token) { body(follower) }
        }
    }

    // MARK: The instance

    /// Keeps the provenance and the lifetime of an instance, which watches the keys whose changes may drop it.
    func adopt(_ token: LockToken, _ provenance: Provenance, _ lifetime: Lifetime?, _ garbage: inout Garbage) {
        self[token].provenance = provenance
        self[token].lifetime.set(lifetime, &garbage)
        if provenance.reloads {
            self[token].inputTimes = self[token].node.use { node in provenance.direct.map { node.time(token, of: $0) } }
        }
        watchInputs(token, provenance)
    }

    /// Watches what decides where the instance lives and whether it stays.
    ///
    /// An instance that lives in the root and doesn't reload stays.
    private func watchInputs(_ token: LockToken, _ provenance: Provenance) {
        self[token].node.use { node in
            if provenance.reloads {
                instance.watch(token, node.isRoot ? provenance.direct : provenance.keys)
                instance.watch(token, Array(node.passed(token, provenance.direct)))
            }
            if node.isRoot { return }
            if !provenance.homeKeys.isEmpty { instance.watch(token, provenance.homeKeys) }
            if node.holds(token, key) { return }
            // A value set above replaces the instance.
            node.parent.map { instance.watch(token, key, from: $0) }
            // One key that's held keeps it here.
            guard !provenance.isLocal, node.storage[token].heldMask & provenance.mask != 0,
                let anchor = provenance.keys.first(where: { node.holds(token, $0) })
            else { return }
            instance.watch(token, anchor, from: node)
        }
    }

    /// Whether the instance may stay after a change of a key: it still may live here, and, if it reloads, the node sees the same
    /// inputs.
    func isCurrent(_ token: LockToken) -> Bool {
        guard let provenance = self[token].provenance else { return true }
        return self[token].node.use { node in
            provenance.isAnchored(token, key, in: node)
                && (!provenance.reloads
                    || zip(provenance.direct, self[token].inputTimes).allSatisfy { node.time(token, of: $0) == $1 })
        }
    }

    /// Watches the key that keeps the instance here now; one that reloads watches all of its keys.
    func watchAnchor(_ token: LockToken) {
        guard let provenance = self[token].provenance, !provenance.reloads else { return }
        instance.unwatch(token)
        watchInputs(token, provenance)
    }

    /// Discards the provenance and the lifetime of the instance, which leaves its cell.
    func forget(_ token: LockToken, _ garbage: inout Garbage) {
        guard let provenance = self[token].provenance.take() else { return }
        instance.unwatch(token)
        garbage.add(provenance)
        self[token].lifetime.set(nil, &garbage)
    }
}

// MARK: Provenance

/// The inputs of an instance, and their inputs.
///
/// Successive loads of a key that read the same keys share one object.
final class Provenance: Sendable {
    /// The direct inputs, in the order in which `load(in:)` read them.
    let direct: [Key]
    /// All inputs, direct and indirect, and the keys on which the home depends, sorted.
    let keys: [Key]
    /// The bits of `keys`.
    let mask: UInt64
    /// Whether the instance lives in the container that asked for it, because the feature or one of its inputs declares
    /// that.
    let isLocal: Bool
    /// Whether a change of an input drops the instance.
    let reloads: Bool
    /// The keys of the declared home, if it's `.with(…)`.
    let homeKeys: [Key]

    static let none = Provenance(direct: [], keys: [], mask: 0, isLocal: false, reloads: false)

    init(
        direct: [Key], keys: [Key], mask: UInt64, isLocal: Bool, reloads: Bool,
        homeKeys: [Key] = []
    ) {
        self.homeKeys = homeKeys
        self.direct = direct
        self.keys = keys
        self.mask = mask
        self.isLocal = isLocal
        self.reloads = reloads
    }

    /// Whether a node sees an instance that lives in `home`, which is the node or an ancestor: no node below `home` on the
    /// way holds one of the inputs.
    ///
    /// - `held`: The bits of the keys that are held on the way.
    @inline(__always)
    func isValid(_ token: LockToken, for node: Node, from home: Node, _ held: UInt64 = .max) -> Bool {
        if node === home { return true }
        if isLocal { return false }
        return mask & held == 0 || !isOverridden(token, for: node, below: home)
    }

    /// Whether a node or one of its ancestors below `home` holds one of the inputs.
    @inline(never) func isOverridden(_ token: LockToken, for node: Node, below home: Node) -> Bool {
        node.path(below: home).contains { $0.holdsAny(token, of: keys, mask) }
    }

    /// Whether a node may keep an instance: it's the root, or it's where the instance is declared to live and the instance is
    /// local or the node holds its key or one of its inputs.
    func isAnchored(_ token: LockToken, _ key: Key, in node: Node) -> Bool {
        if node.isRoot { return true }
        if !homeKeys.isEmpty, !node.isHome(token, of: key, with: homeKeys) { return false }
        return isLocal || node.holds(token, key) || node.holdsAny(token, of: keys, mask)
    }

    func isEqual(to other: Provenance) -> Bool {
        self === other
            || mask == other.mask && isLocal == other.isLocal && reloads == other.reloads && direct == other.direct
                && keys == other.keys && homeKeys == other.homeKeys
    }
}

extension [Key] {
    /// Returns the keys sorted, without duplicates.
    func sortedUnique() -> [Key] {
        guard count > 1 else { return self }
        var all = sorted { $0.raw < $1.raw }
        var end = 1
        for index in 1..<all.count where all[index] != all[end - 1] {
            all[end] = all[index]
            end += 1
        }
        all.removeLast(all.count - end)
        return all
    }
}
