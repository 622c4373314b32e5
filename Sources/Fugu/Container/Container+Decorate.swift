extension Container {
    /// Wraps what a feature would be without this call, here and in all descendants that don't set it themselves.
    ///
    /// ```swift
    /// container.decorate(Mailer.self) { mailer, container in
    ///     LoggingMailer(mailer, log: container[Log.self])
    /// }
    /// ```
    ///
    /// The call replaces the load that the container has or inherits by one that calls it and passes on what that creates. So the
    /// closure receives the instance that was set here or in an ancestor before, or what a replaced or decorated load there creates,
    /// or else what the feature's own load creates. The last decoration is the outermost.
    ///
    /// There's one load, and one instance: the wrapper, with the inputs of all that took part. A child that overrides one of them
    /// has its own, and so has a child that decorates the feature itself, which calls the load of its parent. To wrap the
    /// parent's instance instead, set the feature in the child: `child[Mailer.self] = Tagged(child[Mailer.self])`.
    ///
    /// A decorated feature counts as set: what changes above later doesn't reach it, `reset` removes all decorations that this
    /// container has, and setting or replacing the feature discards them. They don't wrap a part that you set later, here or in a
    /// child; the other parts stay wrapped. A strict container refuses to load what is wrapped as it does without the decoration.
    ///
    /// - Parameters:
    ///   - feature: The type of the feature.
    ///   - wrap: A closure that receives what it wraps and the handle of the load, like `load(in:)`, and returns the wrapper. It
    ///     runs at the next read, and Fugu holds no lock while it runs.
    /// - Complexity: O(*d* + *m*) for *d* ancestors, and *m* observers and instances that the change concerns.
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
        let key = key(ContainerKeys())
        addLayer(to: TypedKey(key), over: key._key.own) { (instance: inout Instance, handle) in
            instance = wrap(instance, handle)
        }
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
        addLayer(to: TypedKey(F.self), over: F._key.own) { (instance: inout F.Instance, handle) in
            instance = try wrap(instance, handle)
        }
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
        typealias Body = @Sendable (inout F.Instance, Container) async throws -> Void
        let body: Body = { instance, handle in instance = try await wrap(instance, handle) }
        replace(TypedKey(F.self), over: F._key.own) { former in
            let layer = Layer(body, on: former)
            return Replacement(
                load: { _ in throw CancellationError() },
                loadAsync: { handle in
                    var instance = try await layer.former.loadAsync!(handle).value(as: F.Instance.self)
                    for body in layer.bodies { try await body(&instance, handle) }
                    return Payload(instance)
                }, plan: layer)
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
        // Every read is on the main actor, and so is every load.
        let own = MainActorLoader(Key(raw: key.raw)).own
        addLayer(to: TypedKey(key), over: own) { (instance: inout Instance, handle) in
            let former = instance
            instance = MainActor.assumeIsolated { wrap(former, handle) }
        }
    }
}

// MARK: Layers

extension KeyDefinition {
    /// What loads the feature as it's declared, for a load that replaces it.
    var own: Replacement {
        Replacement(load: { try readNow(.own, in: $0) }, loadAsync: { try await readAsync(.own, in: $0) })
    }
}

extension MainActorLoader {
    /// What loads the feature as it's declared, for a load that replaces it, which is on the main actor like every read.
    fileprivate var own: Replacement {
        Replacement { handle in
            try handle.answer(.own, { request }) { handle in MainActor.assumeIsolated { load(handle) } }!
        }
    }
}

/// What one call adds to the loader that was there before, with what earlier calls have added to that.
///
/// They aren't loaders within loaders, so that any number needs no deeper stack.
private final class Layer<Body: Sendable>: Sendable {
    /// The loader around which the layers are.
    let former: Replacement
    private let body: Body
    private let before: ChainReference<Layer>?

    init(_ body: Body, on former: Replacement) {
        let before = former.plan as? Layer
        self.former = before?.former ?? former
        self.body = body
        self.before = before.map { ChainReference($0) }
    }

    deinit { before?.release { $0.before } }

    /// What the calls have added, in their order.
    var bodies: [Body] { sequence(first: self) { $0.before?.object }.map(\.body).reversed() }
}

extension Container {
    /// Adds a layer to the loader that the container has or inherits for a feature, or to the feature's own; it changes what the
    /// former one has loaded.
    func addLayer<Instance: Sendable>(
        to key: TypedKey, over own: Replacement, _ body: @escaping @Sendable (inout Instance, Container) throws -> Void
    ) {
        replace(key, over: own) { former in
            let layer = Layer(body, on: former)
            return Replacement(
                load: { handle in
                    var instance = try layer.former.load(handle).value(as: Instance.self)
                    for body in layer.bodies { try body(&instance, handle) }
                    return Payload(instance)
                }, plan: layer)
        }
    }

    /// Replaces what the container has or inherits for a feature by what `make` returns for that.
    private func replace(_ key: TypedKey, over own: Replacement, _ make: (Replacement) -> Replacement) {
        checkMayChange(key.key)
        let node = node
        var isDone = false
        while !isDone {
            let (setting, time) = node.family.lock.withLock { token in node.setting(token, of: key.key) }
            let former = setting.loader ?? setting.value.map { Replacement($0) } ?? own
            isDone = node.family.commit([Write(node, key, .loader(make(former)), by: .code)]) { token in
                // Another thread may have written meanwhile; what nothing depends on keeps its time.
                let now = node.setting(token, of: key.key)
                return now.time != time || now.setting.value.map { setting.value?.isIdentical(to: $0) != true } ?? false
            }
        }
    }
}
