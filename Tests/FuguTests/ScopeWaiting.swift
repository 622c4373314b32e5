@testable import Fugu
import Support

extension Container {
    /// How many scopes this container and its family still know of.
    var scopesInMemory: Int {
        let node = backend.node
        return node.family.lock.withLock { token in
            max(node.storage[token].rare?[token].scopes.scopes.count ?? 0, node.family.state[token].layers.count)
        }
    }

    /// Returns when `count` threads wait for the rules of this scope.
    func awaitScopeReaders(_ count: Int) {
        let layer = backend.node.parent!
        awaitState {
            layer.family.lock.withLock { token in
                (layer.storage[token].rare?[token].scopes.layer?.computation?.waiters[token].count ?? 0) >= count
            }
        }
    }
}
