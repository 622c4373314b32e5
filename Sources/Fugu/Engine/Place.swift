/// What a node knows about a key besides its value: the instance that lives there, its dependents and followers, and the links
/// by which a change here reaches places below.
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
    /// The registrations of the instance with its inputs or its anchor.
    fileprivate var slots = SmallList<Slot>()
    /// The times of the inputs whose change drops the instance, as the node saw them when it was loaded.
    fileprivate var inputTimes: [UInt64] = []
    /// The time from which on a change of an input is later than the instance.
    var since: UInt64 = 0
    /// The number of instances that were loaded here.
    var loadCount = 0

    // The instances and followers that depend on this place.
    fileprivate var dependents = SmallList<Dependent>()

    // The places of a key form a tree that mirrors the nodes, as far down as something depends on changes above.
    fileprivate var followCount = 0
    fileprivate var above: Place?
    fileprivate var firstBelow: Place?
    fileprivate var next: Place?
    fileprivate var previous: Place?
    /// The next place in the garbage.
    var nextInGarbage: Place?

    var rare: RarePlaceState?

    init(node: UnmanagedReference<Node>, cell: CellReference) {
        self.node = node
        self.cell = cell
    }

    /// Returns the rare state, creating it if necessary.
    mutating func more() -> RarePlaceState { rare.orMade(RarePlaceState()) }
    mutating func moreBinding() -> Binding { more().binding.orMade(Binding()) }
}

/// State that few places need.
///
/// The family's lock protects it, so its fields don't need the runtime's exclusivity checks.
final class RarePlaceState {
    @safe @exclusivity(unchecked) var binding: Binding?
    @safe @exclusivity(unchecked) var follower = Kept<Follower?>(nil)
    /// The registrations of the follower.
    fileprivate var followerSlots = SmallList<Slot>()
    /// The `modify` in progress.
    @safe @exclusivity(unchecked) var exclusion: Frame?
    /// The time at which the key was last reset or replaced here while a load of it was in progress.
    @safe @exclusivity(unchecked) var resetTime: UInt64 = 0
    /// The time of the last such change that concerns instances below, too, because it changed the loader.
    @safe @exclusivity(unchecked) var loaderTime: UInt64 = 0

    // Used only in the root, for the family: the key's loads in progress, and the provenance of the last one.
    @safe @exclusivity(unchecked) var loads = LoadList()
    @safe @exclusivity(unchecked) var last: Provenance?

    @inline(never) init() {}
}

/// An instance or a follower that depends on a place: its own place, in the same node, and the number of the slot there that points
/// back to this dependent.
private typealias Dependent = (place: Place, role: DependentRole, slot: Int)

enum DependentRole {
    /// An instance that reloads has the key as an input, or an instance is declared to live where the key is held.
    case input
    /// An instance lives in this node because the key is held here.
    case anchor
    /// A follower watches the key, because it's an input of an instance that the follower sees or misses.
    case follower

    /// Whether the instance or the follower depends on changes above, too.
    fileprivate var follows: Bool { self != .anchor }
}

/// A place with which an instance or a follower is registered, and the index there.
private typealias Slot = (place: Place, index: Int)

extension Place {
    var key: Key { unshared.cell.key }

    // MARK: Following changes above

    /// Lets changes above reach this place.
    func follow(_ token: LockToken) {
        self[token].followCount += 1
        guard self[token].followCount == 1 else { return }
        markSpecial(token)
        link(token)
    }

    /// Adds the place to its key's tree, together with the places above, unless nobody follows changes here or the node hides
    /// them.
    func link(_ token: LockToken) {
        var (place, key) = (self, key)
        while place[token].followCount > 0, place[token].above == nil,
            !place[token].node.use({ $0.holds(token, key) }), let parent = place[token].node.parent
        {
            key = key.known(at: parent.depth)
            let above = parent.use { $0.place(token, key) }
            let next = above[token].firstBelow
            place[token].above = above
            place[token].next = next
            next?[token].previous = place
            above[token].firstBelow = place
            above[token].followCount += 1
            guard above[token].followCount == 1 else { return }
            above.markSpecial(token)
            place = above
        }
    }

    func unfollow(_ token: LockToken) {
        self[token].followCount -= 1
        if self[token].followCount == 0 { unlink(token) }
    }

    /// Removes the place from its key's tree, together with the places above that have no other reason to be in it.
    func unlink(_ token: LockToken) {
        var place = self
        while true {
            place.markSpecial(token)
            guard let above = place[token].above else { return }
            let (next, previous) = (place[token].next, place[token].previous)
            if let previous { previous[token].next = next } else { above[token].firstBelow = next }
            next?[token].previous = previous
            place[token].above = nil
            place[token].next = nil
            place[token].previous = nil
            above[token].followCount -= 1
            guard above[token].followCount == 0 else { return }
            place = above
        }
    }

    /// Calls `body` with each place directly below.
    func forEachBelow(_ token: LockToken, _ body: (Place) -> Void) {
        var below = self[token].firstBelow
        while let place = below {
            body(place)
            below = place[token].next
        }
    }
    /// Whether nothing but its own follower depends on this place.
    func isAlone(_ token: LockToken) -> Bool { self[token].dependents.isEmpty && self[token].firstBelow == nil }

    /// Makes writes of the cell take the slow path while something depends on it.
    func markSpecial(_ token: LockToken) {
        let rare = self[token].rare
        let isSpecial =
            self[token].followCount > 0 || !self[token].dependents.isEmpty || rare?.follower.value != nil
            || rare?.exclusion != nil
        let cell = self[token].cell
        if isSpecial != cell.has(CellFlags.special) { cell.mark(CellFlags.special, isSpecial) }
    }

    // MARK: Dependents

    @inline(never) func forEachDependent(_ token: LockToken, _ body: (Place, DependentRole) -> Void) {
        // A copy, because `body` may remove dependents.
        let dependents = self[token].dependents
        dependents.forEach { body($0.place, $0.role) }
    }

    /// Registers the instance or the follower of this place with another place of the same node.
    func register(_ token: LockToken, with other: Place, as role: DependentRole) {
        let slot = (place: other, index: other[token].dependents.count)
        let number: Int
        if role == .follower {
            let rare = self[token].more()
            number = rare.followerSlots.count
            rare.followerSlots.append(slot)
        } else {
            number = self[token].slots.count
            self[token].slots.append(slot)
        }
        other[token].dependents.append((place: self, role: role, slot: number))
        if role.follows { other.follow(token) } else { other.markSpecial(token) }
    }

    /// Unregisters the instance of this place everywhere.
    func unregisterInstance(_ token: LockToken) {
        // Look up each slot again, because removing a dependent moves another one, which may be the instance's own.
        for number in 0..<self[token].slots.count {
            let slot = self[token].slots[number]
            slot.place.removeDependent(token, at: slot.index)
        }
        self[token].slots = SmallList()
    }

    /// Unregisters the instance from its anchor.
    func unregisterAnchor(_ token: LockToken) {
        // The anchor was registered last.
        guard let slot = self[token].slots.last else { return }
        slot.place.removeDependent(token, at: slot.index)
        self[token].slots.removeLast()
    }

    /// Unregisters the follower of this place everywhere.
    func unregisterFollower(_ token: LockToken) {
        guard let rare = self[token].rare else { return }
        for number in 0..<rare.followerSlots.count {
            let slot = rare.followerSlots[number]
            slot.place.removeDependent(token, at: slot.index)
        }
        rare.followerSlots = SmallList()
    }

    @inline(never) private func removeDependent(_ token: LockToken, at index: Int) {
        let removed = self[token].dependents[index]
        let last = self[token].dependents.removeLast()
        if index < self[token].dependents.count {
            self[token].dependents[index] = last
            if last.role == .follower {
                last.place[token].rare!.followerSlots[last.slot].index = index
            } else {
                last.place[token].slots[last.slot].index = index
            }
        }
        if removed.role.follows { unfollow(token) }
        markSpecial(token)
    }

    // MARK: The instance

    /// Keeps the provenance and the lifetime of an instance, and registers it with the places that can drop it.
    ///
    /// An instance that lives in the root and doesn't reload is registered nowhere.
    func adopt(_ token: LockToken, _ provenance: Provenance?, _ lifetime: Lifetime?, _ garbage: inout Garbage) {
        self[token].provenance = provenance
        self[token].lifetime.set(lifetime, &garbage)
        let node = self[token].node
        guard let provenance else { return }
        node.use { node in
            if provenance.followed == .all {
                for key in node.isRoot ? provenance.direct : provenance.keys {
                    register(token, with: node.place(token, key), as: .input)
                }
                for key in node.passed(token, provenance.direct) where !provenance.keys.contains(key) {
                    register(token, with: node.place(token, key), as: .input)
                }
            } else {
                for key in provenance.drops { register(token, with: node.place(token, key), as: .input) }
            }
            if !provenance.drops.isEmpty { self[token].inputTimes = provenance.drops.map { node.time(token, of: $0) } }
            if node.isRoot { return }
            // These keys decide where the instance lives, whether it reloads or not.
            if provenance.followed != .all {
                for key in provenance.homeKeys { register(token, with: node.place(token, key), as: .input) }
            }
            if !provenance.isLocal { _ = anchor(token) }
            // A value set above replaces the instance.
            follow(token)
        }
    }

    /// Whether the instance lives where it's declared to live and, if it reloads or wraps another one, the node still sees what
    /// it was loaded from.
    func isCurrent(_ token: LockToken) -> Bool {
        guard let provenance = self[token].provenance else { return true }
        return self[token].node.use { node in
            if !provenance.homeKeys.isEmpty, !provenance.isAnchored(token, key, in: node) { return false }
            return zip(provenance.drops, self[token].inputTimes).allSatisfy { input, time in
                Input.isSame(node.time(token, of: input), as: time)
            }
        }
    }

    /// Registers the instance with an anchor, unless its own key is held here, and returns whether one of these keeps it
    /// here.
    func anchor(_ token: LockToken) -> Bool {
        guard let provenance = self[token].provenance else { return false }
        return self[token].node.use { node in
            if node.holds(token, key) { return true }
            guard node.storage[token].heldMask & provenance.mask != 0,
                let anchor = provenance.keys.first(where: { node.holds(token, $0) })
            else { return false }
            register(token, with: node.place(token, anchor), as: .anchor)
            return true
        }
    }

    /// Discards the provenance and the lifetime of the instance, which leaves its cell.
    func forget(_ token: LockToken, _ garbage: inout Garbage) {
        guard let provenance = self[token].provenance.take() else { return }
        unregisterInstance(token)
        if self[token].node.depth > 0 { unfollow(token) }
        garbage.add(provenance)
        self[token].lifetime.set(nil, &garbage)
    }
}

// MARK: Provenance

/// The inputs a change of which replaces an instance.
enum FollowedInputs {
    case none
    /// What a layer wraps, which it reads first.
    case first
    /// All, since the feature reloads.
    case all
}

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
    /// The inputs a change of which drops the instance.
    let followed: FollowedInputs
    /// The keys of the declared home, if it's `.with(…)` and no layers replace the declaration.
    let homeKeys: [Key]

    static let none = Provenance(direct: [], keys: [], mask: 0, isLocal: false, followed: .none)

    init(
        direct: [Key], keys: [Key], mask: UInt64, isLocal: Bool, followed: FollowedInputs,
        homeKeys: [Key] = []
    ) {
        self.homeKeys = homeKeys
        self.direct = direct
        self.keys = keys
        self.mask = mask
        self.isLocal = isLocal
        self.followed = followed
    }

    /// The direct inputs a change of which drops the instance.
    var drops: ArraySlice<Key> {
        switch followed {
        case .none: []
        case .first: direct.prefix(1)
        case .all: direct[...]
        }
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
            || mask == other.mask && isLocal == other.isLocal && followed == other.followed && direct == other.direct
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
