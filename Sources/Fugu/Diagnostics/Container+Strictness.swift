extension Container {
    /// Tells a strict container what the load of a key that isn't external has made.
    @inline(__always) func checkMade(_ value: @autoclosure () -> Any) {
        if TestProcess.isTesting, case .handle(let load) = role { policy?.check(value(), madeBy: load) }
    }

    /// Whether the process may run tests.
    static var isTested: Bool { TestProcess.isTesting }

    /// Whether the load of a feature that has a value for tests gives it.
    @usableFromInline package var givesTestValue: Bool { PreviewRun.isOn || isStrict }

    /// Reports the feature that loads, which declares a value for tests in a way that isn't used.
    @usableFromInline func reportUnusedTestValue() {
        guard givesTestValue, case .handle(let load) = role else { return }
        if isNew(load.key) { report(Messages.unusedTestValue(load.key, load.way)) }
    }

    /// Reports the feature that loads and isn't external, although it declares a variable of that name.
    @usableFromInline func reportForgottenExternal(_ variable: StaticString) {
        // Outside of tests and previews, each load of an external feature comes here, too.
        guard TestProcess.isTesting || PreviewRun.isOn, givesTestValue, case .handle(let load) = role
        else { return }
        if isNew(load.key) { report(Messages.forgottenExternal(load.key, "\(variable)", load.way)) }
    }
}

extension Container {
    /// Lets this container, and with it all children and copies, those that are there too, load whatever it is asked for.
    ///
    /// Tests may share it.
    package func makeLive() {
        setPolicy(nil)
        listen(by: nil)
    }

    /// Lets what declares a home above this new child live where its inputs live, here or above.
    package func becomeHomeRoot() {
        let node = node
        node.family.lock.withLock { token in node.storage[token].more().isHomeRoot = true }
    }

    /// Whether this container is strict.
    package var isStrict: Bool { policy != nil }

    /// Takes away every feature that was loaded in this container, so that the next read asks for it again.
    package func dropLoadedFeatures() {
        let node = node
        var effects = Effects()
        node.family.lock.withLock { token in
            for cell in node.storage.cells(token) where cell.has(CellFlags.loaded) && cell.key.kind != .property {
                if let place = cell.place { effects.drop(token, place) }
            }
        }
        effects.perform()
    }

    /// Reads a feature of which a part is about to be set: in a strict container, this fails nothing.
    ///
    /// What isn't set afterward is that of the placeholder.
    @usableFromInline func readPart<Instance>(_ key: UInt, _ read: () -> Instance) -> Instance {
        let (node, key) = (node, Key(raw: key))
        if !TestProcess.isTesting || !isStrict { return read() }
        let part = Work(.part(of: key, in: node), in: node.family, under: Work.current, within: Work.own)
        defer { part.end() }
        return Context.run(nil, part, read)
    }

    /// Begins to configure this container: until the end, a read by which an accessor with `get` and `set` sets a part fails
    /// nothing.
    package func beginConfiguration() { policy?.beginConfiguration(of: node) }

    /// Ends the configuration, and reports the features that were read in it and not set by its end.
    package func endConfiguration() { policy?.endConfiguration(of: node) }

    /// Runs what configures this new child.
    func configure<E>(_ body: (Container) throws(E) -> Void) throws(E) {
        guard TestProcess.isTesting, let policy else { return try body(self) }
        policy.beginConfiguration(of: node)
        defer { policy.endConfiguration(of: node) }
        try body(self)
    }

    /// Whether nothing was reported of a feature yet; in a preview, each load reports.
    private func isNew(_ key: Key) -> Bool { policy?.isNew(key) ?? true }

    private var policy: (any LoadPolicy)? {
        let node = node
        return node.family.lock.withLock { token in node.storage[token].policy }
    }

    /// Sets what decides whether external features load here and below.
    package func setPolicy(_ policy: (any LoadPolicy)?) {
        let node = node
        let former = node.family.lock.withLock { token in
            node.subtree(token).map { node in
                defer { node.storage[token].policy = policy }
                return node.storage[token].policy
            }
        }
        withExtendedLifetime(former) {}
    }
}
