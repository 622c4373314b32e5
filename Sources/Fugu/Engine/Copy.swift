/// What was set in a container and its ancestors, and can be set elsewhere.
struct Holdings {
    var operations: [Key: Operation] = [:]
    var rules: [ScopeRule] = []
    var strictness: Strictness?

    /// Adds what `node` and its ancestors hold, the nearest winning.
    mutating func add(of node: Node) {
        node.prepareScopes()
        node.family.lock.withLock {
            strictness = node.storage.facts.strictness ?? strictness
            for node in Array(node.path).reversed() {
                for cell in node.storage.cells where cell.has(CellState.held) {
                    if let replacement = cell.info?.value.replacement {
                        operations[cell.key] = .replace(replacement)
                    } else if let payload = cell.payload {
                        operations[cell.key] = .set(payload)
                    }
                }
                rules += node.storage.facts.scopes?.rules ?? []
            }
        }
    }
}

extension Container {
    /// Makes a container of its own with what was set in each of `containers` and in their ancestors: nearest first, and
    /// the last of `containers` wins.
    ///
    /// It takes values, swapped and replaced features and rules, but nothing that was loaded: features load anew and so
    /// see the copy's values. Afterwards all are independent.
    public convenience init(copying containers: Container...) {
        self.init()
        var holdings = Holdings()
        for container in containers { holdings.add(of: container.backing.node) }
        let node = backing.node
        var effects = Effects()
        node.family.lock.withLock {
            node.storage.facts.strictness = holdings.strictness
            if !holdings.rules.isEmpty { node.storage.facts.scopes = ScopeFacts(rules: holdings.rules) }
            for (key, operation) in holdings.operations { node.apply(operation, to: key, holder: nil, &effects) }
        }
        effects.perform(in: node.family)
    }
}
