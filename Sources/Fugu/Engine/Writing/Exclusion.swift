import Synchronization

/// A `modify` under way: other writes of its key in its node wait for its end.
final class Exclusion: CallFrame {
    let node: Node
    private let typed: TypedKey
    let parent: (any CallFrame)? = Current.unfinished
    let nesting: Nesting
    let outermost = Current.outermost
    let waiters = FamilyLocked<[Signal]>([])
    private let finished = Atomic(false)

    init(_ key: TypedKey, in node: Node) {
        typed = key
        self.node = node
        nesting = Nesting(under: parent?.nesting)
    }

    deinit { waiters.free() }

    var family: Family { node.family }
    var modified: Key { typed.key }
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
    private func end(_ token: LockToken, _ effects: inout Effects) {
        finished.store(true, ordering: .sequentiallyConsistent)
        node.storage.existingCell(token, modified)?.state?[token].exclusion = nil
        effects.waiters += waiters[token].map { .thread($0) }
        waiters[token] = []
    }
}

extension Exclusion {
    /// Changes the value by what `body` makes of it, with no other write of the key in this node meanwhile.
    func run<E: Error>(read: () -> Payload, _ body: (Payload) throws(E) -> Payload) throws(E) {
        begin()
        let old = Current.run(self) { () -> Payload in read() }
        let result = Current.run(self) { () -> Result<Payload, E> in
            do throws(E) { return .success(try body(old)) } catch { return .failure(error) }
        }
        end(with: try? result.get())
        Deferred.deliver(after: self)
        _ = try result.get()
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
    private func begin() {
        var tries = 0
        while true {
            tries += 1
            let obstacle: Write.Obstacle? = family.lock.withLock { token in
                let cell = node.storage.cell(token, modified)
                let cellState = cell.makeState()
                if let other = cellState[token].exclusion {
                    // The other one is usually done within a moment.
                    return tries < Self.patience && parent == nil ? .ended : other.waitForEnd(token, parent)
                }
                cell.mark(CellFlags.special)
                cellState[token].exclusion = self
                return nil
            }
            switch obstacle {
            case nil: return
            case .wait(let other, let signal): other.wait(signal, parent)
            case .circle: fatalError(Messages.circleOfWaits(modified, parent))
            default: yieldThread()
            }
        }
    }

    /// Lets the next in, after publishing what the body made, if it did not throw.
    ///
    /// Whether that is a change is asked of a snapshot, and asked again if the value moves meanwhile, as an inherited
    /// one may.
    private func end(with new: Payload?) {
        guard let new else { return end() }
        let write = Write(node, typed, .set(new))
        var comparison: Write.Comparison?
        while true {
            var effects = Effects(until: outermost)
            let concern: (Payload, Stamp)? = family.lock.withLock { token in
                let cell = node.storage.existingCell(token, modified)
                if let (old, stamp) = write.concern(token, cell), stamp != comparison?.stamp { return (old, stamp) }
                end(token, &effects)
                if !node.isEnded(token) { write.apply(token, comparison, endOf: self, &effects) }
                return nil
            }
            guard let (old, stamp) = concern else { return effects.perform() }
            comparison = Write.Comparison(isEqual: Current.run(self) { typed.equal(old, new) }, stamp: stamp)
        }
    }

    private func end() {
        var effects = Effects()
        family.lock.withLock { token in end(token, &effects) }
        effects.perform()
    }
}
