public import Observation

/// A container that tracks its reads, for SwiftUI and `withObservationTracking`.
///
/// Reading a key tracks only that key. A first load isn't a change. Get one from ``Container/observable``, and bind to
/// its members where a view changes them:
///
/// ```swift
/// @Bindable var settings = container.observable
/// Stepper("Timeout", value: $settings.timeout)
/// ```
@dynamicMemberLookup
public final class ObservableContainer: FeatureContainer, Observable {
    /// Registers an access before a read.
    ///
    /// Don't use it directly.
    public let _container: Container

    init(_ container: Container, _ tracker: Tracker) {
        _container = Container(view: TrackingView(container, tracker))
    }

    /// The storage that inlined reads use.
    ///
    /// Don't use it directly.
    public var _storage: StorageReference { StorageReference.empty }
}

extension Container {
    /// This container with tracked reads.
    ///
    /// The object is the same each time, as long as someone holds it. It keeps the container alive.
    public var observable: ObservableContainer {
        let node = backend.node
        let tracker = node.family.lock.withLock { token in
            let rare = node.storage[token].more()
            if let tracker = rare[token].tracker { return tracker }
            let tracker = Tracker()
            rare[token].tracker = tracker
            return tracker
        }
        // A view of the container gets an observable object of its own.
        return backend is Node ? tracker.observable(of: self) : ObservableContainer(self, tracker)
    }
}

/// Passes the changes of a node on to the Observation framework.
///
/// Each node creates one when it's first needed.
final class Tracker: Observable, Sendable {
    private let registrar = ObservationRegistrar()
    private let tracked = Locked<Set<Key>>([])
    private let given = Locked(Given())

    /// The node owns the tracker, so the tracker must not keep the container alive.
    private struct Given: Sendable {
        weak var observable: ObservableContainer?
    }

    /// Represents a key in the key paths that the Observation framework compares.
    fileprivate subscript(key: Key) -> Bool { true }

    /// Returns the only observable object of the container.
    fileprivate func observable(of container: Container) -> ObservableContainer {
        if let known = given.withLock({ $0.observable }) { return known }
        let made = ObservableContainer(container, self)
        return given.withLock { given in
            if let known = given.observable { return known }
            given.observable = made
            return made
        }
    }

    /// Registers an access of `key` before the key is read.
    func access(_ key: Key, in container: Container) {
        if tracked.withLock({ $0.insert(key).inserted }) {
            let node = container.backend.node
            let observer = Observer(node, key, skipsLoads: true) { [weak self] _ in
                self?.registrar.withMutation(of: self!, keyPath: \.[key]) {}
            }
            node.family.observe(observer, in: container.backend.owner ?? container, nil)
        }
        registrar.access(self, keyPath: \.[key])
    }
}

/// A view that registers every access before it reads.
private final class TrackingView: Backend {
    private let container: Container
    private let tracker: Tracker
    private var backend: any Backend { container.backend }

    init(_ container: Container, _ tracker: Tracker) {
        self.container = container
        self.tracker = tracker
    }

    var node: Node { backend.node }
    var recorder: Load? { backend.recorder }
    var owner: Container? { container }

    func read(_ request: Request, _: Container, _ load: (Container) throws -> Payload) throws -> Payload {
        tracker.access(request.key, in: container)
        return try backend.read(request, container, load)
    }

    func readAsync(
        _ request: Request, _: Container, _ load: @escaping @Sendable (Container) async throws -> Payload
    ) async throws -> Payload {
        tracker.access(request.key, in: container)
        return try await backend.readAsync(request, container, load)
    }

    func change(_ key: TypedKey, _ operation: Operation) { backend.change(key, operation) }
    func present(_ key: Key) -> Payload? { backend.present(key) }
    func onClose(_ closer: Closer) { backend.onClose(closer) }
}
