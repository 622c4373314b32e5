import Observation

/// Passes the changes of a node on to the Observation framework.
///
/// Each node creates one when it's first needed.
final class Tracker: Observable, Sendable {
    private let registrar = ObservationRegistrar()
    private let tracked = Locked<Set<Key>>([])
    let given = Locked(Given())

    /// The node owns the tracker, so the tracker must not keep the container alive.
    struct Given: Sendable {
        weak var observable: (any FeatureContainer)?
    }

    /// Represents a key in the key paths that the Observation framework compares.
    fileprivate subscript(key: Key) -> Bool { true }

    /// What another module keeps here.
    let companion = Locked<(any AnyObject & Sendable)?>(nil)

    /// Registers an access of `key` before the key is read.
    func access(_ key: Key, in container: Container) {
        if !tracked.withLock({ $0.contains(key) }) {
            // A reader that comes meanwhile observes, too, and doesn't read before that is done.
            let observer = Observer(key, skipsLoads: true) { [weak self] _ in
                guard let self else { return }
                registrar.withMutation(of: self, keyPath: \.[key]) {}
            }
            container.add(observer, key.definition)
            if !tracked.withLock({ $0.insert(key).inserted }) { observer.cancel() }
        }
        registrar.access(self, keyPath: \.[key])
    }
}
