// The roles of a container: the owner of a node, and the views and handles that ask one.

extension Container {
    /// What a container object is for the engine.
    enum Role: Sendable {
        case owner
        /// A view that owns nothing.
        case view
        /// The handle of a load: it records reads while the load runs, and reads from the instance's home afterward.
        case handle(Frame)
        /// The handle of an update, and the container that children made from it belong to: reads see pending writes, and writes
        /// become pending.
        case draft(Frame, Container)
        /// The handle of a rule: reads see what earlier rules set, or else what the scope's parent sees.
        case rule(Frame, Container)
        /// Registers every access before it reads.
        case tracked(Tracker, Container)
        /// Checks what an ``Injected`` reads in the second container while the first one is bound, if neither is above the other.
        case beside(Container, Container)
    }

    /// The node that is read and written.
    var node: Node {
        switch role {
        case .handle(let load): load.homeNode
        case .tracked(_, let container), .beside(_, let container): container.node
        case .owner, .view, .draft, .rule: asked
        }
    }

    /// The load that records what is read here.
    var recorder: Frame? {
        switch role {
        case .handle(let load): load.isFinished ? nil : load
        case .tracked(_, let container), .beside(_, let container): container.recorder
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
        case .tracked(_, let container), .beside(_, let container): return container.owner ?? container
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
        _ key: Key, _ naming: PropertyNaming?, at place: @autoclosure () -> SourcePlace? = nil
    ) -> Payload? {
        tell(.read, key, at: place())
        if let naming { asked.family.learn(naming, of: key) }
        return presentNow(key)
    }

    @inline(__always)
    private func presentNow(_ key: Key) -> Payload? {
        switch role {
        case .owner, .view:
            #if DEBUG
            if isWatched { checkKept(key) }
            #endif
            return asked.present(key, for: nil)
        case .handle(let load):
            if !load.isFinished { return asked.present(key, for: load) }
            #if DEBUG
            load.reportLateRead(of: key)
            #endif
            return load.homeNode.present(key, for: nil)
        case .draft(let draft, _): return draft.pending(key, in: asked) ?? asked.present(key, for: nil)
        case .rule(let draft, _): return draft.pending(key, in: asked) ?? asked.parent!.present(key, for: nil)
        case .tracked(let tracker, let container):
            tracker.access(key, in: container)
            container.tell(.read, key)
            return container.presentNow(key)
        case .beside(let current, let container):
            current.checkReading(of: key, in: container)
            container.tell(.read, key)
            return container.presentNow(key)
        }
    }

    /// Returns a value, loading it if necessary with `loader`, which is called at most once, on this thread.
    func read(
        _ key: Key, _ naming: PropertyNaming?, _ request: () -> Request, _ loader: (Container) throws -> Payload
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
        let payload = try reading(request, hasNoReader: hasNoReader).read(loader)
        if TestProcess.checksLoads { checkLoad(request) }
        return payload
    }

    /// Loads an async key.
    func loadAsync(
        _ request: Request, _ loader: @escaping @Sendable (Container) async throws -> Payload
    ) async throws -> Payload {
        let payload = try await reading(request).readAsync(loader)
        if TestProcess.checksLoads { checkLoad(request) }
        return payload
    }

    /// Checks a read again after the load, which knows what else it has read.
    @inline(never) private func checkLoad(_ request: borrowing Request) {
        if case .beside(let current, let container) = role { current.checkReading(of: request.key, in: container) }
        tell(.read, request.key, at: request.readPlace)
    }

    /// Returns a reading of a key, as the role requires.
    private func reading(_ request: Request, hasNoReader: Bool = false) -> Reading {
        var (node, asker, recorder) = (asked, self, Frame?.none)
        switch role {
        case .owner, .view: break
        case .handle(let load): if load.isFinished { node = load.homeNode } else { recorder = load }
        case .draft(_, let container): asker = container
        case .rule: node = asked.parent!
        case .tracked(_, let container), .beside(_, let container):
            return container.reading(request, hasNoReader: hasNoReader)
        }
        return Reading(request, in: node, for: asker, recorder, hasNoReader: hasNoReader)
    }

    // MARK: Writing

    /// Sets, replaces, or resets a key, when no `modify` of it is in progress here.
    func change(_ key: TypedKey, _ operation: Operation) {
        tell(.changed, key.key)
        switch role {
        case .owner, .view: asked.family.commit(Write(asked, key, operation))
        case .handle(let load):
            checkMayChange(key.key)
            let node = load.homeNode
            node.family.commit(Write(node, key, operation))
        case .draft(let draft, _):
            let write = Write(asked, key, operation)
            if !draft.add(write) { asked.family.commit(write) }
        case .rule(let draft, _):
            let operation: Operation = if case .set(let payload) = operation { .rule(payload) } else { .rule(nil) }
            if !draft.add(Write(asked, key, operation)) {
                asked.family.reports.report(Messages.changeAfterRule(of: key.key))
            }
        case .tracked(_, let container), .beside(_, let container): container.change(key, operation)
        }
    }

    /// Stops the program if this is the handle of a running load, through which nothing may be changed.
    func checkMayChange(_ key: Key?) {
        tell(.changed, key)
        if case .handle(let load) = role, !load.isFinished { stopProgram(Messages.writeInLoad(of: load.key!, key)) }
    }

    /// Registers a closer with the load, or else with the container.
    func add(_ closer: Closer) {
        if case .handle(let load) = role, load.add(closer) { return }
        tell(.changed)
        let node = node
        #if DEBUG
        // What a kept handle belongs to registers its own.
        if case .owner = role, let load = Frame.current, load.kind == .load, load.family === node.family,
            load.node!.isWithin(node)
        {
            node.family.reports.report(Messages.closerBesideLoad(load.key!))
        }
        #endif
        let life = node.family.lock.withLock { token in
            if node.isEnded(token) { return Life.ended }
            let rare = node.storage[token].more()
            rare.closers.append(closer)
            return rare.closing == nil ? node.storage[token].life : .open
        }
        if life == .ended { node.family.reports.report(Messages.changeAfterEnd(.closer)) }
        if life == .closed { node.family.reports.report(Messages.closerAfterClosing) }
    }
}

extension Container {
    /// Reports, as a read does, that the instance is outdated that somebody receives without a read.
    package func checkReceived(_ key: Key) { if TestProcess.checksLoads { node.tellOutdated(key) } }
}

extension Node {
    fileprivate func present(_ key: Key, for recorder: Frame?) -> Payload? {
        var mustReport = false
        let payload = family.lock.withLock { token in
            read(token, key, for: recorder ?? ownRecorder(token, for: { Frame.current }), &mustReport)
        }
        if mustReport { tellOutdated(key) }
        if payload == nil, TestProcess.isTesting, putBack(key) { return present(key, for: recorder) }
        return payload
    }

    /// Puts back a value of which a test awaits the first read, and returns whether there was one.
    @inline(never)
    func putBack(_ key: Key) -> Bool {
        var effects = Effects()
        let onRead = family.lock.withLock { token -> (@Sendable () -> Void)? in
            guard case .missing(let limit?) = look(token, key),
                let place = limit.use({ $0.storage.existingCell(token, key.known(at: $0.depth))?.place }),
                let rare = place[token].rare, let (value, onRead) = rare.replacement.value?.awaited
            else { return nil }
            let cell = place[token].cell
            effects.garbage.add(cell.store(value, flags: CellFlags.held, at: cell.time))
            rare.replacement.set(nil, &effects.garbage)
            effects.announce(token, place, .loaded)
            return onRead
        }
        effects.perform()
        onRead?()
        return onRead != nil
    }

    /// Reports that an instance was loaded before one of its inputs was set, and lets readers skip the lock again.
    @inline(never)
    fileprivate func tellOutdated(_ key: Key) {
        let report = family.lock.withLock { token -> String? in
            guard case .found(let cell, let owner) = look(token, key), let rare = cell.place?[token].rare else {
                return nil
            }
            if cell.has(CellFlags.fast) {
                return rare.rest.flatMap { reportRest(token, $0, of: key, from: owner.depth) }
            }
            guard let change = rare.outdatedBy.take() else { return nil }
            cell.openIfPresent()
            // A test fails each time; a program that means it isn't told again.
            if storage[token].strictness == nil, !family.state[token].isNew(change.key, key) { return nil }
            var way = family.way(token, from: key) { $0 == change.key }
            if way.last != change.key { way.append(change.key) }
            let isReplaced = way.dropLast().contains { key in
                key.decorated != nil || path.contains { $0.holds(token, key.known(at: $0.depth)) }
            }
            return Messages.outdated(way, by: change.words, isPart: !cell.has(CellFlags.loaded), isReplaced: isReplaced)
        }
        if let report { family.reports.report(report) }
    }

    /// Returns the report that what was made for a part that was set at `depth` has an input that a node below overrides, if it's the
    /// first one there.
    private func reportRest(_ token: LockToken, _ rest: Provenance, of key: Key, from depth: Int) -> String? {
        path.firstResult { node in
            if node.depth <= depth { return .some(nil) }
            let input = rest.keys.first { node.holds(token, $0) }
            return input.map { node.storage[token].more().isNew(key, $0) ? Messages.restOverridden(key, $0) : nil }
        } ?? nil
    }
}

#if DEBUG
extension Frame {
    /// Reports a read through a kept handle, if the current container overrides the key below the instance's home.
    fileprivate func reportLateRead(of key: Key) {
        let (home, caller) = (homeNode, Container.current.node)
        guard caller !== home, caller.isWithin(home) else { return }
        let isOther = family.lock.withLock { token in
            let isOverridden = caller.path.prefix { $0 !== home }.contains { $0.holds(token, key) }
            return isOverridden && caller.storage[token].more().isNew(self.key!, key)
        }
        if isOther { family.reports.report(Messages.lateRead(of: key, by: self.key!)) }
    }
}
#endif
