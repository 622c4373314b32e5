extension Container {
    /// Creates a container that copies what was set in other containers and in their ancestors.
    ///
    /// The nearest value wins within a container and its ancestors, and the last container wins over the others.
    /// Decorations and contributions stack in the same order, each one once, until a value or a replacement covers them. Since
    /// the copy is one container, its decorations of a list are around all its elements.
    ///
    /// The copy takes values, set and replaced features, sources, and rules, but no loaded instances: features load
    /// again and see the copy's values. If a later container's sources have a value for a name, it wins over what code set
    /// for the name in an earlier container. The copy is independent of the originals.
    ///
    /// If a load copies its handle, its inputs are what was set and, of the sources, only the names that it reads.
    ///
    /// - Parameter containers: The containers to copy. The last one has the highest priority.
    /// - Complexity: O(*n*) for *n* values, decorations, and contributions in the containers and their ancestors.
    public convenience init(copying containers: Container...) {
        var holdings = Holdings()
        for container in containers { holdings.add(container) }
        self.init(holdings)
        for container in containers { container.tell(.copied(self)) }
    }

    /// Creates a copy of a container that has other sources in place of its own.
    ///
    /// It gives what the container would give with them, whatever else it and its ancestors hold.
    package convenience init(copying container: Container, trying sources: any ValueSources) {
        var holdings = Holdings()
        holdings.add(container, trial: sources)
        self.init(holdings)
    }

    private convenience init(_ holdings: Holdings) {
        self.init(bare: ())
        let node = node
        var garbage = Garbage()
        node.family.lock.withLock { token in
            node.storage[token].strictness = holdings.strictness
            if !holdings.rules.isEmpty { node.storage[token].more().rules = holdings.rules }
            if let sources = holdings.sources { node.take(token, sources, &garbage) }
        }
        garbage.dispose()
        node.family.commit(
            holdings.settings.entries.flatMap { key, setting in
                var writes = LayerWrites(to: TypedKey(resetting: key), in: node)
                writes.put(setting.base)
                for layer in setting.layers { writes.add(layer) }
                return writes.all
            })
    }
}

/// The settings of containers that a copy takes.
private struct Holdings {
    /// What each key was set to, if it was, and the layers around it, the innermost first.
    var settings = KeyTable<(base: Operation?, layers: [Layer])>()
    var rules: [ScopeRule] = []
    var sources: (any ValueSources)?
    var strictness: Strictness?

    init() {}

    /// Collects what the node itself holds.
    ///
    /// Each setting becomes an input of a load that copies.
    private init(_ token: LockToken, of node: Node, _ recorder: Frame?) {
        strictness = node.storage[token].strictness
        sources = node.storage[token].rare?.sources.value
        rules = node.storage[token].rare?.rules ?? []
        for cell in node.storage.cells(token) {
            guard let setting = cell.setting(token) else { continue }
            if let recorder {
                recorder.record(
                    token, cell, of: UnmanagedReference(node), as: cell.key.known(at: recorder.node!.depth))
            }
            // The copy has inner keys of its own.
            if cell.key.decorated != nil { continue }
            var (base, layers) = (Optional(setting), [Layer]())
            while let link = base?.replacement?.link {
                layers += link.layers.all.map(\.layer)
                base = node.setting(token, of: link.within)
            }
            settings[cell.key] = (base, layers.reversed())
        }
    }

    /// Adds what a container and its ancestors hold; the nearest setting wins.
    ///
    /// - `trial`: Sources to use instead of the container's own.
    mutating func add(_ container: Container, trial: (any ValueSources)? = nil) {
        let (node, recorder) = (container.node, container.recorder)
        // In one turn of the lock, so that a copy never has half of an update.
        var levels = node.family.lock.withLock { token in node.path.map { Holdings(token, of: $0, recorder) } }
        if let trial { levels[0].sources = trial }
        for level in levels.reversed() { add(level) }
    }

    private mutating func add(_ nearer: Holdings) {
        strictness = nearer.strictness ?? strictness
        // A rule that comes from two containers is kept once, at its last position.
        rules.removeAll { rule in nearer.rules.contains { $0 === rule } }
        rules += nearer.rules
        if let sources = nearer.sources { add(sources) }
        for (key, setting) in nearer.settings.entries {
            guard setting.base == nil, let farther = settings[key] else {
                settings[key] = setting
                continue
            }
            let known = Set(farther.layers.map { ObjectIdentifier($0) })
            settings[key] = (
                farther.base, farther.layers + setting.layers.filter { !known.contains(ObjectIdentifier($0)) }
            )
        }
    }

    /// Adds nearer sources, whose values win over what farther containers set.
    private mutating func add(_ nearer: any ValueSources) {
        for key in settings.keys {
            guard let naming = key.naming else { continue }
            if case .success(nil) = naming.ask(nearer) { continue }
            settings[key] = nil
        }
        sources = nearer.copied(over: sources)
    }
}

extension CellReference {
    /// Returns what code or a rule set, as an operation that sets it elsewhere, or `nil` for what sources supplied.
    func setting(_ token: LockToken) -> Operation? {
        let rare = place?[token].rare
        if let replacement = rare?.replacement.value { return .replace(replacement) }
        if heldFlags == CellFlags.held { return payload.map { .set($0) } }
        return rare?.rule.value.map { .set($0) }
    }
}
