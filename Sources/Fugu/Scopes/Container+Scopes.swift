extension Container {
    /// Adds a rule for the scopes whose path matches `pattern`, here and in descendants.
    ///
    /// `*` stands for anything within a segment, `**` for any segments, `?` for one character; the pattern must match the
    /// whole path. Rules run in the order in which they were added, ancestors' first, each seeing what the earlier ones
    /// set; without a lock, when a scope is first read and again after rules were added or scopes invalidated.
    public func configureScopes(
        _ pattern: String = "**", _ rule: @escaping @Sendable (any PropertyContainer) -> Void
    ) {
        let compiled = ScopePattern(pattern)
        add(ScopeRule(description: pattern, matches: { compiled.matches($0) }, configure: rule))
    }

    /// Adds a rule for the scopes that a predicate accepts.
    /// - Parameters:
    ///   - matches: Is given the path, with a leading slash and without a query.
    ///   - description: Names the rule in messages.
    ///   - rule: Sets properties for the scope.
    public func configureScopes(
        where matches: @escaping @Sendable (String) -> Bool, description: String,
        _ rule: @escaping @Sendable (any PropertyContainer) -> Void
    ) {
        add(ScopeRule(description: description, matches: matches, configure: rule))
    }

    /// The child container for a path, configured by the rules that match it. The same path gives the same container
    /// while someone holds it. A leading slash is optional and a query is ignored.
    public func scope(_ path: String) -> Container {
        let path = ScopePattern.normalized(path)
        let node = backing.node
        if let known = node.family.lock.withLock({ node.storage.facts.scopes?.scopes[path]?.container }) {
            return known
        }
        let layer = child()
        let made = layer.child()
        return node.family.lock.withLock {
            if let known = node.storage.facts.scopes?.scopes[path]?.container { return known }
            let layerNode = layer.backing.node
            layerNode.storage.facts.scopes = ScopeFacts(layer: LayerFacts(path: path))
            node.family.add(layer: layerNode)
            if node.storage.facts.scopes == nil { node.storage.facts.scopes = ScopeFacts() }
            node.storage.facts.scopes?.scopes[path] = WeakScope(container: made, layer: NodeIdentity(node: layerNode))
            return made
        }
    }

    /// Lets all scopes here and in descendants be computed again, those that are observed at once.
    public func invalidateScopes() { invalidateScopes { _ in } }

    private func add(_ rule: ScopeRule) {
        invalidateScopes { node in
            if node.storage.facts.scopes == nil { node.storage.facts.scopes = ScopeFacts() }
            node.storage.facts.scopes?.rules.append(rule)
        }
    }

    private func invalidateScopes(_ change: (Node) -> Void) {
        let node = backing.node
        if let path = Current.unfinished?.configuredPath(within: node) { fatalError(Messages.ruleChangesRules(path)) }
        let observed = node.family.lock.withLock {
            change(node)
            return node.invalidateLayers()
        }
        for layer in observed { layer.prepareScopes() }
    }
}
