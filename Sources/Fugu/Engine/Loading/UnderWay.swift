// What a closing waits for before it runs closers.
extension Node {
    /// A load that was asked for here, or a read that waits here for one, begins.
    ///
    /// Until its end no closing of this node, or of one above it, goes on.
    func beginUnderWay(_ token: LockToken) { storage[token].underWay += 1 }

    /// It has ended.
    ///
    /// What is returned is to be woken outside the lock.
    func endUnderWay(_ token: LockToken) -> [Waiter] {
        storage[token].underWay -= 1
        guard storage[token].underWay == 0, !family.state[token].drains.isEmpty else { return [] }
        return family.state[token].drains.removeValue(forKey: NodeIdentity(node: self))?.map { .task($0) } ?? []
    }

    /// For each of the nodes where something is under way: what tells that nothing is any more.
    static func drains(_ token: LockToken, of nodes: [Node]) -> [TaskWaiter] {
        nodes.compactMap { node in
            guard node.storage[token].underWay > 0 else { return nil }
            let waiter = TaskWaiter()
            node.family.state[token].drains[NodeIdentity(node: node), default: []].append(waiter)
            return waiter
        }
    }
}
