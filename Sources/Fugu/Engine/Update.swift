// Changes that are made together, and changes that exclude others.

/// Pending writes: the last one for each key and container, in the order of the first ones.
struct PendingWrites {
    private struct Target: Hashable {
        let node: UnmanagedReference<Node>
        let key: Key
    }
    private(set) var all: [Write] = []
    private var targets: [Target: Int] = [:]
    /// The writes that later ones replaced, with their indices, as long as a nested update may be undone.
    private var journal: [(index: Int, replaced: Write?)] = []
    private var joined = 0

    // The writes keep the nodes, so the targets don't have to.
    subscript(key: Key, node: Node) -> Write? {
        targets.isEmpty ? nil : targets[Target(node: UnmanagedReference(node), key: key)].map { all[$0] }
    }

    /// Adds a write, and moves the one that it replaces into the garbage.
    mutating func add(_ token: LockToken, _ write: Write, _ garbage: inout Garbage) {
        let target = Target(node: UnmanagedReference(write.node), key: write.key)
        if let index = targets[target] {
            if joined > 0 { journal.append((index, all[index])) }
            all[index].drop(token, &garbage)
            all[index] = write
            return
        }
        if joined > 0 { journal.append((all.count, nil)) }
        targets[target] = all.count
        all.append(write)
    }

    /// Begins a nested update, and returns the position in the journal to which an undo goes back.
    mutating func beginNested() -> Int {
        joined += 1
        return journal.count
    }

    /// Ends a nested update, and moves the writes that were undone or that no undo needs anymore into the garbage.
    mutating func endNested(_ token: LockToken, _ start: Int, isTakenBack: Bool, _ garbage: inout Garbage) {
        joined -= 1
        while isTakenBack, journal.count > start, let (index, replaced) = journal.popLast() {
            all[index].drop(token, &garbage)
            if let replaced {
                all[index] = replaced
            } else {
                let last = all.removeLast()
                targets[Target(node: UnmanagedReference(last.node), key: last.key)] = nil
            }
        }
        guard joined == 0 else { return }
        for (_, replaced) in journal { replaced?.drop(token, &garbage) }
        journal = []
    }
}

/// An instance that an update loaded in place of the one that it resets or replaces.
final class DraftInstance: Sendable {
    let payload: Payload
    let provenance: Provenance
    let lifetime: Lifetime?
    /// The time at which the load ended.
    let time: UInt64

    init(_ payload: Payload, _ provenance: Provenance, _ lifetime: Lifetime?, at time: UInt64) {
        self.payload = payload
        self.provenance = provenance
        self.lifetime = lifetime
        self.time = time
    }

    /// Whether the instance reloads, and a direct input has changed since its load.
    func isOutdated(_ token: LockToken, in node: Node) -> Bool {
        provenance.reloads
            && provenance.direct.contains { key in
                guard case .found(let cell, _) = node.look(token, key) else { return true }
                return cell.time > time
            }
    }

    /// Discards the instance.
    ///
    /// Release the result outside the lock.
    func discard(_ token: LockToken) -> AnyObject? {
        lifetime?.leave(token)
        return lifetime
    }
}

/// The state behind the handle of an update, or of a rule.
struct Draft: Sendable {
    let frame: Frame
    let node: Node
    /// The container that children made from the handle belong to.
    let container: Container
}

extension Frame {
    /// Returns the pending write of a key in a node, if there's one.
    func pendingWrite(_ token: LockToken, of key: Key, in node: Node) -> Write? {
        state[token].rare?.pending?[key, node]
    }

    /// Adds a pending write, and returns whether the frame still collects writes.
    func add(_ write: Write) -> Bool {
        var garbage = Garbage()
        let isAdded = family.lock.withLock { token in
            guard !isFinished, let rare = state[token].rare, rare.pending != nil else { return false }
            rare.pending!.add(token, write, &garbage)
            return true
        }
        garbage.dispose()
        return isAdded
    }

    /// Keeps an instance that was loaded through the handle until the update ends.
    func keep(
        _ token: LockToken, _ made: DraftInstance, of key: Key, in node: Node, _ effects: inout Effects
    ) {
        guard var write = pendingWrite(token, of: key, in: node), write.made == nil else {
            return effects.garbage.add(made.discard(token))
        }
        write.made = made
        state[token].rare?.pending?.add(token, write, &effects.garbage)
    }

    /// Removes and returns the pending writes, and stops collecting: later writes are done at once.
    func takeWrites() -> [Write] {
        family.lock.withLock { token in state[token].rare?.pending.take() }?.all ?? []
    }

    /// Discards the pending writes, and the instances loaded for them.
    fileprivate func discardWrites() {
        let writes = takeWrites()
        family.lock.withLock { token in for write in writes { _ = write.made?.discard(token) } }
    }

    /// Starts collecting writes.
    func collectWrites() {
        family.lock.withLock { token in
            let rare = state[token].more()
            rare.pending = PendingWrites()
            rare.begun = family.state[token].now
        }
    }
}

// MARK: update

extension Container {
    /// Runs `body` with a handle whose writes are published together at its end, or not at all if it throws.
    func runUpdate<E: Error>(_ body: (any FeatureContainer) throws(E) -> Void) throws(E) {
        let (node, own) = (node, Frame.own)
        // An update that runs in a task or thread started inside another one isn't part of that one.
        let ownChain = own.map { own in own.chain.prefix { $0.outermost == own.outermost } } ?? []
        // Code that runs while an update publishes isn't part of it.
        if let outer = ownChain.first(where: { $0.kind == .update && $0.family === node.family }),
            node.family.lock.withLock({ token in outer.state[token].rare?.pending != nil })
        {
            return try runNested(in: outer, node, body)
        }
        let update = Frame(.update, in: node.family, node, under: Frame.current, within: own)
        update.collectWrites()
        let result = run(update, node, body)
        if case .success = result {
            // Commit inside the frame, so that observers are called at its end.
            _ = Context.run(nil, update) { node.family.commit(update.takeWrites(), endOf: update) }
        } else {
            update.discardWrites()
        }
        update.end()
        try result.get()
    }

    /// Runs `body` as part of an update in progress, and undoes the writes of `body` if it throws.
    private func runNested<E: Error>(
        in update: Frame, _ node: Node, _ body: (any FeatureContainer) throws(E) -> Void
    ) throws(E) {
        let family = node.family
        let start = family.lock.withLock { token in update.state[token].rare?.pending?.beginNested() ?? 0 }
        let result = run(update, node, body)
        let isTakenBack = if case .failure = result { true } else { false }
        var garbage = Garbage()
        family.lock.withLock { token in
            update.state[token].rare?.pending?.endNested(token, start, isTakenBack: isTakenBack, &garbage)
        }
        garbage.dispose()
        try result.get()
    }

    private func run<E: Error>(
        _ update: Frame, _ node: Node, _ body: (any FeatureContainer) throws(E) -> Void
    ) -> Result<Void, E> {
        let view = Container(draft: Draft(frame: update, node: node, container: owner ?? self))
        return Context.run(nil, update) {
            do throws(E) { return .success(try body(view)) } catch { return .failure(error) }
        }
    }
}

// MARK: modify

extension Container {
    /// Replaces a value with the result of `body`, excluding other writes of the key in this node meanwhile.
    func runModify<E: Error>(
        _ key: TypedKey, read: () -> Payload, _ body: (Payload) throws(E) -> Payload
    ) throws(E) {
        let (node, own) = (node, Frame.own)
        let modify = Frame(.modify, in: node.family, node, key.key, under: Frame.current, within: own)
        modify.beginExclusion()
        let result = Context.run(nil, modify) { () -> Result<Payload, E> in
            let old = read()
            do throws(E) { return .success(try body(old)) } catch { return .failure(error) }
        }
        if case .success(let payload) = result {
            // Compare the values while other writes are still excluded.
            _ = Context.run(nil, modify) {
                node.family.commit(Write(node, key, .set(payload)), endOf: modify)
            }
        } else {
            modify.endExclusion()
        }
        modify.deliver()
        _ = try result.get()
    }
}

extension Frame {
    /// The number of times that a `modify` checks whether another one has ended before it waits for it.
    private static var patience: Int {
        #if FUGU_EXPLORE
        1
        #else
        20
        #endif
    }

    /// Excludes other writes of the key in the node.
    fileprivate func beginExclusion() {
        enum Step { case done, again, wait(Wait), circle }
        var tries = 0
        while true {
            tries += 1
            let step = family.lock.withLock { token -> Step in
                let place = node!.place(token, key!)
                let rare = place[token].more()
                guard let other = rare.exclusion else {
                    rare.exclusion = self
                    state[token].more().begun = family.state[token].now
                    place.refresh(token)
                    return .done
                }
                // The other one usually ends within a moment.
                if tries < Self.patience, parent == nil { return .again }
                return other.beginWait(token, for: parent).map { .wait($0) } ?? .circle
            }
            switch step {
            case .done: return
            case .again: yieldThread()
            case .circle: fatalError(Messages.circleOfWaits(key!, parent))
            case .wait(let wait): wait.block()
            }
        }
    }

    /// Ends the exclusion, and returns the waiters to wake outside the lock.
    func endExclusion(_ token: LockToken) -> [Waiter] {
        if let place = node!.storage.existingCell(token, key!)?.place, let rare = place[token].rare,
            rare.exclusion === self
        {
            rare.exclusion = nil
            place.refresh(token)
        }
        return finish(token)
    }

    fileprivate func endExclusion() {
        for waiter in family.lock.withLock({ token in endExclusion(token) }) { waiter.wake() }
    }
}
