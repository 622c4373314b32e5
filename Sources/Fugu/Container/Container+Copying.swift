extension Container {
    /// Creates a container that copies what was set in other containers and in their ancestors.
    ///
    /// The nearest value wins within a container and its ancestors, and the last container wins over the others.
    /// Decorations and contributions stack in the same order, each one once, until a value or a replacement covers them.
    ///
    /// The copy takes values, set and replaced features, sources, and rules, but no loaded instances: features load
    /// again and see the copy's values. If a later container's sources have a value for a name, it wins over what code set
    /// for the name in an earlier container. The copy is independent of the originals.
    ///
    /// If a load copies its handle, its inputs are what was set and, of the sources, only the names that it reads.
    ///
    /// - Parameter containers: The containers to copy. The last one has the highest priority.
    /// - Complexity: O(*n*) for *n* values in the containers and their ancestors, and O(*d*²) for *d* decorations and
    ///   contributions of one feature.
    public convenience init(copying containers: Container...) {
        var holdings = Holdings()
        for container in containers {
            container.tell(.copied)
            holdings.add(container)
        }
        self.init(holdings)
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
        node.family.commit(holdings.settings.entries.flatMap { $0.value.writes(of: $0.key, in: node) })
    }
}

/// The settings of containers that a copy takes.
private struct Holdings {
    var settings = KeyTable<Layers>()
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
            recorder?.record(token, cell, of: UnmanagedReference(node))
            settings[cell.key] = Layers(setting)
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
        // The copy has inner keys of its own.
        for (key, setting) in nearer.settings.entries where key.decorated == nil {
            var layers = settings[key] ?? Layers(nil)
            // So that they aren't copied.
            settings[key] = nil
            layers.add(setting)
            settings[key] = layers
        }
    }

    /// Adds nearer sources, whose values win over what farther containers set.
    private mutating func add(_ nearer: any ValueSources) {
        for key in settings.keys {
            guard let naming = key.naming else { continue }
            if case .nothing = naming.ask(nearer) { continue }
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
