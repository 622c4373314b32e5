@testable import Fugu

extension Container {
    /// How many scopes this container and its family still know of.
    var scopesInMemory: Int {
        let node = backend.node
        return node.family.lock.withLock { token in
            max(node.storage[token].rare?[token].scopes.scopes.count ?? 0, node.family.state[token].layers.count)
        }
    }
}
