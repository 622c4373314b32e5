import Synchronization

/// A `modify` under way: other writes of its key in its node wait for its end.
final class Exclusion: Activity {
    let node: Node
    let modified: Key
    let parent: (any Activity)?
    let standing: Standing
    let waiters = FamilyState<[Signal]>([])
    private let finished = Atomic(false)

    init(_ key: Key, in node: Node, parent: (any Activity)?) {
        modified = key
        self.node = node
        self.parent = parent
        standing = Standing(under: parent?.standing)
    }

    deinit { waiters.free() }

    var family: Family { node.family }
    var key: Key? { modified }
    var isFinished: Bool { finished.load(ordering: .sequentiallyConsistent) }

    /// Under the lock: how to wait for the end, or that it would never come.
    func waitForEnd(_ waiter: (any Activity)?) -> Write.Obstacle {
        guard WaitGraph.add(waiter, waitingFor: self) else { return .circle(self) }
        let signal = Signal()
        waiters.value.append(signal)
        return .wait(self, signal)
    }

    func wait(_ signal: Signal, _ waiter: (any Activity)?) {
        signal.wait()
        WaitGraph.remove(waiter, waitingFor: self)
    }

    /// Under the lock: lets the next in.
    func end(_ effects: inout Effects) {
        finished.store(true, ordering: .sequentiallyConsistent)
        node.storage.existingCell(modified)?.info?.value.exclusion = nil
        effects.waiters += waiters.value.map { .thread($0) }
        waiters.value = []
    }
}

extension Node {
    /// Changes a value by what `body` makes of it, with no other write of the key in this node meanwhile.
    func modify<E: Error>(
        _ typed: TypedKey, read: () -> Payload, _ body: (Payload) throws(E) -> Payload
    ) throws(E) {
        let exclusion = begin(typed)
        let result: Result<Payload, E>
        let old = Current.$activity.withValue(exclusion) { () -> Payload in read() }
        do throws(E) {
            result = .success(try runInside(exclusion, old, body))
        } catch {
            result = .failure(error)
        }
        let new = try? result.get()
        if let new { forgetEvents(of: typed.key, of: exclusion, replacedBy: new, typed.equal) }
        end(exclusion, typed, with: new)
        Deferred.deliver(after: exclusion)
        _ = try result.get()
    }

    private func runInside<E: Error>(
        _ exclusion: Exclusion, _ old: Payload, _ body: (Payload) throws(E) -> Payload
    ) throws(E) -> Payload {
        var result: Result<Payload, E>?
        Current.$activity.withValue(exclusion) {
            do throws(E) { result = .success(try body(old)) } catch { result = .failure(error) }
        }
        return try result!.get()
    }

    /// Lets the next in, after publishing what the body made, if it did not throw. Whether that is a change is asked of a
    /// snapshot, and asked again if the value moves meanwhile, as an inherited one may.
    private func end(_ exclusion: Exclusion, _ typed: TypedKey, with new: Payload?) {
        let holder = exclusion.parent
        var comparison: (isEqual: Bool, stamp: UInt32)?
        while true {
            var effects = Effects()
            let concern: (Payload, UInt32)? = family.lock.withLock {
                if new != nil, let (old, stamp) = concerningValue(typed.key), stamp != comparison?.stamp {
                    return (old, stamp)
                }
                exclusion.end(&effects)
                if let new, !isEnded {
                    let isSilent = comparison?.isEqual == true
                    apply(.set(new), to: typed.key, isSilent: isSilent, holder: holder, &effects)
                }
                return nil
            }
            guard let (old, stamp) = concern, let new else { return effects.perform(in: family) }
            let isEqual = Current.$activity.withValue(exclusion) { typed.equal(old, new) }
            comparison = (isEqual, stamp)
        }
    }

    /// Becomes the only one to write the key here.
    private func begin(_ typed: TypedKey) -> Exclusion {
        let parent = Current.unfinished
        let exclusion = Exclusion(typed.key, in: self, parent: parent)
        var tries = 0
        while true {
            tries += 1
            let obstacle: Write.Obstacle? = family.lock.withLock {
                let cell = storage.cell(typed.key)
                let info = cell.makeInfo()
                if let other = info.value.exclusion {
                    // The other one is usually done within a moment.
                    return tries < 20 && parent == nil ? .ended : other.waitForEnd(parent)
                }
                cell.mark(CellState.special)
                info.value.exclusion = exclusion
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
