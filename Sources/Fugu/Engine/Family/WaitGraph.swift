/// Who waits for whom, of all families: loads of one may need another's.
enum WaitGraph {
    private struct Wait {
        let waiter: any CallFrame
        /// How often: tasks started by one load may wait for the same.
        var count = 1
    }

    /// Under each frame, those that wait for it.
    private static let waits = Locked<[ObjectIdentifier: [ObjectIdentifier: Wait]]>([:])

    /// Records that `waiter` is about to wait for `target`, unless that would close a circle of waits.
    ///
    /// - Returns: The circle: each needs the next, and the last, `waiter`, the first, `target`.
    static func add(_ waiter: (any CallFrame)?, waitingFor target: any CallFrame) -> [any CallFrame]? {
        guard let waiter else { return nil }
        return waits.withLock { waits in
            var open: [any CallFrame] = [waiter]
            /// What each needs.
            var needs: [ObjectIdentifier: any CallFrame] = [:]
            func add(_ frame: any CallFrame, needing next: any CallFrame) {
                guard frame !== waiter, needs[ObjectIdentifier(frame)] == nil else { return }
                needs[ObjectIdentifier(frame)] = next
                open.append(frame)
            }
            while let next = open.popLast() {
                if next === target { return circle(from: next, needs) }
                if let parent = next.parent, !parent.isFinished { add(parent, needing: next) }
                for wait in (waits[ObjectIdentifier(next)] ?? [:]).values { add(wait.waiter, needing: next) }
            }
            let (target, id) = (ObjectIdentifier(target), ObjectIdentifier(waiter))
            let isKnown: Void? = waits[target]?[id]?.count += 1
            if isKnown == nil { waits[target, default: [:]][id] = Wait(waiter: waiter) }
            return nil
        }
    }

    private static func circle(
        from first: any CallFrame, _ needs: [ObjectIdentifier: any CallFrame]
    ) -> [any CallFrame] {
        var circle = [first]
        while let next = needs[ObjectIdentifier(circle[circle.count - 1])] { circle.append(next) }
        return circle
    }

    static func remove(_ waiter: (any CallFrame)?, waitingFor target: any CallFrame) {
        guard let waiter else { return }
        // Released outside the lock.
        let removed: Wait? = waits.withLock { waits in
            let (target, id) = (ObjectIdentifier(target), ObjectIdentifier(waiter))
            waits[target]?[id]?.count -= 1
            guard waits[target]?[id]?.count == 0 else { return nil }
            defer { if waits[target]?.isEmpty == true { waits[target] = nil } }
            return waits[target]?.removeValue(forKey: id)
        }
        withExtendedLifetime(removed) {}
    }
}
