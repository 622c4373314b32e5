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
            for node in nodes { node.tell(token, graph) }
            if !isAlone { node.tellLoads(token, graph) }
        }
    }
}

extension Node {
    fileprivate func tell(_ token: LockToken, _ graph: any GraphReceiver) {
        graph.add(
            container: number, in: parent?.number, depth: depth, name: displayName(token),
            childCount: childCount(token), isClosed: storage[token].isClosed)
        let failures = storage[token].rare?.failures ?? KeyTable()
        for cell in storage.cells(token) where cell.key != Key.containerName {
            // A replaced feature whose load has failed is added once, as failed.
            let failure = failures[cell.key]
            if let failure, !failure.isPast, !cell.has(CellFlags.hasWord) { continue }
            tell(token, graph, cell, failure?.text)
        }
        for (key, failure) in failures.entries where !failure.isPast {
            if case .found = look(token, key) { continue }
            var inputs = failure.inputs.compactMap { place(token, of: $0) }
            // One of its inputs may have failed for the same container.
            if failure.way.count > 1 { inputs.append((failure.way[1], number)) }
            graph.add(
                failed: (key, number), depth: depth, reads: failure.inputs, inputs: inputs, isUnset: failure.isUnset,
                error: failure.text)
        }
    }

    private func tell(_ token: LockToken, _ graph: any GraphReceiver, _ cell: CellReference, _ error: String?) {
        let place = cell.place
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
            guard case .found(let read, let owner) = look(token, input) else {
                // It was replaced or reset after the load, and hasn't been loaded again.
                if let owner = lost(token, input, after: place?[token].since ?? 0) {
                    changed.append((input.known(at: owner.depth), owner.number))
                }
                continue
            }
            inputs.append((read.key, owner.object.number))
            if read.time > place?[token].since ?? 0 {
                changed.append((read.key, owner.object.number))
            }
        }
        if !isRoot, let homeKey = provenance?.homeKeys.first(where: { holds(token, $0) }) {
            anchors = [homeKey]
        } else if let provenance, !isRoot, !provenance.isLocal {
            anchors = family.way(token, from: cell.key) { holds(token, $0) }
        }
        if anchors.first == cell.key { anchors.removeFirst() }
        let duration = family.diagnostics?.state[token].record(of: self)?.durations[cell.key]
        graph.add(
            (cell.key, number), depth: depth, held: held, loadCount: place?[token].loadCount ?? 0,
            duration: cell.has(CellFlags.loaded) ? duration : nil,
            value: cell.key.kind == .property ? cell.payload : nil,
            isLocal: provenance?.isLocal ?? false,
            isForTest: held == nil && loadsTestValue(token, cell.key), reads: provenance?.direct ?? [],
            inputs: inputs, changed: changed, anchors: anchors, error: error)
    }

    /// Whether an instance that was loaded here is a value for tests if the feature has one.
    private func loadsTestValue(_ token: LockToken, _ key: Key) -> Bool {
        storage[token].policy != nil
            && !path.contains { $0.storage.existingCell(token, key)?.loader(token) != nil }
    }

    /// Returns the nearest node in which an input that isn't there anymore was replaced or reset after a load.
    func lost(_ token: LockToken, _ key: Key, after time: UInt64) -> Node? {
        path.first { node in
            let cell = node.storage.existingCell(token, key.known(at: node.depth))
            return cell.map { !$0.has(CellFlags.link) && $0.time > time } ?? false
        }
    }

    /// Tells of the loads in progress.
    ///
    /// A load counts where its instance is expected.
    fileprivate func tellLoads(_ token: LockToken, _ graph: any GraphReceiver) {
        for load in family.loads(token) {
            let home = load.facts.expected.object
            graph.add(
                loading: (load.key.known(at: home.depth), home.number), depth: home.depth,
                inputs: load.state[token].inputs.compactMap { load.node.place(token, of: $0.key) },
                ObjectIdentifier(load.frame), neededBy: load.parent.map { ObjectIdentifier($0) },
                isShown: load.key.kind != .property && (home.isWithin(self) || isWithin(home)))
        }
    }

    private func place(_ token: LockToken, of key: Key) -> GraphPlace? {
        guard case .found(let cell, let owner) = look(token, key) else { return nil }
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
