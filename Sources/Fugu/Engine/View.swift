// The roles of a container: the owner of a node, and the views and handles that ask one.

extension Container {
    /// What a container object is for the engine.
    enum Role: Sendable {
        case owner
        /// A view that owns nothing.
        case view
        /// The handle of a load: it records reads while the load runs, and reads from the instance's home afterward.
        case handle(Load)
        /// The handle of an update, and the container that children made from it belong to: reads see pending writes, and writes
        /// become pending. That of a rule is one of the scope's parent, whose writes are published in the scope.
        case draft(Draft, Container)
        /// Registers every access before it reads.
        case tracked(Tracker, Container)
    }

    /// The node that is read and written.
    ///
    /// It takes the family's lock for the handle of a load, so ask for it before you take the lock.
    package var node: Node {
        switch role {
        case .handle(let load): load.homeNode
        case .tracked(_, let container): container.node
        case .owner, .view, .draft: asked
        }
    }

    /// The load that records what is read here.
    package var recorder: Load? {
        switch role {
        case .handle(let load): load.isFinished ? nil : load
        case .tracked(_, let container): container.recorder
        case .owner, .view, .draft: nil
        }
    }

    /// Whether this registers every access.
    package var isTracking: Bool { if case .tracked = role { true } else { false } }

    /// The container to which children made from here belong, or `nil` if it's this one.
    package var owner: Container? {
        switch role {
        case .owner, .view: return nil
        case .draft(_, let container): return container
        case .tracked(_, let container): return container.owner ?? container
        case .handle(let load):
            guard let asked = load.askedContainer else { return nil }
            // In a nested load, the container that asked is the handle of another one.
            return asked.owner ?? asked
        }
    }

    // MARK: Reading

    /// Returns the current value, without loading.
    ///
    /// - `place`: The place of the read, if it's known.
    @inline(never)
    package func present(
        _ key: Key, _ naming: (any KeyNaming)?, at place: @autoclosure () -> SourcePlace? = nil
    ) -> Payload? {
        note(.read, key, at: place())
        if let naming { asked.family.learn(naming, of: key) }
        return presentNow(key)
    }

    @inline(__always)
    private func presentNow(_ key: Key) -> Payload? {
        switch role {
        case .owner, .view: return present(key, in: asked, for: nil)
        case .handle(let load):
            if !load.isFinished { return present(key, in: asked, for: load) }
            return present(key, in: load.homeNode, for: nil)
        case .draft(let draft, _): return draft.value(key, in: asked) ?? present(key, in: asked, for: nil)
        case .tracked(let tracker, let container):
            tracker.access(key, in: container)
            container.note(.read, key)
            return container.presentNow(key)
        }
    }

    /// Returns an instance in doubt, which is there as long as nobody reads it.
    func presentInDoubt(_ key: Key) -> Payload? {
        let recorder = recorder
        let node = recorder == nil ? node : asked
        return node.family.lock.withLock { token in
            guard let place = node.former(token, key), let former = place.former(token) else { return nil }
            recorder?.record(token, former, at: place)
            if let lifetime = former.lifetime { node.hold(token, lifetime, of: place[token].node) }
            return former.payload
        }
    }

    /// Returns a value, loading it if necessary with `loader`, which is called at most once, on this thread.
    func read(
        _ key: Key, _ naming: (any KeyNaming)?, _ request: () -> Request, _ loader: (Container) throws -> Payload
    ) throws -> Payload {
        if let payload = present(key, naming, at: request().readPlace) { return payload }
        return try load(request(), loader)
    }

    /// Loads a missing value.
    ///
    /// - `hasNoReader`: Whether to throw where a read would stop the program.
    func load(
        _ request: Request, hasNoReader: Bool = false, _ loader: (Container) throws -> Payload
    ) throws -> Payload {
        learnHome(of: request)
        checkHome(request)
        return try reading(request, hasNoReader: hasNoReader).read(loader)
    }

    /// Loads an async key.
    func loadAsync(
        _ request: Request, _ loader: @escaping @Sendable (Container) async throws -> Payload
    ) async throws -> Payload {
        learnHome(of: request)
        checkHome(request)
        return try await reading(request).readAsync(loader)
    }

    /// Asks suppliers for the keys of the declared home, because a container that has a supplier's value holds it.
    private func learnHome(of request: borrowing Request) {
        guard let keys = request.traits.home.keys else { return }
        for key in keys { if let naming = key.definition?.naming { asked.family.learn(naming, of: key) } }
    }

    /// Returns a reading of a key, as the role requires.
    private func reading(_ request: Request, hasNoReader: Bool = false) -> Reading {
        var (node, asker, recorder) = (asked, self, Load?.none)
        switch role {
        case .owner, .view: break
        case .handle(let load): if load.isFinished { node = load.homeNode } else { recorder = load }
        case .draft(_, let container): asker = container
        case .tracked(_, let container):
            return container.reading(request, hasNoReader: hasNoReader)
        }
        return Reading(request, in: node, for: asker, recorder, hasNoReader: hasNoReader)
    }

    // MARK: Writing

    /// Sets, replaces, or resets a key.
    package func change(_ key: TypedKey, to setting: Setting) {
        note(.changed, key.key)
        switch role {
        case .owner, .view: asked.family.commit([Write(asked, key, setting, by: .code)])
        case .handle(let load):
            checkMayChange(key.key)
            let node = load.homeNode
            node.family.commit([Write(node, key, setting, by: .code)])
        case .draft(let draft, _):
            let write = Write(asked, key, setting, by: .code)
            if draft.add(write) { return }
            // What a rule sets is for the scope, so it's never done here.
            if draft.isOfRules { return asked.family.reports.report(Messages.changeAfterRule(of: key.key)) }
            asked.family.commit([write])
        case .tracked(_, let container): container.change(key, to: setting)
        }
    }

    /// Sets a key that gives a value, or nothing, unless something else is there now; returns whether it did.
    func exchange(_ key: TypedKey, _ old: Payload?, for new: Payload) -> Bool {
        switch role {
        case .tracked(_, let container): return container.exchange(key, old, for: new)
        case .draft:
            // Nobody else writes what's pending.
            change(key, to: .value(new))
            return true
        case .owner, .view, .handle: break
        }
        let node = node
        return node.family.commit([Write(node, key, .value(new), by: .code)]) { token in
            if node.isEnded(token) { return false }
            guard case .found(let cell, _) = node.look(token, key.key), let now = cell.payload else {
                return old != nil
            }
            return old?.isIdentical(to: now) != true
        }
    }

    /// Stops the program if this is the handle of a running load, through which nothing may be changed.
    func checkMayChange(_ key: Key?) {
        note(.changed, key)
        if case .handle(let load) = role, !load.isFinished { stopProgram(Messages.writeInLoad(of: load.key, key)) }
    }

    /// Registers a closer with the load, or else with the container.
    func add(_ closer: Closer) {
        if case .handle(let load) = role, load.add(closer) { return }
        note(.registered)
        let node = node
        let life = node.family.lock.withLock { token in
            if node.isEnded(token) { return Life.ended }
            let rare = node.storage[token].more()
            rare.closing.closers.append(closer)
            return rare.closing.calls == 0 ? node.storage[token].life : .open
        }
        if life == .ended { node.family.reports.report(Messages.changeAfterEnd(.closer)) }
        if life == .closed { node.family.reports.report(Messages.closerAfterClosing) }
    }
}

extension Container {
    /// Returns what a node sees, and records it for the load that reads.
    private func present(_ key: Key, in node: Node, for recorder: Load?) -> Payload? {
        node.family.lock.withLock { token in
            node.read(token, key, for: recorder)?.cell.payload
        }
    }
}
