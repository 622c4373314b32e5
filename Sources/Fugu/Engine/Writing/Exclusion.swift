import Synchronization

/// A `modify` under way: other writes of its key in its node wait for its end.
final class Exclusion: CallFrame {
    let node: Node
    let modified: Key
    let parent: (any CallFrame)?
    let nesting: Nesting
    let outermost = Current.outermost
    let waiters = FamilyLocked<[Signal]>([])
    private let finished = Atomic(false)

    init(_ key: Key, in node: Node, parent: (any CallFrame)?) {
        modified = key
        self.node = node
        self.parent = parent
        nesting = Nesting(under: parent?.nesting)
    }

    deinit { waiters.free() }

    var family: Family { node.family }
    var key: Key? { modified }
    func isOf(_ node: Node) -> Bool { self.node === node }
    var isFinished: Bool { finished.load(ordering: .sequentiallyConsistent) }

    /// Returns how to wait for the end, or that it would never come.
    func waitForEnd(_ token: LockToken, _ waiter: (any CallFrame)?) -> Write.Obstacle {
        guard WaitGraph.add(waiter, waitingFor: self) == nil else { return .circle(self) }
        let signal = Signal()
        waiters[token].append(signal)
        return .wait(self, signal)
    }

    func wait(_ signal: Signal, _ waiter: (any CallFrame)?) {
        signal.wait()
        WaitGraph.remove(waiter, waitingFor: self)
    }

    /// Lets the next one in.
    func end(_ token: LockToken, _ effects: inout Effects) {
        finished.store(true, ordering: .sequentiallyConsistent)
        node.storage.existingCell(token, modified)?.state?[token].exclusion = nil
        effects.waiters += waiters[token].map { .thread($0) }
        waiters[token] = []
    }
}

extension Node {
    /// Changes a value by what `body` makes of it, with no other write of the key in this node meanwhile.
    func modify<E: Error>(
        _ typed: TypedKey, read: () -> Payload, _ body: (Payload) throws(E) -> Payload
    ) throws(E) {
        let exclusion = begin(typed)
        let result: Result<Payload, E>
        let old = Current.run(exclusion) { () -> Payload in read() }
        do throws(E) {
            result = .success(try runInside(exclusion, old, body))
        } catch {
            result = .failure(error)
        }
        end(exclusion, typed, with: try? result.get())
        Deferred.deliver(after: exclusion)
        _ = try result.get()
    }

    private func runInside<E: Error>(
        _ exclusion: Exclusion, _ old: Payload, _ body: (Payload) throws(E) -> Payload
    ) throws(E) -> Payload {
        var result: Result<Payload, E>?
        Current.run(exclusion) {
            do throws(E) { result = .success(try body(old)) } catch { result = .failure(error) }
        }
        return try result!.get()
    }

    /// Lets the next in, after publishing what the body made, if it did not throw.
    ///
    /// Whether that is a change is asked of a snapshot, and asked again if the value moves meanwhile, as an inherited
    /// one may.
    private func end(_ exclusion: Exclusion, _ typed: TypedKey, with new: Payload?) {
        let holder = exclusion.outermost
        var comparison: (isEqual: Bool, stamp: Stamp)?
        while true {
            var effects = Effects()
            let concern: (Payload, Stamp)? = family.lock.withLock { token in
                let cell = storage.existingCell(token, typed.key)
                if new != nil, let (old, stamp) = concerningValue(token, typed.key, cell), stamp != comparison?.stamp {
                    return (old, stamp)
                }
                exclusion.end(token, &effects)
                if let new, !isEnded(token) {
                    let announcement = Announcement(isSilent: comparison?.isEqual == true, transaction: exclusion)
                    apply(token, .set(new), to: typed.key, announcement, holder: holder, &effects)
                }
                return nil
            }
            guard let (old, stamp) = concern, let new else { return effects.perform() }
            let isEqual = Current.run(exclusion) { typed.equal(old, new) }
            comparison = (isEqual, stamp)
        }
    }

    /// How often a `modify` looks whether another one is done before it waits for it.
    private static var patience: Int {
        #if FUGU_EXPLORE
        1
        #else
        20
        #endif
    }

    /// Becomes the only one to write the key here.
    private func begin(_ typed: TypedKey) -> Exclusion {
        let parent = Current.unfinished
        let exclusion = Exclusion(typed.key, in: self, parent: parent)
        var tries = 0
        while true {
            tries += 1
            let obstacle: Write.Obstacle? = family.lock.withLock { token in
                let cell = storage.cell(token, typed.key)
                let cellState = cell.makeState()
                if let other = cellState[token].exclusion {
                    // The other one is usually done within a moment.
                    return tries < Self.patience && parent == nil ? .ended : other.waitForEnd(token, parent)
                }
                cell.mark(CellFlags.special)
                cellState[token].exclusion = exclusion
                return nil
            }
            switch obstacle {
            case nil: return exclusion
            case .wait(let other, let signal): other.wait(signal, parent)
            case .circle: fatalError(Messages.circleOfWaits(typed.key, parent))
            default: yieldThread()
            }
        }
    }
}
