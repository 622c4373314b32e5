// The members of containers for features that belong to the main actor.

extension FeatureContainer {
    /// The instance of a feature that belongs to the main actor.
    ///
    /// A read gives the instance that was set here or in an ancestor, nearest first; otherwise, the loaded instance, which it
    /// loads if there is none. If that's impossible, the program stops with a message, as for a ``Feature``. A set holds here and
    /// in all descendants that don't set the feature themselves.
    ///
    /// - Parameters:
    ///   - feature: The type of the feature.
    ///   - fileID: The file of the read, for messages.
    ///   - line: The line of the read, for messages.
    /// - Complexity: A read takes O(1) if the instance is loaded. A set takes O(*m*) for *m* observers
    ///   and instances that the change concerns.
    @MainActor
    public subscript<F: MainActorFeature>(
        feature: F.Type, fileID: StaticString = #fileID, line: UInt = #line
    ) -> F.Instance {
        @inlinable @inline(__always) get {
            let present = _storage.read(Key.feature(F.self), as: F.Instance.self)
            extendLifetime(self)
            if let present { return present }
            return _container.readSlowly(F.self, SourcePlace(fileID, line))
        }
        @inlinable set {
            _container.set(TypedKey(Key.feature(F.self), of: F.Instance.self), Payload(newValue))
        }
    }

    /// Replaces the load of a feature, here and in all descendants that don't set it themselves.
    ///
    /// A replaced feature counts as set. `load` runs at the next read, and its result lives here or in a descendant.
    ///
    /// - Parameters:
    ///   - feature: The type of the feature.
    ///   - load: A closure that creates the instance on the main actor, like `load(in:)`.
    /// - Complexity: O(*m*) for *m* observers and instances that the change concerns.
    @MainActor public func replace<F: MainActorFeature>(
        _ feature: F.Type, load: @escaping @MainActor @Sendable (any FeatureContainer) -> F.Instance
    ) {
        let key = TypedKey(Key.feature(F.self), of: F.Instance.self)
        // Every read is on the main actor, and so is every load.
        _container.change(key, .replace(Replacement { handle in MainActor.assumeIsolated { Payload(load(handle)) } }))
    }
}

extension Container {
    @inlinable @MainActor
    func readSlowly<F: MainActorFeature>(_ feature: F.Type, _ place: SourcePlace?) -> F.Instance {
        readSlowly(Key.feature(F.self), nil, { Request(F.self, at: place) }) { Payload(F.load(in: $0)) }
            .value(as: F.Instance.self)
    }

    /// Returns the instance that the container has for a feature, without loading anything.
    ///
    /// The method looks here and in the ancestors, and doesn't wait for a load in progress. In a load, an instance that is found is
    /// an input. It never stops the program.
    ///
    /// - Parameter feature: The feature to look for.
    /// - Returns: The instance that was set or loaded, or `nil`.
    /// - Complexity: O(*d*) for *d* ancestors.
    @MainActor public func ifLoaded<F: MainActorFeature>(_ feature: F.Type) -> F.Instance? {
        present(Key(raw: Key.feature(F.self)), nil)?.value(as: F.Instance.self)
    }

    /// Changes an instance in place, and sets the result.
    ///
    /// If `body` throws, nothing changes. Writing the same feature inside `body` stops the program with a message.
    ///
    /// - Parameters:
    ///   - feature: The feature to change.
    ///   - body: A closure that changes the instance.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws.
    /// - Complexity: O(*m*) for *m* observers and instances that the change concerns.
    @MainActor public func modify<F: MainActorFeature, R, E>(
        _ feature: F.Type, _ body: (inout F.Instance) throws(E) -> R
    ) throws(E) -> R {
        try modify(TypedKey(Key.feature(F.self), of: F.Instance.self), read: { self[F.self] }, body)
    }

    /// Returns a sequence of the instances of a feature: the current one, followed by later ones.
    ///
    /// If there is no instance, it's loaded at this call.
    ///
    /// - Parameter feature: The feature to follow.
    /// - Returns: The sequence, which you can read on any actor.
    /// - Complexity: O(*d*) for *d* ancestors.
    @MainActor public func values<F: MainActorFeature>(of feature: F.Type) -> ObservedValues<F.Instance> {
        MainActorReload.load(F.self, in: self)
        return ObservedValues(of: F._key, in: self)
    }
}

extension Request {
    @usableFromInline @MainActor init<F: MainActorFeature>(_: F.Type, at place: SourcePlace? = nil) {
        self.init(
            Key.feature(F.self), home: F.home, reloads: F.reloadsWhenInputsChange, at: place)
    }
}

/// Loads on the main actor, once for all that ask before it's free.
final class MainActorReload: Sendable {
    /// The feature, whose conformance may belong to the main actor and is therefore looked up there.
    private let type: Any.Type
    private let isWaiting = Locked(false)

    init(of type: Any.Type) { self.type = type }

    func begin(in container: Container) {
        guard
            isWaiting.withLock({ isWaiting in
                defer { isWaiting = true }
                return !isWaiting
            })
        else { return }
        // The load is in nobody's load, whoever has changed the input.
        Context.run(.ended, nil) {
            _ = Task { @MainActor in
                isWaiting.withLock { $0 = false }
                let node = container.node
                if node.family.lock.withLock({ token in node.storage[token].isRefusing }) { return }
                guard let feature = type as? any MainActorFeature.Type else { return }
                Context.run(container, nil) { Self.load(feature, in: container) }
            }
        }
    }

    /// Reads the feature.
    @MainActor func read(in container: Container) -> Payload {
        func read<F: MainActorFeature>(_: F.Type) -> Payload { Payload(container[F.self]) }
        guard let feature = type as? any MainActorFeature.Type else { fatalError("\(type)") }
        return read(feature)
    }

    /// Loads the feature if it's missing, unless the container was released or closed.
    @MainActor static func load<F: MainActorFeature>(_ feature: F.Type, in container: Container) {
        let request = Request(F.self)
        _ = try? container.present(request.key, nil) ?? container.load(request) { Payload(F.load(in: $0)) }
    }
}
