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
    @_alwaysEmitIntoClient
    @MainActor
    public subscript<F: MainActorFeature>(
        feature: F.Type, fileID: StaticString = #fileID, line: UInt = #line
    ) -> F.Instance {
        @inline(__always) get {
            let present = _storage.read(Key.feature(F.self), as: F.Instance.self)
            extendLifetime(self)
            if let present { return present }
            return _container.readSlowly(F.self, SourcePlace(fileID, line))
        }
        set {
            _container.set(TypedKey(Key.feature(F.self), of: F.Instance.self), Payload(newValue))
        }
        _modify {
            var instance = _container.readPart(Key.feature(F.self)) { self[feature, fileID, line] }
            defer { self[feature] = instance }
            yield &instance
        }
    }

    /// The instance of a key's feature, which belongs to the main actor.
    ///
    /// A read loads the instance if there is none, and stops the program where that's impossible, as for a type.
    ///
    /// - Parameter key: The key.
    @_alwaysEmitIntoClient
    @MainActor
    public subscript<Instance>(key: MainActorFeatureKey<Instance>) -> Instance {
        @inline(__always) get {
            let present = _storage.read(key.raw, as: Instance.self)
            extendLifetime(self)
            if let present { return present }
            return _container.readSlowly(key)
        }
        set {
            _container.set(TypedKey(key.raw, of: Instance.self), Payload(newValue))
        }
        _modify {
            var instance = _container.readPart(key.raw) { self[key] }
            defer { self[key] = instance }
            yield &instance
        }
    }

    /// The instance of a feature of the main actor that ``ContainerKeys`` declares: `container.screen`, or, in code that doesn't belong
    /// to the main actor, `await container.screen`.
    ///
    /// A read loads the instance if there is none, and stops the program where that's impossible, as for a type.
    ///
    /// - Parameter key: The member of ``ContainerKeys`` that declares the feature.
    @_alwaysEmitIntoClient
    @MainActor
    public subscript<Instance>(
        dynamicMember key: any KeyPath<ContainerKeys, MainActorFeatureKey<Instance>> & Sendable
    ) -> Instance {
        @inline(__always) get { self[ContainerKeys()[keyPath: key]] }
        @inline(__always) set { self[ContainerKeys()[keyPath: key]] = newValue }
        @inline(__always) _modify { yield &self[ContainerKeys()[keyPath: key]] }
    }

    /// Replaces the load of a feature, here and in all descendants that don't set it themselves.
    ///
    /// A replaced feature counts as set. `load` runs at the next read, and its result lives here or in a descendant.
    ///
    /// - Parameters:
    ///   - feature: The type of the feature.
    ///   - load: A closure that creates the instance on the main actor, like `load(in:)`.
    /// - Complexity: O(*m*) for *m* observers and instances that the change concerns.
    @_alwaysEmitIntoClient
    @MainActor public func replace<F: MainActorFeature>(
        _ feature: F.Type, load: @escaping @MainActor @Sendable (any FeatureContainer) -> F.Instance
    ) {
        replace({ _ in MainActorFeatureKey(F.self) }, load: load)
    }

    /// Replaces the load of a feature, here and in all descendants that don't set it themselves.
    ///
    /// A replaced feature counts as set. `load` runs at the next read, and its result lives here or in a descendant.
    ///
    /// - Parameters:
    ///   - key: A key path to the feature: `\.screen`.
    ///   - load: A closure that creates the instance on the main actor, like `load(in:)`.
    /// - Complexity: O(*m*) for *m* observers and instances that the change concerns.
    @MainActor public func replace<Instance>(
        _ key: (ContainerKeys) -> MainActorFeatureKey<Instance>,
        load: @escaping @MainActor @Sendable (any FeatureContainer) -> Instance
    ) {
        // Every read is on the main actor, and so is every load.
        let loader = Replacement { handle in MainActor.assumeIsolated { Payload(load(handle)) } }
        _container.change(TypedKey(key(ContainerKeys())), to: .loader(loader))
    }
}

extension Container {
    @_alwaysEmitIntoClient @inline(never) @MainActor
    func readSlowly<F: MainActorFeature>(_ feature: F.Type, _ place: SourcePlace?) -> F.Instance {
        readSlowly(Key.feature(F.self), nil, { Request(F.self, at: place) }) { F.make(in: $0) }
            .value(as: F.Instance.self)
    }

    @usableFromInline @MainActor
    func readSlowly<Instance>(_ key: MainActorFeatureKey<Instance>) -> Instance {
        MainActorLoader(Key(raw: key.raw)).read(in: self).value(as: Instance.self)
    }
}
