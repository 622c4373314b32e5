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
    /// wrapper only, such as the identifier of a request, gets its own wrapper around the shared instance. Containers that
    /// aren't decorated don't share the wrapped instance.
    ///
    /// A decorated feature counts as set: `reset` removes all decorations that this container has, and setting the feature
    /// discards them. A strict container refuses to load what is wrapped as it does without the decoration.
    ///
    /// If an ancestor sets, replaces, decorates, or resets the feature later, the next read in the child wraps the new instance.
    ///
    /// - Parameters:
    ///   - feature: The type of the feature.
    ///   - wrap: A closure that receives what it wraps and the handle of the load, like `load(in:)`, and returns the wrapper. It
    ///     runs at the next read, and Fugu holds no lock while it runs.
    /// - Complexity: O(*m* + *d*) for *m* observers and instances that the change concerns and *d* decorations here.
    public func decorate<F: Feature>(
        _ feature: F.Type,
        with wrap: @escaping @Sendable (_ instance: F.Instance, _ container: any FeatureContainer) -> F.Instance
    ) {
        decorate(FeatureKey(F.self), with: wrap)
    }

    /// Wraps what a key's feature would be without this call, here and in all descendants that don't set it themselves.
    ///
    /// See `decorate(_:with:)`.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - wrap: A closure that receives what it wraps and the handle of the load, and returns the wrapper.
    /// - Complexity: O(*m* + *d*) for *m* observers and instances that the change concerns and *d* decorations here.
    public func decorate<Instance>(
        _ key: FeatureKey<Instance>,
        with wrap: @escaping @Sendable (_ instance: Instance, _ container: any FeatureContainer) -> Instance
    ) {
        decorate(Decorated(TypedKey(key), key._key.loader)) { Payload(wrap($0.value(as: Instance.self), $1)) }
    }

    /// Wraps what a key's feature would be without this call, here and in all descendants that don't set it themselves.
    ///
    /// See `decorate(_:with:)`.
    ///
    /// - Parameters:
    ///   - key: A key path to the feature: `\.mailer`.
    ///   - wrap: A closure that receives what it wraps and the handle of the load, and returns the wrapper.
    /// - Complexity: O(*m* + *d*) for *m* observers and instances that the change concerns and *d* decorations here.
    public func decorate<Instance>(
        _ key: (ContainerKeys) -> FeatureKey<Instance>,
        with wrap: @escaping @Sendable (_ instance: Instance, _ container: any FeatureContainer) -> Instance
    ) {
        decorate(key(ContainerKeys()), with: wrap)
    }

    /// Wraps what a feature would be without this call, here and in all descendants that don't set it themselves.
    ///
    /// See `decorate(_:with:)`. If `wrap` throws, the load fails.
    ///
    /// - Parameters:
    ///   - feature: The type of the feature.
    ///   - wrap: A closure that receives what it wraps and the handle of the load, and returns the wrapper.
    /// - Complexity: O(*m* + *d*) for *m* observers and instances that the change concerns and *d* decorations here.
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
    /// - Complexity: O(*m* + *d*) for *m* observers and instances that the change concerns and *d* decorations here.
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
    /// - Complexity: O(*m* + *d*) for *m* observers and instances that the change concerns and *d* decorations here.
    @MainActor public func decorate<F: MainActorFeature>(
        _ feature: F.Type,
        with wrap:
            @escaping @MainActor @Sendable (_ instance: F.Instance, _ container: any FeatureContainer) -> F.Instance
    ) {
        decorate(MainActorFeatureKey(F.self), with: wrap)
    }

    /// Wraps what a key's feature, which belongs to the main actor, would be without this call, here and in all
    /// descendants that don't set it themselves.
    ///
    /// See `decorate(_:with:)`.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - wrap: A closure that receives what it wraps and the handle of the load, and returns the wrapper.
    /// - Complexity: O(*m* + *d*) for *m* observers and instances that the change concerns and *d* decorations here.
    @MainActor public func decorate<Instance>(
        _ key: MainActorFeatureKey<Instance>,
        with wrap: @escaping @MainActor @Sendable (_ instance: Instance, _ container: any FeatureContainer) -> Instance
    ) {
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

    /// Wraps what a key's feature, which belongs to the main actor, would be without this call, here and in all
    /// descendants that don't set it themselves.
    ///
    /// See `decorate(_:with:)`.
    ///
    /// - Parameters:
    ///   - key: A key path to the feature: `\.screen`.
    ///   - wrap: A closure that receives what it wraps and the handle of the load, and returns the wrapper.
    /// - Complexity: O(*m* + *d*) for *m* observers and instances that the change concerns and *d* decorations here.
    @MainActor public func decorate<Instance>(
        _ key: (ContainerKeys) -> MainActorFeatureKey<Instance>,
        with wrap: @escaping @MainActor @Sendable (_ instance: Instance, _ container: any FeatureContainer) -> Instance
    ) {
        decorate(key(ContainerKeys()), with: wrap)
    }
}

// MARK: The layers of a feature

/// The record of a decorated feature, whatever its type.
struct Decorated: Sendable {
    let key: TypedKey
    private let loader: KeyLoader

    init(_ key: TypedKey, _ loader: KeyLoader) { (self.key, self.loader) = (key, loader) }

    init<F: FailableFeature>(_: F.Type) { self.init(TypedKey(F.self), F._key.loader) }

    private var isAsync: Bool { if case .suspending = loader.method { true } else { false } }

    /// Reads what is within a layer: what was set there, or else what the feature's own load creates.
    func read(_ inner: Key, in handle: Container) throws -> Payload { try loader.readNow(.inner(inner), in: handle) }

    func readAsync(_ inner: Key, in handle: Container) async throws -> Payload {
        try await loader.readAsync(.inner(inner), in: handle)
    }

    /// The loader of what a child wraps, which is what it would inherit.
    fileprivate var inherited: Replacement {
        let load: @Sendable (Container) throws -> Payload = { handle in
            switch handle.settingAbove(key) {
            case .value(let payload): payload
            case .loader(let inner): try read(inner, in: handle)
            }
        }
        let loadAsync: @Sendable (Container) async throws -> Payload = { handle in
            switch handle.settingAbove(key) {
            case .value(let payload): payload
            case .loader(let inner): try await readAsync(inner, in: handle)
            }
        }
        return Replacement(load: load, loadAsync: isAsync ? loadAsync : nil)
    }

    /// Returns the key of what the last layer wraps, and what puts it there.
    func innerKey(of setting: Operation?, _ layers: Layers, in node: Node) -> (inner: Key, writes: [Write]) {
        let inner = key.key.inner(depth: node.depth, index: layers.all.count - 1)
        let operation: Operation
        switch setting {
        case .replace(let former):
            // The outermost loader now needs the inner keys.
            operation = .replace(Replacement(load: former.load, loadAsync: former.loadAsync))
        case .set: operation = setting!
        default:
            // In the root, it's what the feature's own load creates.
            if node.isRoot { return (inner, []) }
            operation = .replace(inherited)
        }
        return (inner, [Write(node, inner, key.equal, operation)])
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
        let layer = Layer { setting, layers, node in
            let (inner, writes) = decorated.innerKey(of: setting, layers, in: node)
            let made = make(inner)
            let keys = (setting?.replacement?.inner ?? []) + [inner]
            return (Replacement(load: made.load, loadAsync: made.loadAsync, inner: keys, layers: layers), writes)
        }
        add(layer, to: decorated.key)
    }

    /// Adds a layer to what the container has for a feature.
    func add(_ layer: Layer, to key: TypedKey) {
        checkMayChange(key.key)
        let node = node
        while true {
            let former = node.family.lock.withLock { token in node.setting(token, of: key.key) }
            let (loader, inner) = layer.added(to: former, in: node)
            // In a released container, one report is enough.
            let isEnded = node.family.lock.withLock { token in node.isEnded(token) }
            let writes = [Write(node, key, .replace(loader))] + (isEnded ? [] : inner)
            let isDone = node.family.commit(writes) { token in
                !node.isEnded(token) && !node.setting(token, of: key.key).isSame(as: former)
            }
            if isDone { return }
        }
    }

    /// Returns what the containers above that of the loader that runs have for a key.
    fileprivate func settingAbove(_ key: TypedKey) -> Inherited {
        guard case .handle(let load) = role, let limit = load.load?.limit, let above = limit.object.parent else {
            return .loader(key.key.undecorated)
        }
        let (setting, holder) = load.family.lock.withLock { token in
            let holder = above.path.firstResult { node in
                node.isRoot || node.holds(token, key.key) ? UnmanagedReference(node) : nil
            }!
            // For the load itself, `Effects.dropped` follows the key, which isn't an input: it's held where layers are.
            load.outerRecorder(token)?.record(token, holder.use { $0.storage.cell(token, key.key) }, of: holder)
            return (holder.use { $0.setting(token, of: key.key) }, holder.object)
        }
        switch setting {
        case .set(let payload): return .value(payload)
        case .replace(let loader): return .loader(holder.share(loader, of: key))
        default: return .loader(key.key.undecorated)
        }
    }
}

/// What a container inherits, for layers: a value, or the key of what a loader creates for all containers that wrap it.
private enum Inherited {
    case value(Payload)
    case loader(Key)
}

extension Operation? {
    /// Whether it's the same operation, whose value or loader is kept meanwhile.
    fileprivate func isSame(as other: Operation?) -> Bool {
        switch (self, other) {
        case (nil, nil): true
        case (.replace(let own), .replace(let others)): own === others
        case (.set(let own), .set(let others)): own.isIdentical(to: others)
        default: false
        }
    }
}

extension Node {
    /// Returns a key that's held here with a loader that the node has for another key, for what layers below wrap.
    fileprivate func share(_ loader: Replacement, of key: TypedKey) -> Key {
        let shared = key.key.shared(depth: depth)
        let copy = Replacement(load: loader.load, loadAsync: loader.loadAsync, layers: loader.layers)
        family.commit(Write(self, shared, key.equal, .replace(copy))) { token in
            isEnded(token) || holds(token, shared) || !setting(token, of: key.key).isSame(as: .replace(loader))
        }
        return shared
    }

    fileprivate func setting(_ token: LockToken, of key: Key) -> Operation? {
        guard let cell = storage.existingCell(token, key), holds(token, key) else { return nil }
        return cell.setting(token)
    }
}
