extension Container {
    /// Creates a container that copies what was set in other containers and in their ancestors.
    ///
    /// The nearest value wins within a container and its ancestors, and the last container wins over the others, also with its
    /// decorations and contributions.
    ///
    /// The copy takes values, set and replaced features, sources, and rules, but no loaded instances: features load
    /// again and see the copy's values. If a later container's sources have a value for a name, it wins over what code set
    /// for the name in an earlier container. The copy is independent of the originals.
    ///
    /// If a load copies its handle, its inputs are what was set and, of the sources, only the names that it reads.
    ///
    /// - Parameters:
    ///   - containers: The containers to copy. The last one has the highest priority.
    ///   - fileID: The file of the call, for messages.
    ///   - line: The line of the call, for messages.
    /// - Complexity: O(*n*) for *n* values in the containers and their ancestors.
    public convenience init(
        copying containers: Container..., fileID: StaticString = #fileID, line: UInt = #line
    ) {
        var holdings = Holdings()
        for container in containers { holdings.add(container) }
        self.init(holdings)
        wasMade(.root, fileID, line)
        for container in containers { container.note(.copied) }
    }

    /// Creates a copy of a container that has another supplier in place of its own.
    ///
    /// It gives what the container would give with that, whatever else it and its ancestors hold.
    package convenience init(copying container: Container, trying supplier: any ValueSupplier) {
        var holdings = Holdings()
        holdings.add(container, trial: supplier)
        self.init(holdings)
    }

    private convenience init(_ holdings: Holdings) {
        self.init(listener: TestProcess.listenerForRoot)
        let node = node
        var garbage = Garbage()
        node.family.lock.withLock { token in
            node.storage[token].policy = holdings.policy
            if let attachment = holdings.attachment { node.storage[token].more().attachment = attachment }
            if let supplier = holdings.supplier { node.family.set(token, supplier, of: node, &garbage) }
        }
        garbage.dispose()
        holdings.put(in: node)
    }

    /// Sets, in this new child, what the containers from ``current`` up to the root have set, but for the root and those that this
    /// child sees anyway.
    ///
    /// - `key`: A key that isn't set.
    func takeFromCurrent(except key: Key) {
        guard let current = Context.bound?.container else { return }
        var holdings = Holdings()
        holdings.add(current, unseenBy: node)
        holdings.settings[key] = nil
        holdings.put(in: node)
    }
}

/// The settings of containers that a copy takes.
private struct Holdings {
    var settings = KeyTable<Setting>()
    var attachment: (any ContainerAttachment)?
    var supplier: (any ValueSupplier)?
    var policy: (any LoadPolicy)?

    init() {}

    /// Collects what the node itself holds.
    ///
    /// Each setting becomes an input of a load that copies.
    private init(_ token: LockToken, of node: Node, _ recorder: Load?) {
        policy = node.storage[token].policy
        supplier = node.storage[token].rare?.supplier.value
        attachment = node.storage[token].rare?.attachment
        for cell in node.storage.cells(token) {
            let setting = cell.setting(token)
            if setting.isNothing { continue }
            if let recorder {
                recorder.record(token, cell, of: UnmanagedReference(node), as: cell.key)
            }
            settings[cell.key] = setting
        }
    }

    /// Adds what a container and its ancestors hold; the nearest setting wins.
    ///
    /// - `trial`: A supplier to use instead of the container's own.
    mutating func add(_ container: Container, trial: (any ValueSupplier)? = nil) {
        var levels = levels(of: container, Array(container.node.path))
        if let trial { levels[0].supplier = trial }
        for level in levels.reversed() { add(level) }
    }

    /// Adds what a container and its ancestors hold, except the root and what a node sees anyway.
    mutating func add(_ container: Container, unseenBy node: Node) {
        let seen = Set(node.path.map { ObjectIdentifier($0) })
        let unseen = container.node.path.prefix { !$0.isRoot && !seen.contains(ObjectIdentifier($0)) }
        for level in levels(of: container, unseen).reversed() { add(level) }
    }

    /// Returns what a container and those above it hold, each for itself, nearest first.
    private func levels(of container: Container, _ nodes: [Node]) -> [Holdings] {
        let recorder = container.recorder
        // In one turn of the lock, so that a copy never has half of an update.
        return container.node.family.lock.withLock { token in nodes.map { Holdings(token, of: $0, recorder) } }
    }

    /// Sets, in a new node, what the containers have set.
    func put(in node: Node) {
        node.family.commit(settings.entries.map { Write(node, TypedKey(resetting: $0.key), $0.value, by: .code) })
    }

    private mutating func add(_ nearer: Holdings) {
        policy = nearer.policy ?? policy
        attachment = nearer.attachment?.copied(over: attachment) ?? attachment
        if let supplier = nearer.supplier { add(supplier) }
        for (key, setting) in nearer.settings.entries { settings[key] = setting }
    }

    /// Adds a nearer supplier, whose values win over what farther containers set.
    private mutating func add(_ nearer: any ValueSupplier) {
        for key in settings.keys {
            guard let naming = key.naming else { continue }
            if case .success(nil) = naming.ask(nearer) { continue }
            settings[key] = nil
        }
        supplier = nearer.copied(over: supplier)
    }
}
