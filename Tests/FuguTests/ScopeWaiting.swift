@testable import Fugu

extension Container {
    /// How many scopes this container and its family still know of.
    var scopesInMemory: Int {
        let node = node
        return node.family.lock.withLock { token in
            node.subtree(token).reduce(0) { $0 + ($1.storage[token].rare?.scopes.count ?? 0) }
        }
    }
}
