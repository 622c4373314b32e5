import Support

@testable import Fugu

// Tests wait for a state of the engine, never for time.
extension Container {
    /// Returns when `count` threads or tasks wait for the load of the feature in this container's family.
    ///
    /// The task that began an async load is one of them, the thread that runs a load is not.
    func awaitWaiters<F: Feature>(_ count: Int, for _: F.Type) { awaitWaiters(count, Key(raw: Key.feature(F.self))) }

    func awaitWaiters<F: ThrowingFeature>(_ count: Int, for _: F.Type) {
        awaitWaiters(count, Key(raw: Key.throwingFeature(F.self)))
    }

    func awaitWaiters<F: AsyncFeature>(_ count: Int, for _: F.Type) {
        awaitWaiters(count, Key(raw: Key.asyncFeature(F.self)))
    }

    func awaitWaiters<Value>(_ count: Int, for key: PropertyKey<Value>) { awaitWaiters(count, Key(raw: key.raw)) }

    func awaitWaiters<Instance>(_ count: Int, for key: FeatureKey<Instance>) { awaitWaiters(count, Key(raw: key.raw)) }

    private func awaitWaiters(_ count: Int, _ key: Key) { awaitState { waiterCount(for: key) >= count } }

    /// How many threads and tasks wait for loads of the key that are under way in this family.
    func waiterCount(for key: Key) -> Int {
        let family = node.family
        return family.lock.withLock { token in
            let loads = family.record(token, of: key)?.loads.all.compactMap(\.load) ?? []
            return loads.reduce(0) { $0 + ($1.state[token].rare?.waiters.count ?? 0) }
        }
    }
}
