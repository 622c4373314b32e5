/// What is there for a container, without loading.
extension Node {
    /// What is there for this node, without loading.
    ///
    /// Links this node's cell to an ancestor's.
    func present(_ token: LockToken, _ key: Key, _ recorder: Load? = nil) -> (payload: Payload, cell: CellReference)? {
        recordRead(token, of: find(token, key).present, key, recorder)
    }

    /// Returns what was found, records it for the load that reads it, and links this node's cell to it.
    func recordRead(_ token: LockToken, of found: Found?, _ key: Key, _ recorder: Load?) -> (
        payload: Payload, cell: CellReference
    )? {
        guard let (cell, owner) = found, let payload = cell.payload else { return nil }
        recorder?.record(token, cell, at: owner.depth)
        ownRecorder(token)?.record(token, cell, at: owner.depth)
        if owner != UnmanagedReference(self) { link(token, key, to: cell) }
        return (payload, cell)
    }

    /// Lets readers of this node read an ancestor's cell, unless a source in between is still to be asked.
    func link(_ token: LockToken, _ key: Key, to cell: CellReference) {
        guard Question(token, before: key, in: self) == nil else { return }
        storage.cell(token, key).link(to: cell, at: family.state[token].now)
    }

    /// A value, and the node at or above the one that asks in which it stands.
    typealias Found = (cell: CellReference, owner: UnmanagedReference<Node>)

    /// Finds the cell whose value this node sees for the key.
    ///
    /// `limit` is the nearest node that holds the key without a value of its own: by a replaced loader, or since a
    /// source has a wrong value.
    func find(_ token: LockToken, _ key: Key) -> (present: Found?, limit: UnmanagedReference<Node>?) {
        guard let holder = path.firstResult({ $0.holds(token, key) ? UnmanagedReference($0) : nil }) else {
            return (findLoaded(token, key, upTo: nil), nil)
        }
        let cell = holder.use { $0.storage.existingCell(token, key)! }
        if cell.has(CellFlags.hasWord), !cell.has(CellFlags.loaded) { return ((cell, holder), nil) }
        return (findLoaded(token, key, upTo: holder), holder)
    }

    /// The nearest instance that was loaded and is valid for this node.
    private func findLoaded(_ token: LockToken, _ key: Key, upTo limit: UnmanagedReference<Node>?) -> Found? {
        path.firstResult { node -> Found?? in
            if let cell = node.storage.existingCell(token, key), cell.has(CellFlags.loaded),
                isValid(token, cell, of: node.depth)
            {
                return .some((cell, UnmanagedReference(node)))
            }
            return UnmanagedReference(node) == limit ? .some(nil) : nil
        } ?? nil
    }

    /// Whether what was loaded at a depth is right for this node too: nothing below it, on the way here, holds anything that
    /// it was made from.
    private func isValid(_ token: LockToken, _ cell: CellReference, of depth: Int) -> Bool {
        if depth == self.depth { return true }
        guard let cellState = cell.state, let provenance = cellState[token].provenance else { return true }
        return isValid(token, provenance, of: depth)
    }

    /// Whether this node, which stands at the depth or below it, sees an instance there that has this provenance.
    func isValid(_ token: LockToken, _ provenance: Provenance, of depth: Int) -> Bool {
        if depth == self.depth { return true }
        return !provenance.isLocal && !provenance.isOverridden(token, for: self, above: depth)
    }
}
