extension Container {
    /// Adds a rule for the scopes whose path matches a pattern, here and in descendants.
    ///
    /// Rules run in the order in which you add them, those of ancestors first, and each sees what earlier ones set. They run
    /// when a scope is first read, and again after you add a rule or call ``invalidateScopes()``.
    ///
    /// - Parameters:
    ///   - pattern: The pattern, which must match the whole path. `*` matches anything within a segment, `**` any segments,
    ///     and `?` one character.
    ///   - rule: A closure that sets properties for the scope.
    /// - Complexity: O(*n*) for *n* descendants and the instances in their scopes.
    public func configureScopes(
        _ pattern: String = "**", _ rule: @escaping @Sendable (any PropertyContainer) -> Void
    ) {
        let compiled = ScopePattern(pattern)
        add(ScopeRule(description: pattern, matches: { compiled.matches($0) }, configure: rule))
    }

    /// Adds a rule for the scopes that a predicate accepts, here and in descendants.
    ///
    /// - Parameters:
    ///   - matches: A closure that receives the path, with a leading slash and without a query.
    ///   - description: A name for the rule in messages.
    ///   - rule: A closure that sets properties for the scope.
    /// - Complexity: O(*n*) for *n* descendants and the instances in their scopes.
    public func configureScopes(
        where matches: @escaping @Sendable (String) -> Bool, description: String,
        _ rule: @escaping @Sendable (any PropertyContainer) -> Void
    ) {
        add(ScopeRule(description: description, matches: matches, configure: rule))
    }

    /// Returns the child container for a path, configured by the rules that match it.
    ///
    /// The same path gives the same container for as long as someone holds it.
    ///
    /// - Parameter path: The path. A leading slash is optional, and a query is ignored.
    /// - Returns: The scope.
    /// - Complexity: O(*l*) for a path of *l* characters. The first read of the scope matches the path with the rules,
    ///   which takes O(*r* × *l*) for rules with *r* characters in all.
    public func scope(_ path: String) -> Container {
        let path = ScopePattern.normalized(path)
        let node = backend.node
        if let known = node.family.lock.withLock({ token in
            node.storage[token].rare?[token].scopes.scopes[path]?.container
        }) {
            return known
        }
        let layer = child()
        let made = layer.child()
        return node.family.lock.withLock { token in
            let rare = node.storage[token].more()
            if let known = rare[token].scopes.scopes[path]?.container { return known }
            let layerNode = layer.backend.node
            layerNode.storage[token].more()[token].scopes.layer = RuleState(path: path)
            node.family.add(token, layer: layerNode)
            rare[token].scopes.scopes[path] = WeakScope(container: made, layer: UnmanagedReference(layerNode))
            return made
        }
    }

    /// Invalidates the scopes of this container and its descendants.
    ///
    /// Observed scopes are configured again at once.
    ///
    /// - Complexity: O(*n*) for *n* descendants and the instances in their scopes.
    public func invalidateScopes() { invalidateScopes { _, _ in } }

    private func add(_ rule: ScopeRule) {
        invalidateScopes { token, node in node.storage[token].more()[token].scopes.rules.append(rule) }
    }

    private func invalidateScopes(_ change: (LockToken, Node) -> Void) {
        let node = backend.node
        if let path = Current.unfinished?.configuredPath(within: node) { fatalError(Messages.ruleChangesRules(path)) }
        let observed = node.family.lock.withLock { token in
            change(token, node)
            return node.family.state[token].layers.map(\.object).filter { layer in
                layer.isWithin(node) && Layer(node: layer).invalidate(token)
            }
        }
        for layer in observed { layer.prepareScopes() }
    }
}
