public import Observation

/// A container that tracks its reads, for SwiftUI and `withObservationTracking`.
///
/// Reading a key tracks only that key. A first load isn't a change. As with every `Observable` object, tracking begins when the
/// tracked closure has ended: a change that another thread makes between the read and that moment isn't noticed.
///
/// Get one from ``Container/observable``, and bind to its members where a view changes them:
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
        _container = Container(tracking: container, by: tracker)
    }

    /// The storage that inlined reads use.
    ///
    /// Don't use it directly.
    public var _storage: StorageReference { StorageReference.empty }
}

extension ObservableContainer {
    /// The container, without tracking.
    package var untracked: Container {
        guard case .tracked(_, let container) = _container.role else { return _container }
        return container
    }

    /// Returns the object that another module keeps as long as the container is there, made when it's first needed.
    package func companion<Companion: AnyObject & Sendable>(_ make: () -> Companion) -> Companion {
        guard case .tracked(let tracker, _) = _container.role else { return make() }
        return tracker.companion.withLock { kept in
            if let known = kept as? Companion { return known }
            let made = make()
            kept = made
            return made
        }
    }
}

extension Container {
    /// This container with tracked reads.
    ///
    /// The object is the same each time, as long as someone holds it. It keeps the container alive.
    public var observable: ObservableContainer {
        let node = node
        let tracker = node.family.lock.withLock { token in
            let rare = node.storage[token].more()
            if let tracker = rare.tracker { return tracker }
            let tracker = Tracker()
            rare.tracker = tracker
            return tracker
        }
        // A view of the container gets its own observable object.
        return isView ? ObservableContainer(self, tracker) : tracker.observable(of: self)
    }
}

extension Tracker {
    /// Returns the only observable object of the container.
    fileprivate func observable(of container: Container) -> ObservableContainer {
        if let known = given.withLock({ $0.observable }) as? ObservableContainer { return known }
        let made = ObservableContainer(container, self)
        return given.withLock { given in
            if let known = given.observable as? ObservableContainer { return known }
            given.observable = made
            return made
        }
    }
}
