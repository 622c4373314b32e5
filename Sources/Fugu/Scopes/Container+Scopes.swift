extension Container {
    /// Adds a rule for the scopes whose path matches a pattern, here and in descendants.
    ///
    /// Rules run in the order in which you add them, those of ancestors first, and each sees what earlier ones set. They run
    /// when a scope is made, and again before this method and ``invalidateScopes()`` return.
    ///
    /// - Parameters:
    ///   - pattern: The pattern, which must match the whole path. `*` matches anything within a segment, `**` any segments,
    ///     and `?` one character. A leading slash is optional, and a query is ignored.
    ///   - rule: A closure that sets properties for the scope.
    /// - Complexity: O(*n*) for *n* descendants and the rules that apply to their scopes.
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
    /// - Complexity: O(*n*) for *n* descendants and the rules that apply to their scopes.
    public func configureScopes(
        where matches: @escaping @Sendable (String) -> Bool, description: String,
        _ rule: @escaping @Sendable (any PropertyContainer) -> Void
    ) {
        add(ScopeRule(description: description, matches: matches, configure: rule))
    }

    /// Returns the child container for a path, configured by the rules that match it.
    ///
    /// The same path returns the same container for as long as you keep it.
    ///
    /// The rules run when the scope is made, before this method returns.
    ///
    /// - Parameter path: The path. A leading slash is optional, and a query is ignored.
    /// - Returns: The scope.
    /// - Complexity: O(*l*) for a path of *l* characters. If the scope is made, matching the path with the rules takes
    ///   O(*r* × *l*) for rules with *r* characters in all, and those that match run.
    public func scope(_ path: String) -> Container {
        let path = ScopePattern.normalized(path)
        let node = node
        while true {
            // Made strong outside the lock, because releasing it may end it.
            let known = node.family.lock.withLock { token in node.storage[token].rare?.scopes[path] }
            if let container = known?.object {
                ScopeRun(container).finish()
                return container
            }
            let made = child()
            let weak = WeakReference(made)
            let isFirst = node.family.lock.withLock { token in
                let rare = node.storage[token].more()
                if let other = rare.scopes[path], other != known { return false }
                rare.scopes[path] = weak
                rare.scopeNodes[path] = UnmanagedReference(made.node)
                made.node.storage[token].more().scope = ScopeState(path: path, parent: node)
                return true
            }
            guard isFirst else { continue }
            ScopeRun(made).finish()
            return made
        }
    }

    /// Runs the rules of this container's and its descendants' scopes again.
    ///
    /// - Complexity: O(*n*) for *n* descendants and the rules that apply to their scopes.
    public func invalidateScopes() { invalidateScopes { _, _ in } }

    private func add(_ rule: ScopeRule) {
        invalidateScopes { token, node in node.storage[token].more().rules.append(rule) }
    }

    private func invalidateScopes(_ change: (LockToken, Node) -> Void) {
        let node = node
        if let path = Frame.current?.configuredPath(within: node) { fatalError(Messages.ruleChangesRules(path)) }
        let scopes = node.family.lock.withLock { token in
            change(token, node)
            // Ancestors first.
            return node.subtree(token).dropFirst().compactMap { scope -> WeakReference<Container>? in
                guard let state = scope.storage[token].rare?.scope else { return nil }
                state.isOutdated = true
                return scope.parent?.storage[token].rare?.scopes[state.path]
            }
        }
        for scope in scopes { if let container = scope.object { ScopeRun(container).finish() } }
    }
}
