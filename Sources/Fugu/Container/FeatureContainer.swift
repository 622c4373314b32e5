/// A type from which you read keys of every kind: a ``Container``, the handle of a load or of ``Container/update(_:)``, or an
/// ``ObservableContainer``.
///
/// It has a member for each member of ``ContainerKeys``. While a load runs, its handle only reads: setting, replacing, or
/// resetting anything through it stops the program. Declare an accessor of another kind in an extension of this protocol, not of
/// ``Container``, so that loads and ``Injected`` have it, too. In a module whose default isolation is the main actor, write
/// `nonisolated extension`.
///
/// A type that belongs to the main actor conforms to ``MainActorFeature``. The compiler refuses to use it elsewhere.
public protocol FeatureContainer: PropertyContainer {}

extension FeatureContainer {
    /// The instance of a feature.
    ///
    /// A read gives the instance that was set here or in an ancestor, nearest first; otherwise, the loaded instance. If there is
    /// none, the calling thread loads it, or waits for one that does. If that's impossible, for a reason that ``LoadError/Code``
    /// lists, the program stops with a message that has the path to the feature. A set holds here and in all descendants that
    /// don't set the feature themselves.
    ///
    /// - Parameters:
    ///   - feature: The type of the feature.
    ///   - fileID: The file of the read, for messages.
    ///   - line: The line of the read, for messages.
    ///   - member: The function or property that reads, for messages.
    /// - Complexity: A read takes O(1) if the instance is loaded. A set takes O(*m*) for *m* observers
    ///   and instances that the change concerns.
    @_alwaysEmitIntoClient
    public subscript<F: Feature>(
        feature: F.Type, fileID: StaticString = #fileID, line: UInt = #line, member: StaticString = #function
    ) -> F.Instance {
        @inline(__always) get {
            let present = _storage.read(Key.feature(F.self), as: F.Instance.self)
            extendLifetime(self)
            if let present { return present }
            return _container.readSlowly(F.self, SourcePlace(fileID, line, member))
        }
        set {
            _container.set(TypedKey(Key.feature(F.self), of: F.Instance.self), Payload(newValue))
        }
        // Tells a strict container that a part is set, which `get` and `set` don't.
        _modify {
            var instance = _container.readPart(Key.feature(F.self)) { self[feature, fileID, line, member] }
            defer { self[feature] = instance }
            yield &instance
        }
    }

    /// The instance of a key's feature.
    ///
    /// A read loads the instance if there is none, and stops the program where that's impossible, as for a type.
    ///
    /// - Parameter key: The key.
    public subscript<Instance>(key: FeatureKey<Instance>) -> Instance {
        // Not in the client alone: one that isn't optimized would take 800 bytes more of the stack for each nested load.
        @inlinable @inline(__always) get {
            let present = _storage.read(key.raw, as: Instance.self)
            extendLifetime(self)
            if let present { return present }
            return _container.readSlowly(key)
        }
        @_alwaysEmitIntoClient set {
            _container.set(TypedKey(key.raw, of: Instance.self), Payload(newValue))
        }
        @_alwaysEmitIntoClient _modify {
            var instance = _container.readPart(key.raw) { self[key] }
            defer { self[key] = instance }
            yield &instance
        }
    }

    /// The instance of a feature that ``ContainerKeys`` declares: `container.greeter`.
    ///
    /// A read loads the instance if there is none, and stops the program where that's impossible, as for a type.
    ///
    /// - Parameter key: The member of ``ContainerKeys`` that declares the feature.
    @_alwaysEmitIntoClient
    public subscript<Instance>(dynamicMember key: KeyPath<ContainerKeys, FeatureKey<Instance>>) -> Instance {
        // A literal key path is free, but only if the compiler sees it together with its use.
        @inline(__always) get { self[ContainerKeys()[keyPath: key]] }
        @inline(__always) set { self[ContainerKeys()[keyPath: key]] = newValue }
        @inline(__always) _modify { yield &self[ContainerKeys()[keyPath: key]] }
    }

    /// The instance of a feature whose load can throw.
    ///
    /// - Parameters:
    ///   - feature: The type of the feature.
    ///   - fileID: The file of the read, for messages.
    ///   - line: The line of the read, for messages.
    ///   - member: The function or property that reads, for messages.
    /// - Throws: What the load throws, or ``LoadError``.
    @_alwaysEmitIntoClient
    public subscript<F: ThrowingFeature>(
        feature: F.Type, fileID: StaticString = #fileID, line: UInt = #line, member: StaticString = #function
    ) -> F.Instance {
        @inline(__always) get throws {
            let present = _storage.read(Key.throwingFeature(F.self), as: F.Instance.self)
            extendLifetime(self)
            if let present { return present }
            return try _container.readSlowly(F.self, SourcePlace(fileID, line, member))
        }
    }

    /// The instance of a feature whose load can suspend.
    ///
    /// If the instance is loaded, the read doesn't suspend.
    ///
    /// The load runs in a separate task. If you cancel a task that waits, only that task stops waiting.
    ///
    /// - Parameters:
    ///   - feature: The type of the feature.
    ///   - fileID: The file of the read, for messages.
    ///   - line: The line of the read, for messages.
    ///   - member: The function or property that reads, for messages.
    /// - Throws: What the load throws, `CancellationError`, or ``LoadError``.
    @_alwaysEmitIntoClient
    public subscript<F: AsyncFeature>(
        feature: F.Type, fileID: StaticString = #fileID, line: UInt = #line, member: StaticString = #function
    ) -> F.Instance {
        get async throws {
            let present = _storage.read(Key.asyncFeature(F.self), as: F.Instance.self)
            extendLifetime(self)
            if let present { return present }
            return try await _container.readSlowly(F.self, SourcePlace(fileID, line, member))
        }
    }

    /// Not available: a subscript that throws or suspends can't have a setter.
    @available(*, unavailable, message: "use set(_:to:)")
    @_documentation(visibility: internal)
    public subscript<F: FailableFeature>(feature: F.Type, unavailable: Void = ()) -> F.ContainerValue {
        get { fatalError() }
        set { fatalError() }
    }

    /// Sets the instance of a feature, here and in all descendants that don't set it themselves.
    ///
    /// - Parameters:
    ///   - feature: The type of the feature.
    ///   - instance: The instance that reads give from now on.
    /// - Complexity: O(*m*) for *m* observers and instances that the change concerns.
    public func set<F: FailableFeature>(_ feature: F.Type, to instance: F.ContainerValue) {
        _container.change(TypedKey(F.self), to: .value(Payload(instance)))
    }

    /// Replaces the load of a feature, here and in all descendants that don't set it themselves.
    ///
    /// A replaced feature counts as set. `load` runs at the next read, and its result lives here or in a descendant.
    ///
    /// - Parameters:
    ///   - feature: The type of the feature.
    ///   - load: A closure that creates the instance, like `load(in:)`.
    /// - Complexity: O(*m*) for *m* observers and instances that the change concerns.
    @_alwaysEmitIntoClient
    public func replace<F: Feature>(
        _ feature: F.Type, load: @escaping @Sendable (any FeatureContainer) -> F.Instance
    ) {
        replace({ _ in FeatureKey(F.self) }, load: load)
    }

    /// Replaces the load of a feature, here and in all descendants that don't set it themselves.
    ///
    /// A replaced feature counts as set. `load` runs at the next read, and its result lives here or in a descendant.
    ///
    /// - Parameters:
    ///   - feature: The type of the feature.
    ///   - load: A closure that creates the instance, like `load(in:)`.
    /// - Complexity: O(*m*) for *m* observers and instances that the change concerns.
    public func replace<F: ThrowingFeature>(
        _ feature: F.Type, load: @escaping @Sendable (any FeatureContainer) throws -> F.Instance
    ) {
        _container.change(TypedKey(F.self), to: .loader(Replacement { Payload(try load($0)) }))
    }

    /// Replaces the load of a feature, here and in all descendants that don't set it themselves.
    ///
    /// A replaced feature counts as set. `load` runs at the next read, and its result lives here or in a descendant.
    ///
    /// - Parameters:
    ///   - feature: The type of the feature.
    ///   - load: A closure that creates the instance, like `load(in:)`.
    /// - Complexity: O(*m*) for *m* observers and instances that the change concerns.
    public func replace<F: AsyncFeature>(
        _ feature: F.Type, load: @escaping @Sendable (any FeatureContainer) async throws -> F.Instance
    ) {
        let replacement = Replacement(
            load: { _ in throw CancellationError() }, loadAsync: { Payload(try await load($0)) })
        _container.change(TypedKey(F.self), to: .loader(replacement))
    }

    /// Replaces the load of a feature, here and in all descendants that don't set it themselves.
    ///
    /// A replaced feature counts as set. `load` runs at the next read, and its result lives here or in a descendant.
    ///
    /// - Parameters:
    ///   - key: A key path to the feature: `\.greeter`.
    ///   - load: A closure that creates the instance, like `load(in:)`.
    /// - Complexity: O(*m*) for *m* observers and instances that the change concerns.
    public func replace<Instance>(
        _ key: (ContainerKeys) -> FeatureKey<Instance>, load: @escaping @Sendable (any FeatureContainer) -> Instance
    ) {
        _container.change(TypedKey(key(ContainerKeys())), to: .loader(Replacement { Payload(load($0)) }))
    }

    /// Registers a teardown closure for the instance being loaded.
    ///
    /// The closure runs in ``Container/close(deadline:)``, or earlier if the instance is replaced, reset, or reloaded. Outside a
    /// load, the closure belongs to the container and runs last; if the container is closed already, it runs when you close it
    /// again. If the load fails, the closure runs immediately; an async load awaits it before it throws. Let it capture what it needs,
    /// because ``Container/current`` isn't this container there.
    ///
    /// - Parameter body: The closure. ``CloseError`` collects the errors that it throws.
    public func onClose(_ body: @escaping @Sendable () async throws -> Void) {
        _container.add(Closer(close: body))
    }
}

extension Container {
    // Specialized by the caller: for a value of unknown size, a load takes 200 instructions more.
    @_alwaysEmitIntoClient @inline(never)
    func readSlowly<F: Feature>(_ feature: F.Type, _ place: SourcePlace?) -> F.Instance {
        readSlowly(Key.feature(F.self), nil, { Request(F.self, at: place) }) { F.make(in: $0) }
            .value(as: F.Instance.self)
    }

    @usableFromInline
    func readSlowly<Instance>(_ key: FeatureKey<Instance>) -> Instance {
        guard let type = key.type else {
            let descriptor: FeatureDescriptor = key.interned.descriptor()
            return readSlowly(key.raw, nil, { Request(Key(raw: key.raw), descriptor) }) { descriptor.make(in: $0) }
                .value(as: Instance.self)
        }
        func read<F: Feature>(_: F.Type) -> Payload {
            readSlowly(Key.feature(F.self), nil, { Request(F.self) }) { F.make(in: $0) }
        }
        return read(type).value(as: Instance.self)
    }

    // Specialized by the caller; see above.
    @_alwaysEmitIntoClient @inline(never)
    func readSlowly<F: ThrowingFeature>(_ feature: F.Type, _ place: SourcePlace?) throws -> F.Instance {
        try readThrowing(Key.throwingFeature(F.self), { Request(F.self, at: place) }) { try F.make(in: $0) }
            .value(as: F.Instance.self)
    }

    @usableFromInline
    func readSlowly<F: AsyncFeature>(_ feature: F.Type, _ place: SourcePlace?) async throws -> F.Instance {
        let key = Key(raw: Key.asyncFeature(F.self))
        if let present = present(key, nil, at: place?.outsideLibrary) { return present.value(as: F.Instance.self) }
        do {
            return try await loadAsync(Request(F.self, at: place)) { try await F.make(in: $0) }
                .value(as: F.Instance.self)
        } catch let error as LoadError {
            throw error.read(at: place?.outsideLibrary)
        }
    }
}
