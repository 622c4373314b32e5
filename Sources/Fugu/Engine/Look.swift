// What a node sees of a key, and where instances live.

/// What a node sees of a key, without loading.
package enum Look {
    /// The cell whose value is seen, and its owner: the node or an ancestor.
    case found(CellReference, UnmanagedReference<Node>)
    /// Nothing. `limit` is the nearest node that holds the key without a value, because its loader was replaced or a source
    /// has a wrong value.
    case missing(limit: UnmanagedReference<Node>?)
}

extension Node {
    /// Returns the nearest value of a key that's held, or loaded and valid here.
    @inline(never) package func look(_ token: LockToken, _ key: Key) -> Look { lookInline(token, key) }

    /// Does the same for a caller that's called so often that a call less counts.
    @inline(__always)
    func lookInline(_ token: LockToken, _ key: Key) -> Look {
        var held: UInt64 = 0
        return path.firstResult { owner -> Look? in
            if let cell = owner.cell(token, key) {
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
        case .found(let cell, _): cell.identity(token)
        case .missing(let limit?): limit.use { ~($0.cell(token, key)?.time ?? 0) }
        case .missing(nil): 0
        }
    }

    /// Returns the inputs of all instances of a key here and above: a change of one may hide an instance, or uncover it.
    func keysOfInstances(_ token: LockToken, of key: Key) -> Set<Key> {
        path.reduce(into: []) { $0.formUnion($1.cell(token, key)?.place?[token].provenance?.keys ?? []) }
    }

    /// Returns the first input of the nearest instance of a key above that a node below it holds, so that the instance isn't this
    /// node's.
    func override(_ token: LockToken, hiding key: Key) -> Key? {
        path.firstResult { owner in
            guard let cell = owner.cell(token, key), cell.has(CellFlags.loaded),
                let made = cell.place?[token].provenance
            else { return nil }
            return made.keys.first { input in path(below: owner).contains { $0.holds(token, input) } }
        }
    }

    /// Returns the nearest node in which an input that isn't there anymore was replaced or reset after a load.
    package func lost(_ token: LockToken, _ key: Key, after time: UInt64) -> Node? {
        path.first { node in
            let cell = node.cell(token, key)
            return cell.map { !$0.has(CellFlags.link) && $0.time > time } ?? false
        }
    }

    /// Returns the place of the instance in doubt that the node sees, if there's one.
    func former(_ token: LockToken, _ key: Key) -> Place? {
        path.firstResult { owner -> Place?? in
            guard let cell = owner.cell(token, key) else { return nil }
            if let place = cell.place, place.former(token) != nil,
                place[token].provenance?.isValid(token, for: self, from: owner) == true
            {
                return .some(place)
            }
            return owner.holds(token, key) ? .some(nil) : nil
        } ?? nil
    }

    /// Looks, records the result for the load that reads it, and links the cell so that later reads need no lock.
    @inline(__always)
    func read(
        _ token: LockToken, _ key: Key, for recorder: Load?
    ) -> (cell: CellReference, owner: UnmanagedReference<Node>)? {
        guard case .found(let cell, let owner) = lookInline(token, key) else { return nil }
        recorder?.record(token, cell, of: owner, as: key)
        link(token, key, to: cell, of: owner)
        return (cell, owner)
    }

    /// Lets readers here read an ancestor's cell without the lock.
    @inline(__always)
    func link(_ token: LockToken, _ key: Key, to cell: CellReference, of owner: UnmanagedReference<Node>) {
        if owner == UnmanagedReference(self) { return }
        madeCell(token, key).link(to: cell, at: family.state[token].now)
        if let lifetime = cell.place?[token].lifetime.value { hold(token, lifetime, of: owner) }
    }
}

// MARK: Homes

extension Node {
    /// Returns the nearest node that holds one of some keys, or the root.
    func declaredHome(_ token: LockToken, with keys: [Key]?) -> Node {
        guard let keys else { return ancestor(at: 0) }
        return path.first { node in node.isRoot || keys.contains { node.holds(token, $0) } }!
    }

    /// Returns the nearest container below a home above which declared homes don't count.
    func homeRoot(_ token: LockToken, below home: Node) -> Node? {
        path(below: home).first { $0.storage[token].rare?.isHomeRoot == true }
    }

    /// Whether an instance that's declared to live with some keys may live here: the nearest node that holds one is this one, or
    /// is above a replaced loader, which has no declared home.
    func isHome(_ token: LockToken, of feature: Key, with keys: [Key]) -> Bool {
        let home = declaredHome(token, with: keys)
        return home === self || path(below: home).contains { $0.holds(token, feature) }
    }
}
