// Changes that are made together.

/// Pending writes: the last one for each key and container, in the order of the first ones.
struct PendingWrites {
    private(set) var all: [Write] = []
    private var targets: [KeyOfObject: Int] = [:]

    // The writes keep the nodes, so the targets don't have to.
    subscript(key: Key, node: Node) -> Write? {
        targets.isEmpty ? nil : targets[KeyOfObject(key: key, object: ObjectIdentifier(node))].map { all[$0] }
    }

    /// Adds a write, and moves the one that it replaces into the garbage.
    mutating func add(_ write: Write, _ garbage: inout Garbage) {
        let target = KeyOfObject(key: write.key, object: ObjectIdentifier(write.node))
        guard let index = targets[target] else {
            targets[target] = all.count
            all.append(write)
            return
        }
        garbage.add(Retained(all[index]))
        all[index] = write
    }
}

extension Frame {
    /// Returns the value that the update, or an earlier rule, sets for what's seen here, if there's one.
    ///
    /// - `node`: The node of the handle, which may be that of an update in this one.
    func pending(_ key: Key, in node: Node) -> Payload? {
        family.lock.withLock { token in
            let pending = state[token].rare?.pending ?? []
            if pending.isEmpty { return nil }
            // What's published below a container hides what's set there.
            let depth =
                switch node.look(token, key) {
                case .found(_, let owner), .missing(let owner?): owner.depth
                case .missing(nil): 0
                }
            let write = node.path.firstResult { node -> Write? in
                node.depth < depth ? nil : pending.reversed().lazy.compactMap { $0[key, node] }.first
            }
            return write?.setting.value
        }
    }

    /// Adds a pending write, and returns whether the frame still collects writes.
    func add(_ write: Write) -> Bool {
        var garbage = Garbage()
        let isAdded = family.lock.withLock { token in
            guard !isFinished, let rare = state[token].rare, !rare.pending.isEmpty else { return false }
            rare.pending[rare.pending.count - 1].add(write, &garbage)
            return true
        }
        garbage.dispose()
        return isAdded
    }

    /// Collects writes from now on, separately from those that are collected already.
    func collectWrites() {
        family.lock.withLock { token in
            let rare = state[token].more()
            rare.pending.append(PendingWrites())
        }
    }

    /// Adds the writes that were collected since the last call of `collectWrites` to those before.
    fileprivate func mergeWrites() {
        var garbage = Garbage()
        family.lock.withLock { token in
            guard let rare = state[token].rare, let writes = rare.pending.popLast() else { return }
            for write in writes.all { rare.pending[rare.pending.count - 1].add(write, &garbage) }
        }
        garbage.dispose()
    }

    /// Removes and returns the writes that were collected since the last call of `collectWrites`.
    ///
    /// If that was the first one, later writes are done at once.
    func takeWrites() -> [Write] {
        family.lock.withLock { token in state[token].rare?.pending.popLast() }?.all ?? []
    }
}

// MARK: update

extension Container {
    /// Runs `body` with a handle whose writes are published together at its end, or not at all if it throws.
    ///
    /// If it runs in an update in progress, they become part of that one.
    func runUpdate<E: Error>(_ body: (any FeatureContainer) throws(E) -> Void) throws(E) {
        let (node, own) = (node, Frame.own)
        // An update that runs in a task or thread started inside another one isn't part of that one.
        let ownChain = own.map { own in own.chain.prefix { $0.outermost == own.outermost } } ?? []
        // Code that runs while an update publishes isn't part of it.
        let outer = ownChain.first { $0.kind == .update && $0.family === node.family }.flatMap { outer in
            node.family.lock.withLock { token in outer.state[token].rare?.pending.isEmpty == false } ? outer : nil
        }
        let update = outer ?? Frame(.update, in: node.family, node, under: Frame.current, within: own)
        update.collectWrites()
        let view = Container(.draft(update, owner ?? self), asking: node)
        let result = Context.run(nil, update) { () -> Result<Void, E> in
            do throws(E) { return .success(try body(view)) } catch { return .failure(error) }
        }
        if case .failure = result {
            withExtendedLifetime(update.takeWrites()) {}
        } else if outer != nil {
            update.mergeWrites()
        } else {
            // Commit inside the frame, so that observers are called at its end.
            _ = Context.run(nil, update) { node.family.commit(update.takeWrites()) }
        }
        if outer == nil { update.end() }
        try result.get()
    }
}
