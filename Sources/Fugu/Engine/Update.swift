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

/// An update, or a run of rules: writes through its handle are collected.
struct Draft: Sendable {
    let work: Work
    /// The writes of the work, and of the nested updates in progress, or none once they're published.
    private let pending: FamilyLocked<[PendingWrites]>
    /// Whether the writes are those of rules, which are for the scope.
    var isOfRules: Bool { if case .rules = work.role { true } else { false } }

    private var family: Family { work.family }

    /// Begins to collect writes.
    init(_ role: (FamilyLocked<[PendingWrites]>) -> Work.Role, in family: Family) {
        pending = FamilyLocked([PendingWrites()])
        work = Work(role(pending), in: family, under: Work.current, within: Work.own)
    }

    /// The update in progress in the family that this code is part of, if there's one.
    ///
    /// Code in a task or thread that an update has started isn't part of it, and neither is code that runs while it publishes.
    fileprivate static func current(in family: Family) -> Draft? {
        guard let own = Work.own else { return nil }
        for work in own.chain.prefix(while: { $0.outermost == own.outermost }) where work.family === family {
            guard case .update(let pending) = work.role else { continue }
            let draft = Draft(work, pending)
            return family.lock.withLock { token in pending[token].isEmpty } ? nil : draft
        }
        return nil
    }

    private init(_ update: Work, _ pending: FamilyLocked<[PendingWrites]>) {
        (work, self.pending) = (update, pending)
    }

    /// Returns the value that the update, or an earlier rule, sets for what's seen here, if there's one.
    ///
    /// - `node`: The node of the handle, which may be that of an update in this one.
    func value(_ key: Key, in node: Node) -> Payload? {
        family.lock.withLock { token in
            let pending = pending[token]
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

    /// Adds a pending write, and returns whether writes are still collected.
    func add(_ write: Write) -> Bool {
        var garbage = Garbage()
        let isAdded = family.lock.withLock { token in
            let last = pending[token].count - 1
            if last < 0 { return false }
            pending[token][last].add(write, &garbage)
            return true
        }
        garbage.dispose()
        return isAdded
    }

    /// Collects the writes of a nested update.
    fileprivate func nest() { family.lock.withLock { token in pending[token].append(PendingWrites()) } }

    /// Removes and returns the writes of the innermost update; later writes are done at once if there's none.
    func take() -> [Write] { family.lock.withLock { token in pending[token].popLast() }?.all ?? [] }
}

// MARK: update

extension Container {
    /// Runs `body` with a handle whose writes are published together at its end, or not at all if it throws.
    ///
    /// If it runs in an update in progress, they become part of that one.
    func runUpdate<E: Error>(_ body: (any FeatureContainer) throws(E) -> Void) throws(E) {
        let (node, outer) = (node, Draft.current(in: node.family))
        outer?.nest()
        let draft = outer ?? Draft({ .update($0) }, in: node.family)
        let view = Container(.draft(draft, owner ?? self), asking: node)
        let result = Context.run(nil, draft.work) { () -> Result<Void, E> in
            do throws(E) { return .success(try body(view)) } catch { return .failure(error) }
        }
        let writes = draft.take()
        if case .success = result {
            if outer == nil {
                // Commit inside the update, so that observers are called at its end.
                _ = Context.run(nil, draft.work) { node.family.commit(writes) }
            } else {
                for write in writes { _ = draft.add(write) }
            }
        }
        if outer == nil { draft.work.end() }
        try result.get()
    }
}
