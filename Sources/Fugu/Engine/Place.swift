/// What is known of a key in a node beside its value: the instance that lives there, who was made from it or follows it,
/// and how a change here reaches those below.
///
/// The cell owns it, and the lock of the family protects it.
typealias Place = FamilyLocked<PlaceState>

struct PlaceState {
    // The node outlives its places.
    let node: UnmanagedReference<Node>
    let cell: CellReference

    // The instance that was loaded here.
    var provenance: Provenance?
    /// Its closers, and the lifetimes of what it was made from.
    var lifetime: Lifetime?
    /// Where it is registered.
    fileprivate var slots = Slots()
    /// Whether something that it was made from had changed when its load ended.
    var isOutdated = false
    /// How many instances were loaded here.
    var loadCount = 0
    #if DEBUG
    var duration: Duration?
    #endif

    // Who was made from what is here, or watches it.
    fileprivate var firstReader: Reader?
    fileprivate var moreReaders: [Reader] = []

    // The places of a key form a tree along the nodes' paths, as far down as somebody follows changes from above.
    fileprivate var followCount = 0
    fileprivate var above: Place?
    fileprivate var firstBelow: Place?
    fileprivate var next: Place?
    fileprivate var previous: Place?
    /// The next one in the garbage.
    var nextInGarbage: Place?

    /// Rare state.
    var rare: RarePlaceState?

    init(node: UnmanagedReference<Node>, cell: CellReference) {
        self.node = node
        self.cell = cell
    }

    /// Returns the rare state, made if there is none.
    mutating func more() -> RarePlaceState { rare.orMade(RarePlaceState()) }
}

/// Rare state.
///
/// The lock of the family protects it, so that the runtime need not check who else is at it.
final class RarePlaceState {
    /// The layer behind a value that code set.
    @safe @exclusivity(unchecked) var rule: Payload?
    @safe @exclusivity(unchecked) var supplied = SourceAnswer<Payload>.nothing
    /// The report about the sources' answer, if it is a wrong value.
    var mistake: String?
    /// A loader that takes the place of the feature's own.
    @safe @exclusivity(unchecked) var replacement: Replacement?
    @safe @exclusivity(unchecked) var follower: Follower?
    /// Where the follower is registered.
    fileprivate var followerSlots = Slots()
    /// The `modify` under way.
    @safe @exclusivity(unchecked) var exclusion: Frame?
    /// The input of the instance that was set after it was loaded, in a strict container, until it's reported.
    @safe @exclusivity(unchecked) var outdatedBy: Key?
    /// When the key was last reset or replaced here while it was being loaded.
    @safe @exclusivity(unchecked) var resetTime: UInt64 = 0

    // In the root, for the family: the loads of the key under way, what the last one was made from, and whether an
    // instance was made below the root.
    @safe @exclusivity(unchecked) var loads = LoadList()
    @safe @exclusivity(unchecked) var last: Provenance?
    var isMadeBelow = false
}

/// Who is concerned with a place.
private struct Reader {
    /// The place of the instance or the follower, in the same node.
    let place: Place
    let role: ReaderRole
    /// Where its slots point at this.
    let slot: Int
}

enum ReaderRole {
    /// An instance that reloads was made from the key.
    case input
    /// An instance lives in this node because the key is set here.
    case anchor
    /// A follower sees something that was made from the key.
    case follower

    /// Whether changes above are of interest, too.
    fileprivate var follows: Bool { self != .anchor }
}

/// Where an instance or a follower is registered.
private struct Slots {
    struct Slot {
        let place: Place
        var index: Int
    }
    var first: Slot?
    var more: [Slot] = []
    var count: Int { first == nil ? 0 : 1 + more.count }

    subscript(number: Int) -> Slot { number == 0 ? first! : more[number - 1] }
    mutating func append(_ slot: Slot) { if first == nil { first = slot } else { more.append(slot) } }
    mutating func removeLast() { if more.popLast() == nil { first = nil } }
    mutating func move(_ number: Int, to index: Int) {
        if number == 0 { first!.index = index } else { more[number - 1].index = index }
    }
}

extension Place {
    var key: Key { unshared.cell.key }

    // MARK: Following what is above

    /// Lets changes above reach this place.
    func follow(_ token: LockToken) {
        var place = self
        while true {
            place[token].followCount += 1
            guard place[token].followCount == 1 else { return }
            place.refresh(token)
            guard let parent = place[token].node.use({ $0.parent }) else { return }
            let above = parent.place(token, key)
            let next = above[token].firstBelow
            place[token].above = above
            place[token].next = next
            next?[token].previous = place
            above[token].firstBelow = place
            place = above
        }
    }

    func unfollow(_ token: LockToken) {
        self[token].followCount -= 1
        if self[token].followCount == 0 { unlink(token) }
    }

    /// Leaves the tree of its key: nobody here follows changes from above any more.
    func unlink(_ token: LockToken) {
        var place = self
        while true {
            place.refresh(token)
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

    /// Calls `body` with the places right below.
    func forEachBelow(_ token: LockToken, _ body: (Place) -> Void) {
        var below = self[token].firstBelow
        while let place = below {
            body(place)
            below = place[token].next
        }
    }
    /// Whether nobody but its own follower is concerned.
    func isAlone(_ token: LockToken) -> Bool { self[token].firstReader == nil && self[token].firstBelow == nil }

    /// Sends writers of the cell the long way, or lets them take the short one again.
    func refresh(_ token: LockToken) {
        let rare = self[token].rare
        let isSpecial =
            self[token].followCount > 0 || self[token].firstReader != nil || rare?.follower != nil
            || rare?.exclusion != nil
        let cell = self[token].cell
        if isSpecial != cell.has(CellFlags.special) { cell.mark(CellFlags.special, isSpecial) }
    }

    // MARK: Readers

    func forEachReader(_ token: LockToken, _ body: (Place, ReaderRole) -> Void) {
        guard let first = self[token].firstReader else { return }
        // As they are now: `body` may take some off.
        let more = self[token].moreReaders
        body(first.place, first.role)
        for reader in more { body(reader.place, reader.role) }
    }

    /// Registers the instance or the follower of this place with another one of its node.
    func register(_ token: LockToken, with other: Place, as role: ReaderRole) {
        let index = other[token].firstReader == nil ? 0 : 1 + other[token].moreReaders.count
        let slot = Slots.Slot(place: other, index: index)
        let number: Int
        if role == .follower {
            let rare = self[token].more()
            number = rare.followerSlots.count
            rare.followerSlots.append(slot)
        } else {
            number = self[token].slots.count
            self[token].slots.append(slot)
        }
        let reader = Reader(place: self, role: role, slot: number)
        if index == 0 { other[token].firstReader = reader } else { other[token].moreReaders.append(reader) }
        if role.follows { other.follow(token) } else { other.refresh(token) }
    }

    /// Takes the instance of this place off all lists.
    func unregisterInstance(_ token: LockToken) {
        // Slots are looked up again each time, since removing a reader moves another one, which may be its own.
        for number in 0..<self[token].slots.count {
            let slot = self[token].slots[number]
            slot.place.removeReader(token, at: slot.index)
        }
        self[token].slots = Slots()
    }

    /// Takes the instance off the list of the key that kept it in this node.
    func unregisterAnchor(_ token: LockToken) {
        // It was registered last.
        let number = self[token].slots.count - 1
        guard number >= 0 else { return }
        let slot = self[token].slots[number]
        slot.place.removeReader(token, at: slot.index)
        self[token].slots.removeLast()
    }

    /// Takes the follower of this place off all lists.
    func unregisterFollower(_ token: LockToken) {
        guard let rare = self[token].rare else { return }
        for number in 0..<rare.followerSlots.count {
            let slot = rare.followerSlots[number]
            slot.place.removeReader(token, at: slot.index)
        }
        rare.followerSlots = Slots()
    }

    private func removeReader(_ token: LockToken, at index: Int) {
        let removed = index == 0 ? self[token].firstReader! : self[token].moreReaders[index - 1]
        if let last = self[token].moreReaders.popLast() {
            if index <= self[token].moreReaders.count {
                if index == 0 { self[token].firstReader = last } else { self[token].moreReaders[index - 1] = last }
                last.moved(token, to: index)
            }
        } else {
            self[token].firstReader = nil
        }
        if removed.role.follows { unfollow(token) }
        refresh(token)
    }

    // MARK: The instance

    /// Keeps what an instance was made from, and registers it with what can drop it.
    ///
    /// What lives in the root and doesn't reload is registered nowhere.
    func settle(_ token: LockToken, _ provenance: Provenance?, _ lifetime: Lifetime?) {
        self[token].provenance = provenance
        self[token].lifetime = lifetime
        let node = self[token].node
        guard let provenance else { return }
        node.use { node in
            if provenance.reloads {
                for key in node.isRoot ? provenance.direct : provenance.keys {
                    register(token, with: node.place(token, key), as: .input)
                }
            }
            if node.isRoot { return }
            if !provenance.isLocal { _ = anchor(token) }
            // What is set above takes the place of what was loaded here.
            follow(token)
        }
    }

    /// Finds a key that is set here and keeps the instance here; says whether there is one.
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

    /// Takes away what is known of the instance, which leaves its cell.
    func forget(_ token: LockToken, _ garbage: inout Garbage) {
        guard let provenance = self[token].provenance.take() else { return }
        unregisterInstance(token)
        if self[token].node.depth > 0 { unfollow(token) }
        garbage.add(provenance)
        self[token].isOutdated = false
        guard let lifetime = self[token].lifetime.take() else { return }
        lifetime.leave(token)
        garbage.add(lifetime)
    }
}

extension Reader {
    /// Another reader has gone, and this one stands elsewhere now.
    func moved(_ token: LockToken, to index: Int) {
        if role == .follower {
            place[token].rare!.followerSlots.move(slot, to: index)
        } else {
            place[token].slots.move(slot, to: index)
        }
    }
}

// MARK: What an instance was made from

/// The inputs of an instance.
///
/// One object serves all instances of a key that were made from the same keys.
final class Provenance: Sendable {
    /// The direct inputs of `load(in:)`, in that order.
    let direct: [Key]
    /// All keys, directly and through others, sorted.
    let keys: [Key]
    /// The bits of all keys.
    let mask: UInt64
    /// Whether the instance belongs to the container that asked, by its own wish or that of something it was made from.
    let isLocal: Bool
    let reloads: Bool

    static let none = Provenance(direct: [], keys: [], mask: 0, isLocal: false, reloads: false)

    init(direct: [Key], keys: [Key], mask: UInt64, isLocal: Bool, reloads: Bool) {
        self.direct = direct
        self.keys = keys
        self.mask = mask
        self.isLocal = isLocal
        self.reloads = reloads
    }

    /// Whether a node sees an instance that lives in `home`, at or above it: nothing between holds a key that it was made
    /// from.
    ///
    /// - `held`: The bits of what is held between.
    @inline(__always)
    func isValid(_ token: LockToken, for node: Node, from home: Node, _ held: UInt64 = .max) -> Bool {
        if node === home { return true }
        if isLocal { return false }
        return mask & held == 0 || !isOverridden(token, for: node, below: home.depth)
    }

    /// Whether something at or above a node, but below a depth, holds a key that the instance was made from.
    func isOverridden(_ token: LockToken, for node: Node, below depth: Int) -> Bool {
        node.path.firstResult { node in
            if node.depth <= depth { return false }
            return node.holdsAny(token, of: keys, mask) ? true : nil
        } ?? false
    }

    /// Whether a node may keep an instance: it's the root, the instance is local, or the node holds its key or one of its inputs.
    func isAnchored(_ token: LockToken, _ key: Key, in node: Node) -> Bool {
        node.isRoot || isLocal || node.holds(token, key) || node.holdsAny(token, of: keys, mask)
    }

    func isEqual(to other: Provenance) -> Bool {
        self === other
            || mask == other.mask && isLocal == other.isLocal && reloads == other.reloads && direct == other.direct
                && keys == other.keys
    }
}

extension [Key] {
    /// The keys of two sorted lists, sorted, each once.
    fileprivate func merged(with other: [Key]) -> [Key] {
        if isEmpty || other.isEmpty { return isEmpty ? other : self }
        var merged: [Key] = []
        merged.reserveCapacity(count + other.count)
        var (left, right) = (0, 0)
        while left < count, right < other.count {
            let (one, two) = (self[left], other[right])
            merged.append(one.raw <= two.raw ? one : two)
            if one.raw <= two.raw { left += 1 }
            if two.raw <= one.raw { right += 1 }
        }
        merged += self[left...]
        merged += other[right...]
        return merged
    }

    /// The keys in order, each once.
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

extension [[Key]] {
    /// The keys of sorted lists, sorted, each once: neighbours are merged until one list is left.
    func merged() -> [Key] {
        var lists = self
        while lists.count > 1 {
            lists = stride(from: 0, to: lists.count, by: 2).map { index in
                index + 1 < lists.count ? lists[index].merged(with: lists[index + 1]) : lists[index]
            }
        }
        return lists.first ?? []
    }
}
