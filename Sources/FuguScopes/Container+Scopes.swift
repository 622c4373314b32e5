public import Fugu

extension Container {
    /// Adds a rule for the scopes whose path matches a pattern, here and in descendants.
    ///
    /// Rules run in the order in which you add them, those of ancestors first, and each sees what earlier ones set. They run
    /// when a scope is made, and again before this method and ``invalidateScopes()`` return. Running again replaces only what
    /// rules set; what your code set in the scope stays and wins. What a scope's rules set is published together.
    ///
    /// A rule runs outside every lock, on the thread that asks for the scope or that adds or invalidates rules, and perhaps on
    /// several at once: what the run that began last sets stays. A rule can't be removed. Inside a rule, reading the same scope,
    /// adding rules, and invalidating scopes stop the program with a message. A set through the rule's container after the rule has
    /// returned is reported and has no effect.
    ///
    /// - Parameters:
    ///   - pattern: The pattern, which must match the whole path. `*` matches anything within a segment, even nothing; `**`
    ///     matches any segments, so that `/a/**/b` also matches `/a/b`; and `?` matches one character. A leading slash is
    ///     optional, and a query is ignored. The default matches every scope.
    ///   - rule: A closure that sets properties for the scope. It can run at any time, on any thread.
    /// - Complexity: O(*n* + *s* × *r* × *l*) for *n* descendants and *s* scopes among them, whose paths of *l* characters are
    ///   matched with rules of *r* characters in all, and the rules that apply.
    public func configureScopes(
        _ pattern: String = "**", _ rule: @escaping @Sendable (any PropertyContainer) -> Void
    ) {
        let compiled = ScopePattern(pattern)
        add(ScopeRule(matches: { compiled.matches($0) }, configure: rule))
    }

    /// Adds a rule for the scopes that a predicate accepts, here and in descendants.
    ///
    /// The rule runs like one that has a pattern: see ``configureScopes(_:_:)``.
    ///
    /// - Parameters:
    ///   - matches: A closure that receives the path, with a leading slash and without a query. It's called each time before the
    ///     rule could run, on any thread.
    ///   - rule: A closure that sets properties for the scope. It can run at any time, on any thread.
    /// - Complexity: O(*n* + *s* × *r* × *l*) for *n* descendants and *s* scopes among them, whose paths of *l* characters are
    ///   matched with rules of *r* characters in all, and the rules that apply.
    public func configureScopes(
        where matches: @escaping @Sendable (String) -> Bool, _ rule: @escaping @Sendable (any PropertyContainer) -> Void
    ) {
        add(ScopeRule(matches: matches, configure: rule))
    }

    /// Returns the child container for a path, configured by the rules that match it.
    ///
    /// The same path returns the same container for as long as you keep it, on every thread. The rules run when the scope is made,
    /// before this method returns. If several threads ask for a new scope, each may run them. Inside a rule of the same scope, the
    /// method stops the program with a message.
    ///
    /// - Parameter path: The path. A leading slash is optional, and a query is ignored.
    /// - Returns: The scope.
    /// - Complexity: O(*l*) for a path of *l* characters. If the scope is made, matching the path with the rules takes
    ///   O(*r* × *l*) for rules with *r* characters in all, and those that match run.
    public func scope(_ path: String) -> Container {
        let (path, table) = (ScopePattern.normalized(path), ScopeTable.of(self))
        if table.isRunning(path) { stopProgram(Messages.scopeNeedsItself(path)) }
        if let known = table.known(path) { return known }
        let container = child(made: .keyed(fix: nil), #fileID, #line)
        let scope = Scope(path, container)
        // Whoever adds a rule from now on finds the scope, and runs it here, too.
        _ = container.attachment(orMade: ScopeTable(of: scope, in: table))
        scope.runRules()
        return table.known(orNew: scope, container)
    }

    /// Runs the rules of the scopes below this container again.
    ///
    /// Call the method when something that rules read changes and the container doesn't know of it, such as a file. The rules run
    /// on this thread, before the method returns. Inside a rule, the method stops the program with a message.
    ///
    /// - Complexity: O(*n* + *s* × *r* × *l*) for *n* descendants and *s* scopes among them, whose paths of *l* characters are
    ///   matched with rules of *r* characters in all, and the rules that apply.
    public func invalidateScopes() {
        note(.changed)
        runRules()
    }

    private func add(_ rule: ScopeRule) {
        note(.changed)
        if isTooLate(for: "a rule for scopes was added") { return }
        ScopeTable.of(self).add(rule)
        runRules()
    }

    private func runRules() {
        let (here, running) = (ScopeTable.of(self), ScopeTable.running)
        let tables = attachmentsBelow.compactMap { $0 as? ScopeTable }
        for table in tables where running.contains(where: { $0 === table }) {
            stopProgram(Messages.ruleChangesRules(table.own!.path))
        }
        for table in tables where table !== here { table.own?.runRules() }
    }
}
