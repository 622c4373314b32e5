@testable import Fugu
import Support

extension Container {
    /// How many scopes this container and its family still know of.
    var scopesInMemory: Int {
        let node = backend.node
        return node.family.lock.withLock {
            max(node.storage.state.scopes?.scopes.count ?? 0, node.family.layers.count)
        }
    }

    /// Returns when `count` threads wait for the rules of this scope.
    func awaitScopeReaders(_ count: Int) {
        let layer = backend.node.parent!
        awaitState {
            layer.family.lock.withLock {
                (layer.storage.state.scopes?.layer?.computation?.waiters.value.count ?? 0) >= count
            }
        }
    }
}
