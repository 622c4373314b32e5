import Support

@testable import Fugu

// The internals that storms need: which load others wait for, and whether a container closes.
extension Container {
    /// Returns when `count` threads wait for the load of the feature in this container's family.
    func awaitWaiters<F: Feature>(_ count: Int, for _: F.Type) {
        awaitState { waiters(of: Key(raw: Key.feature(F.self))) >= count }
    }

    /// Returns when `count` tasks wait for loads of the feature that are under way in this family.
    func untilWaiting<F: AsyncFeature>(for _: F.Type, _ count: Int) async {
        while waiters(of: Key(raw: Key.asyncFeature(F.self))) < count { await Task.yield() }
    }

    private func waiters(of key: Key) -> Int {
        let family = node.family
        return family.lock.withLock { token in
            let loads = family.record(token, of: key)?.loads.all.compactMap(\.load) ?? []
            return loads.reduce(0) { $0 + ($1.state[token].rare?.waiters.count ?? 0) }
        }
    }

    /// How many loads are under way in this family.
    var loadsUnderWay: Int {
        let family = node.family
        return family.lock.withLock { token in family.loads(token).count }
    }

    /// Returns when the container, or the one it belongs to, has begun to close.
    func untilClosing() async {
        let node = node
        while node.family.lock.withLock({ token in !node.storage[token].isRefusing }) { await Task.yield() }
    }

    /// Returns the lifetime of an instance with some closers, made from another one.
    func lifetime(_ closers: [Closer], _ input: Lifetime?) -> Lifetime {
        let (node, key) = (node, Key(raw: Key.feature(Instance.self)))
        return node.family.lock.withLock { token in
            Lifetime(token, key, home: node, closers: closers, uses: input.map { [$0] } ?? [])
        }
    }
    private struct Instance: Feature { static func load(in container: any FeatureContainer) -> Int { 0 } }
}

extension FeatureContainer {
    var stage: Stage { self[StageProperty.self] }
}
