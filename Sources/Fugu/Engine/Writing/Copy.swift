/// What was set in containers and can be set elsewhere.
private struct Holdings {
    var operations: [Key: Operation] = [:]
    var rules: [ScopeRule] = []
    var sources: (any ValueSources)?
    var strictness: Strictness?

    init() {}

    /// Returns what the node holds itself.
    ///
    /// A load that copies was made from it.
    private init(_ token: LockToken, of node: Node, _ recorder: Load?) {
        strictness = node.storage[token].strictness
        sources = node.storage[token].rare?[token].sources
        rules = node.storage[token].rare?[token].scopes.rules ?? []
        for cell in node.storage.cells(token) {
            guard let operation = cell.setting(token) else { continue }
            recorder?.record(token, cell, at: node.depth)
            operations[cell.key] = operation
        }
    }

    /// Adds what a container and its ancestors hold, the nearest winning.
    mutating func add(_ container: Container) {
        let node = container.backend.node
        let recorder = container.backend.recorder
        node.prepareScopes()
        // In one look, so that a copy never has half of an update.
        let levels = node.family.lock.withLock { token in node.path.map { Holdings(token, of: $0, recorder) } }
        for level in levels.reversed() { add(level) }
    }

    private mutating func add(_ nearer: Holdings) {
        strictness = nearer.strictness ?? strictness
        // A rule that comes by two ways was added once; its last place wins.
        rules.removeAll { rule in nearer.rules.contains { $0 === rule } }
        rules += nearer.rules
        if let sources = nearer.sources { add(sources) }
        operations.merge(nearer.operations) { $1 }
    }

    /// What farther containers set gives way to what nearer ones have from their sources.
    private mutating func add(_ nearer: any ValueSources) {
        for key in operations.keys {
            guard let naming = key.naming else { continue }
            if case .nothing = naming.ask(nearer) { continue }
            operations[key] = nil
        }
        sources = sources.map { nearer.over($0) } ?? nearer
    }
}

extension Container {
    /// Creates a container with what was set in other containers and in their ancestors.
    ///
    /// The nearest value wins within a container and its ancestors, and the last container wins over the others. The
    /// copy takes values, swapped and replaced features, sources, and rules, but nothing that was loaded: features load
    /// anew and see the copy's values. If a later container has a name in its sources, that value wins over what code
    /// set for the name in an earlier one. Afterwards, the containers are independent.
    ///
    /// A load that copies its handle has as inputs what was set and, of the sources, only what it reads by name.
    ///
    /// - Parameter containers: The containers to copy. The last one has the highest priority.
    /// - Complexity: O(*n*) for *n* values in the containers and their ancestors.
    public convenience init(copying containers: Container...) {
        self.init()
        var holdings = Holdings()
        for container in containers { holdings.add(container) }
        let node = backend.node
        var effects = Effects()
        node.family.lock.withLock { token in
            node.storage[token].strictness = holdings.strictness
            if let sources = holdings.sources {
                node.storage[token].more()[token].sources = sources
                node.family.markSourced()
            }
            if !holdings.rules.isEmpty { node.storage[token].more()[token].scopes.rules = holdings.rules }
            for (key, operation) in holdings.operations {
                Change(node: node, cell: node.storage.cell(token, key)).apply(token, operation, &effects)
            }
        }
        effects.perform()
    }
}
