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
        /// become pending.
        case draft(Frame, Container)
        /// The handle of a rule: reads see what earlier rules set, or else what the scope's parent sees.
        case rule(Frame, Container)
        /// Registers every access before it reads.
        case tracked(Tracker, Container)
    }

    /// The node that is read and written.
    ///
    /// It takes the family's lock for the handle of a load, so ask for it before you take the lock.
    var node: Node {
        switch role {
        case .handle(let load): load.homeNode
        case .tracked(_, let container): container.node
        case .owner, .view, .draft, .rule: asked
        }
    }

    /// The load that records what is read here.
    var recorder: Load? {
        switch role {
        case .handle(let load): load.isFinished ? nil : load
        case .tracked(_, let container): container.recorder
        case .owner, .view, .draft, .rule: nil
        }
    }

    /// Whether this registers every access.
    var isTracking: Bool { if case .tracked = role { true } else { false } }

    /// The container to which children made from here belong, or `nil` if it's this one.
    package var owner: Container? {
        switch role {
        case .owner, .view: return nil
        case .draft(_, let container), .rule(_, let container): return container
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
    func present(
        _ key: Key, _ naming: (any KeyNaming)?, at place: @autoclosure () -> SourcePlace? = nil
    ) -> Payload? {
        note(.read, key, at: place())
        if let naming, !isThere(key) { asked.family.learn(naming, of: key) }
        return presentNow(key)
    }

    /// Whether an inlined read, which asks no source, would have found the key if reads weren't heard.
    ///
    /// The handle of a running load or an update, for whose owner it asks, has no cells.
    @inline(__always)
    private func isThere(_ key: Key) -> Bool { asked.family.checker != nil && owner == nil && isFound(key) }

    @inline(never) private func isFound(_ key: Key) -> Bool {
        let node = node
        return node.family.lock.withLock { token in
            node.cell(token, key)?.has(CellFlags.fast) == true
        }
    }

    @inline(__always)
    private func presentNow(_ key: Key) -> Payload? {
        switch role {
        case .owner, .view: return present(key, in: asked, for: nil)
        case .handle(let load):
            if !load.isFinished { return present(key, in: asked, for: load) }
            return present(key, in: load.homeNode, for: nil)
        case .draft(let draft, _): return draft.pending(key, in: asked) ?? present(key, in: asked, for: nil)
        case .rule(let draft, _):
            return draft.pending(key, in: asked) ?? present(key, in: asked.parent!, for: nil)
        case .tracked(let tracker, let container):
            tracker.access(key, in: container)
            container.note(.read, key)
            return container.presentNow(key)
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
        if asked.family.checker == nil { return try reading(request, hasNoReader: hasNoReader).read(loader) }
        checkHome(request)
        let key = request.key
        defer { noteLoaded(key) }
        return try reading(request, hasNoReader: hasNoReader).read(loader)
    }

    /// Loads an async key.
    func loadAsync(
        _ request: Request, _ loader: @escaping @Sendable (Container) async throws -> Payload
    ) async throws -> Payload {
        if asked.family.checker == nil { return try await reading(request).readAsync(loader) }
        checkHome(request)
        let key = request.key
        defer { noteLoaded(key) }
        return try await reading(request).readAsync(loader)
    }

    /// Returns a reading of a key, as the role requires.
    private func reading(_ request: Request, hasNoReader: Bool = false) -> Reading {
        var (node, asker, recorder) = (asked, self, Load?.none)
        switch role {
        case .owner, .view: break
        case .handle(let load): if load.isFinished { node = load.homeNode } else { recorder = load }
        case .draft(_, let container): asker = container
        case .rule: node = asked.parent!
        case .tracked(_, let container):
            return container.reading(request, hasNoReader: hasNoReader)
        }
        return Reading(request, in: node, for: asker, recorder, hasNoReader: hasNoReader)
    }

    // MARK: Writing

    /// Sets, replaces, or resets a key, when no `modify` of it is in progress here.
    func change(_ key: TypedKey, to setting: Setting) {
        note(.changed, key.key)
        switch role {
        case .owner, .view: asked.family.commit([Write(asked, key, setting)])
        case .handle(let load):
            checkMayChange(key.key)
            let node = load.homeNode
            node.family.commit([Write(node, key, setting)])
        case .draft(let draft, _):
            let write = Write(asked, key, setting)
            if !draft.add(write) { asked.family.commit([write]) }
        case .rule(let draft, _):
            // Rules set values only.
            if !draft.add(Write(asked, key, setting.loader == nil ? setting : .nothing, by: .rule)) {
                asked.family.reports.report(Messages.changeAfterRule(of: key.key))
            }
        case .tracked(_, let container): container.change(key, to: setting)
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
            return rare.closing.stage == nil ? node.storage[token].life : .open
        }
        if life != .ended { closer.task?.begin() }
        if life == .ended { node.family.reports.report(Messages.changeAfterEnd(.closer)) }
        if life == .closed { node.family.reports.report(Messages.closerAfterClosing) }
    }
}

extension Container {
    /// Returns what a node sees, and records it for the load that reads.
    private func present(_ key: Key, in node: Node, for recorder: Load?) -> Payload? {
        if node.family.checker != nil { return presentHeard(key, in: node, for: recorder) }
        return node.family.lock.withLock { token in
            node.read(token, key, for: recorder ?? node.ownRecorder(token, for: { Frame.current }))?.cell.payload
        }
    }

    @inline(never)
    private func presentHeard(_ key: Key, in node: Node, for recorder: Load?) -> Payload? {
        var effects = Effects()
        let payload = node.family.lock.withLock { token -> Payload? in
            let recorder = recorder ?? node.ownRecorder(token, for: { Frame.current })
            let seen = node.read(token, key, for: recorder)
            let read = Read(key: key, container: self, node: node, recorder: recorder, seen: seen)
            node.family.emit(token, .read(read), &effects)
            return seen?.cell.payload
        }
        effects.perform()
        return payload
    }
}
