@testable import Fugu
import Support

extension Container {
    /// How many scopes this container and its family still know of.
    var scopesInMemory: Int {
        let node = node
        return node.family.lock.withLock { token in
            node.subtree(token).reduce(0) { $0 + ($1.storage[token].rare?.scopes.count ?? 0) }
        }
    }

    /// Returns when `count` threads wait for the rules of this container's scopes.
    func awaitScopeReaders(_ count: Int) {
        let node = node
        awaitState {
            node.family.lock.withLock { token in
                node.subtree(token).contains { scope in
                    (scope.storage[token].rare?.scope?.run?.state[token].waiters.count ?? 0) >= count
                }
            }
        }
    }
}
