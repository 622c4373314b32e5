extension Container {
    /// Wraps what a feature would be without this call, here and in all descendants that don't set it themselves.
    ///
    /// ```swift
    /// container.decorate(Mailer.self) { mailer, container in
    ///     LoggingMailer(mailer, log: container[Log.self])
    /// }
    /// ```
    ///
    /// The closure receives the instance that was set here or in an ancestor, or that a replaced or decorated load there gives, or
    /// else the one that the feature's own load creates. Decorations stack: the last one that you add is the outermost, and those
    /// of a child wrap those of its ancestors.
    ///
    /// The wrapped instance and the wrapper are loaded separately, and each lives where its own inputs live. A child that
    /// overrides an input of the wrapped instance gets its own wrapper and instance. A child that overrides an input of the
    /// wrapper only, such as the identifier of a request, gets its own wrapper around the shared instance. What a child wraps is
    /// the instance that its parent has.
    ///
    /// A decorated feature counts as set: `reset` removes all decorations that this container has, and setting the feature
    /// discards them. They don't wrap a part that you set later, here or in a child; the other parts stay wrapped. A strict
    /// container refuses to load what is wrapped as it does without the decoration.
    ///
    /// If an ancestor sets, replaces, decorates, or resets the feature later, the next read in the child wraps the new instance.
    ///
    /// - Parameters:
    ///   - feature: The type of the feature.
    ///   - wrap: A closure that receives what it wraps and the handle of the load, like `load(in:)`, and returns the wrapper. It
    ///     runs at the next read, and Fugu holds no lock while it runs.
    /// - Complexity: O(*m*) for *m* observers and instances that the change concerns.
    @_alwaysEmitIntoClient
    public func decorate<F: Feature>(
        _ feature: F.Type,
        with wrap: @escaping @Sendable (_ instance: F.Instance, _ container: any FeatureContainer) -> F.Instance
    ) {
        decorate({ _ in FeatureKey(F.self) }, with: wrap)
    }

    /// Wraps what a key's feature would be without this call, here and in all descendants that don't set it themselves.
    ///
    /// See `decorate(_:with:)`.
    ///
    /// - Parameters:
    ///   - key: A key path to the feature: `\.mailer`.
    ///   - wrap: A closure that receives what it wraps and the handle of the load, and returns the wrapper.
    /// - Complexity: O(*m*) for *m* observers and instances that the change concerns.
    public func decorate<Instance>(
        _ key: (ContainerKeys) -> FeatureKey<Instance>,
        with wrap: @escaping @Sendable (_ instance: Instance, _ container: any FeatureContainer) -> Instance
    ) {
        decorate(Decorated(key(ContainerKeys()))) { Payload(wrap($0.value(as: Instance.self), $1)) }
    }

    /// Wraps what a feature would be without this call, here and in all descendants that don't set it themselves.
    ///
    /// See `decorate(_:with:)`. If `wrap` throws, the load fails.
    ///
    /// - Parameters:
    ///   - feature: The type of the feature.
    ///   - wrap: A closure that receives what it wraps and the handle of the load, and returns the wrapper.
    /// - Complexity: O(*m*) for *m* observers and instances that the change concerns.
    public func decorate<F: ThrowingFeature>(
        _ feature: F.Type,
        with wrap: @escaping @Sendable (_ instance: F.Instance, _ container: any FeatureContainer) throws -> F.Instance
    ) {
        decorate(Decorated(F.self)) { Payload(try wrap($0.value(as: F.Instance.self), $1)) }
    }

    /// Wraps what a feature would be without this call, here and in all descendants that don't set it themselves.
    ///
    /// See `decorate(_:with:)`. If `wrap` throws, the load fails.
    ///
    /// - Parameters:
    ///   - feature: The type of the feature.
    ///   - wrap: A closure that receives what it wraps and the handle of the load, and returns the wrapper.
    /// - Complexity: O(*m*) for *m* observers and instances that the change concerns.
    public func decorate<F: AsyncFeature>(
        _ feature: F.Type,
        with wrap:
            @escaping @Sendable (
                _ instance: F.Instance, _ container: any FeatureContainer
            ) async throws -> F.Instance
    ) {
        let decorated = Decorated(F.self)
        decorate(decorated) { inner in
            Replacement(
                load: { _ in throw CancellationError() },
                loadAsync: { handle in
                    let instance = try await decorated.readAsync(inner, in: handle).value(as: F.Instance.self)
                    return Payload(try await wrap(instance, handle))
                })
        }
    }

    /// Wraps what a feature that belongs to the main actor would be without this call, here and in all descendants that don't
    /// set it themselves.
    ///
    /// See `decorate(_:with:)`.
    ///
    /// - Parameters:
    ///   - feature: The type of the feature.
    ///   - wrap: A closure that receives what it wraps and the handle of the load, and returns the wrapper.
    /// - Complexity: O(*m*) for *m* observers and instances that the change concerns.
    @_alwaysEmitIntoClient
    @MainActor public func decorate<F: MainActorFeature>(
        _ feature: F.Type,
        with wrap:
            @escaping @MainActor @Sendable (_ instance: F.Instance, _ container: any FeatureContainer) -> F.Instance
    ) {
        decorate({ _ in MainActorFeatureKey(F.self) }, with: wrap)
    }

    /// Wraps what a key's feature, which belongs to the main actor, would be without this call, here and in all
    /// descendants that don't set it themselves.
    ///
    /// See `decorate(_:with:)`.
    ///
    /// - Parameters:
    ///   - key: A key path to the feature: `\.screen`.
    ///   - wrap: A closure that receives what it wraps and the handle of the load, and returns the wrapper.
    /// - Complexity: O(*m*) for *m* observers and instances that the change concerns.
    @MainActor public func decorate<Instance>(
        _ key: (ContainerKeys) -> MainActorFeatureKey<Instance>,
        with wrap: @escaping @MainActor @Sendable (_ instance: Instance, _ container: any FeatureContainer) -> Instance
    ) {
        let key = key(ContainerKeys())
        let feature = MainActorLoader(Key(raw: key.raw))
        // Every read is on the main actor, and so is every load.
        let loader = KeyLoader(
            key: feature.key,
            method: .plain { handle, question in
                try handle.answer(question, { feature.request }) { handle in
                    MainActor.assumeIsolated { feature.load(handle) }
                }
            })
        decorate(Decorated(TypedKey(key), loader)) { instance, handle in
            MainActor.assumeIsolated { Payload(wrap(instance.value(as: Instance.self), handle)) }
        }
    }
}

// MARK: The layers of a feature

/// The record of a decorated feature, whatever its type.
struct Decorated: Sendable {
    let key: TypedKey
    private let loader: KeyLoader

    init(_ key: TypedKey, _ loader: KeyLoader) { (self.key, self.loader) = (key, loader) }

    init<Instance>(_ key: FeatureKey<Instance>) { self.init(TypedKey(key), key._key.loader) }

    init<F: FailableFeature>(_: F.Type) { self.init(TypedKey(F.self), F._key.loader) }

    /// Reads what is within a layer: what was set there, or else what the feature's own load creates.
    func read(_ inner: Key, in handle: Container) throws -> Payload { try loader.readNow(.inner(inner), in: handle) }

    func readAsync(_ inner: Key, in handle: Container) async throws -> Payload {
        try await loader.readAsync(.inner(inner), in: handle)
    }

}

extension Container {
    private func decorate(
        _ decorated: Decorated, _ wrap: @escaping @Sendable (Payload, Container) throws -> Payload
    ) {
        decorate(decorated) { inner in
            Replacement(load: { handle in try wrap(decorated.read(inner, in: handle), handle) })
        }
    }

    /// Decorates a feature with the loader that `make` returns for the key of what it wraps.
    private func decorate(_ decorated: Decorated, _ make: @escaping @Sendable (_ inner: Key) -> Replacement) {
        add(Layer(.decoration(make)), to: decorated.key)
    }

    /// Adds a layer to what the container has for a feature.
    func add(_ layer: Layer, to key: TypedKey) {
        checkMayChange(key.key)
        let node = node
        while true {
            var writes = LayerWrites(to: key, in: node)
            writes.add(layer)
            if node.family.commit(writes.all, unless: { token in !node.isEnded(token) && !writes.areCurrent(token) }) {
                return
            }
        }
    }
}
