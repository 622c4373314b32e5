public import Observation

/// A container that tracks its reads, for SwiftUI and `withObservationTracking`.
///
/// Reading a key tracks that key and no other. A first load is no change. Get one from ``Container/observable``, and bind to
/// its members where a view changes them:
///
/// ```swift
/// @Bindable var settings = container.observable
/// Stepper("Timeout", value: $settings.timeout)
/// ```
@dynamicMemberLookup
public final class ObservableContainer: FeatureContainer, Observable {
    /// Registers what is read before it is read.
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
        let tracker = backend.node.tracker()
        // What reads through a view of the container is an object of its own.
        return backend is Node ? tracker.observable(of: self) : ObservableContainer(self, tracker)
    }
}

/// Tells the Observation framework of the changes seen from a node.
///
/// There is one for each node, made when first needed.
final class Tracker: Observable, Sendable {
    private let registrar = ObservationRegistrar()
    private let tracked = Locked<Set<Key>>([])
    private let given = Locked(Given())

    /// The node has the tracker, so this must not keep the container.
    private struct Given: Sendable {
        weak var observable: ObservableContainer?
    }

    /// Stands for a key in key paths.
    fileprivate subscript(key: Key) -> Bool { true }

    /// The one object for the container.
    fileprivate func observable(of container: Container) -> ObservableContainer {
        if let known = given.withLock({ $0.observable }) { return known }
        let made = ObservableContainer(container, self)
        return given.withLock { given in
            if let known = given.observable { return known }
            given.observable = made
            return made
        }
    }

    /// Records that `key` is read, before it is.
    func access(_ key: Key, in container: Container) {
        if tracked.withLock({ $0.insert(key).inserted }) {
            let node = container.backend.node
            let observer = Observer(
                node, key, skipsLoads: true,
                Observer.Callbacks(
                    call: { [weak self] _ in self?.registrar.withMutation(of: self!, keyPath: \.[key]) {} }, onEnd: nil)
            )
            node.family.observe(observer, in: container.backend.owner ?? container, nil)
        }
        registrar.access(self, keyPath: \.[key])
    }
}
extension Node {
    fileprivate func tracker() -> Tracker {
        family.lock.withLock { token in
            if let tracker = storage[token].tracker { return tracker }
            let tracker = Tracker()
            storage[token].tracker = tracker
            return tracker
        }
    }
}

/// Registers what is read before it is read.
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
