/// A key in a container, which is given by its number.
package typealias GraphPlace = (key: Key, container: Int)

/// What receives what the containers of a family hold, for a graph.
///
/// It's called in one turn of the lock, so it keeps what it gets, and looks up no names.
package protocol GraphReceiver: AnyObject {
    /// Receives a container. Ancestors come first.
    func add(container: Int, in parent: Int?, depth: Int, name: String, childCount: Int, isClosed: Bool)

    /// Receives a value or loader that is held, or an instance that was loaded.
    ///
    /// - `held`: What holds the key, or `nil` if it was loaded.
    /// - `inputs`: The places of what the load has read and still sees, of all that it has read, which is `reads`.
    /// - `isForTest`: Whether it's the value for tests if the feature has one.
    /// - `error`: The text of the last error, which can contain a secret.
    func add(
        _ place: GraphPlace, depth: Int, held: HeldBy?, loadCount: Int, duration: Duration?, value: Payload?,
        isLocal: Bool, isForTest: Bool, reads: [Key], inputs: [GraphPlace], changed: [GraphPlace], anchors: [Key],
        error: String?)

    /// Receives a load that has failed.
    ///
    /// - `isUnset`: Whether it has failed since a feature wasn't set that isn't loaded in tests.
    func add(failed place: GraphPlace, depth: Int, reads: [Key], inputs: [GraphPlace], isUnset: Bool, error: String)

    /// Receives a load in progress.
    ///
    /// - `isShown`: Whether its instance will live in one of the containers.
    func add(
        loading place: GraphPlace, depth: Int, inputs: [GraphPlace], _ id: ObjectIdentifier,
        neededBy: ObjectIdentifier?,
        isShown: Bool)
}

/// What holds a key.
package enum HeldBy { case value, loader, source }

extension Container {
    /// Tells a graph what this container, its ancestors, and its descendants hold.
    ///
    /// - `isAlone`: Whether to leave out descendants.
    package func tell(_ graph: any GraphReceiver, isAlone: Bool = false) {
        let node = node
        node.family.lock.withLock { token in
            if node.isEnded(token) { return }
            let nodes = node.path.dropFirst().reversed() + (isAlone ? [node] : node.subtree(token))
            for node in nodes { graph.add(token, node) }
            if !isAlone { graph.addLoads(token, around: node) }
        }
    }
}

extension GraphReceiver {
    /// Adds what a node holds.
    fileprivate func add(_ token: LockToken, _ node: Node) {
        add(
            container: node.number, in: node.parent?.number, depth: node.depth, name: node.displayName(token),
            childCount: node.childCount(token), isClosed: node.storage[token].isClosed)
        let failures = node.storage[token].rare?.failures ?? KeyTable()
        for cell in node.storage.cells(token) where cell.key != Key.containerName {
            // A replaced feature whose load has failed is added once, as failed.
            let failure = failures[cell.key]
            if let failure, !failure.isPast, !cell.has(CellFlags.hasWord) { continue }
            add(token, node, cell, failure?.text)
        }
        for (key, failure) in failures.entries where !failure.isPast {
            if case .found = node.look(token, key) { continue }
            add(
                failed: (key, node.number), depth: node.depth, reads: failure.inputs,
                inputs: failure.inputs.compactMap { seen(token, $0, by: node) }, isUnset: failure.isUnset,
                error: failure.text)
        }
    }

    private func add(_ token: LockToken, _ node: Node, _ cell: CellReference, _ error: String?) {
        let (place, family) = (cell.place, node.family)
        var held: HeldBy?
        if !cell.has(CellFlags.loaded) {
            switch cell.origin(token) {
            case .code: held = cell.loader(token) == nil ? .value : .loader
            case .rule: held = .value
            case .source: held = .source
            case nil: return
            }
        }
        var (inputs, changed, anchors): ([GraphPlace], [GraphPlace], [Key]) = ([], [], [])
        let provenance = place?[token].provenance
        for input in provenance?.direct ?? [] {
            guard case .found(let read, let owner) = node.look(token, input) else {
                // It was replaced or reset after the load, and hasn't been loaded again.
                if let owner = node.lost(token, input, after: cell.time) {
                    changed.append((input, owner.number))
                }
                continue
            }
            inputs.append((read.key, owner.object.number))
            // What reloads has asked about later changes.
            if provenance?.reloads != true, read.time > cell.time {
                changed.append((read.key, owner.object.number))
            }
        }
        if !node.isRoot, let homeKey = provenance?.homeKeys.first(where: { node.holds(token, $0) }) {
            anchors = [homeKey]
        } else if let provenance, !node.isRoot, !provenance.isLocal {
            anchors = family.way(token, from: cell.key) { node.holds(token, $0) }
        }
        if anchors.first == cell.key { anchors.removeFirst() }
        let duration = node.duration(token, of: cell.key)
        add(
            (cell.key, node.number), depth: node.depth, held: held, loadCount: place?[token].loadCount ?? 0,
            duration: cell.has(CellFlags.loaded) ? duration : nil,
            value: cell.key.kind == .property ? cell.payload : nil,
            isLocal: provenance?.isLocal ?? false,
            isForTest: held == nil && loadsTestValue(token, cell.key, in: node), reads: provenance?.direct ?? [],
            inputs: inputs, changed: changed, anchors: anchors, error: error)
    }

    /// Whether an instance that was loaded in a node is a value for tests if the feature has one.
    private func loadsTestValue(_ token: LockToken, _ key: Key, in node: Node) -> Bool {
        node.storage[token].policy != nil
            && !node.path.contains { $0.cell(token, key)?.loader(token) != nil }
    }

    /// Adds the loads in progress that concern a node, and says which do.
    ///
    /// A load counts where its instance is expected.
    fileprivate func addLoads(_ token: LockToken, around node: Node) {
        for load in node.family.loads(token) {
            let home = load.facts.expected.object
            add(
                loading: (load.key, home.number), depth: home.depth,
                inputs: load.state[token].inputs.all.compactMap { seen(token, $0.key, by: load.node) },
                ObjectIdentifier(load.work), neededBy: load.parent.map { ObjectIdentifier($0) },
                isShown: load.key.kind != .property && (home.isWithin(node) || node.isWithin(home)))
        }
    }

    private func seen(_ token: LockToken, _ key: Key, by node: Node) -> GraphPlace? {
        guard case .found(let cell, let owner) = node.look(token, key) else { return nil }
        return (cell.key, owner.object.number)
    }
}

extension Payload {
    /// The value if it's a string.
    package var string: String? {
        if box is Box<String> { return value(as: String.self) }
        return box is Box<String?> ? value(as: String?.self) : nil
    }
}
