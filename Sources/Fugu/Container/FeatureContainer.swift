/// What can be read and set by keys of every kind: a ``Container``, the handle that `load(in:)` is given, the handle of an
/// ``Container/update(_:)``, an ``ObservableContainer``.
///
/// A type that conforms for an actor only (`extension Model: @MainActor Feature`) can be read, set, replaced, and reset on
/// that actor only: the compiler refuses the conformance elsewhere. The loader that you give to `replace` belongs to no
/// actor. What is dropped loads at the next read, on the actor.
public protocol FeatureContainer: PropertyContainer {}

extension FeatureContainer {
    /// The instance of a feature: what was set here or in an ancestor, nearest first, else what was or is now loaded.
    ///
    /// Stops the program with the way round if the load needs itself, or if the container is closed or gone. Setting
    /// swaps the feature here and for all descendants that did not do so themselves.
    public subscript<F: Feature>(
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

    /// The instance of a feature named by a key.
    public subscript<Instance>(key: FeatureKey<Instance>) -> Instance {
        @inlinable @inline(__always) get {
            let present = _storage.read(key._raw, as: Instance.self)
            extendLifetime(self)
            if let present { return present }
            return _container.readSlowly(key)
        }
        @inlinable set {
            _container.set(TypedKey(key._raw, of: Instance.self), Payload(newValue))
        }
    }

    /// The instance of a feature that ``ContainerKeys`` declares: `container[\.greeter]`.
    @inlinable
    public subscript<Instance>(key: KeyPath<ContainerKeys, FeatureKey<Instance>>) -> Instance {
        // A literal key path costs nothing, but only where it is seen together with its use.
        @inline(__always) get { self[ContainerKeys()[keyPath: key]] }
        @inline(__always) set { self[ContainerKeys()[keyPath: key]] = newValue }
    }

    /// The instance of a feature that ``ContainerKeys`` declares: `container.greeter`.
    @inlinable
    public subscript<Instance>(dynamicMember key: KeyPath<ContainerKeys, FeatureKey<Instance>>) -> Instance {
        @inline(__always) get { self[ContainerKeys()[keyPath: key]] }
        @inline(__always) set { self[ContainerKeys()[keyPath: key]] = newValue }
    }

    /// The instance of a feature that may fail to load.
    /// - Throws: What its load threw, or ``LoadError``.
    public subscript<F: ThrowingFeature>(
        feature: F.Type, fileID: StaticString = #fileID, line: UInt = #line
    ) -> F.Instance {
        @inlinable @inline(__always) get throws {
            let present = _storage.read(Key.throwingFeature(F.self), as: F.Instance.self)
            extendLifetime(self)
            if let present { return present }
            return try _container.readSlowly(F.self, SourcePlace(fileID, line))
        }
    }

    /// The instance of a feature whose load suspends; no suspension if it is there.
    ///
    /// The load runs in a task of its own. Cancelling the reader releases it alone, with `CancellationError`.
    /// - Throws: What its load threw, `CancellationError`, or ``LoadError``.
    public subscript<F: AsyncFeature>(
        feature: F.Type, fileID: StaticString = #fileID, line: UInt = #line
    ) -> F.Instance {
        @inlinable get async throws {
            let present = _storage.read(Key.asyncFeature(F.self), as: F.Instance.self)
            extendLifetime(self)
            if let present { return present }
            return try await _container.readSlowly(F.self, SourcePlace(fileID, line))
        }
    }

    /// Not available: a subscript that throws cannot have a setter.
    @available(*, unavailable, message: "use set(_:to:)")
    public subscript<F: ThrowingFeature>(feature: F.Type, unavailable: Void = ()) -> F.Instance {
        get { fatalError() }
        set { fatalError() }
    }

    /// Not available: a subscript that is async cannot have a setter.
    @available(*, unavailable, message: "use set(_:to:)")
    public subscript<F: AsyncFeature>(feature: F.Type, unavailable: Void = ()) -> F.Instance {
        get { fatalError() }
        set { fatalError() }
    }

    /// Swaps a feature here and for all descendants that did not do so themselves.
    public func set<F: ThrowingFeature>(_ feature: F.Type, to instance: F.Instance) {
        _container.backing.change(TypedKey(F.self), .set(Payload(instance)))
    }

    /// Swaps a feature here and for all descendants that did not do so themselves.
    public func set<F: AsyncFeature>(_ feature: F.Type, to instance: F.Instance) {
        _container.backing.change(TypedKey(F.self), .set(Payload(instance)))
    }

    /// Lets a feature be made in another way, here and for all descendants that did not swap it themselves.
    ///
    /// Counts as set, though `load` runs at the next read only and its result lives here or deeper.
    public func replace<F: Feature>(
        _ feature: F.Type, load: @escaping @Sendable (any FeatureContainer) -> F.Instance
    ) {
        _container.backing.change(TypedKey(F.self), .replace(Replacement { Payload(load($0)) }))
    }

    /// Lets a feature be made in another way, here and for all descendants that did not swap it themselves.
    public func replace<Instance>(
        _ key: FeatureKey<Instance>, load: @escaping @Sendable (any FeatureContainer) -> Instance
    ) {
        _container.backing.change(TypedKey(key), .replace(Replacement { Payload(load($0)) }))
    }

    /// Lets a feature be made in another way, here and for all descendants that did not swap it themselves.
    public func replace<F: ThrowingFeature>(
        _ feature: F.Type, load: @escaping @Sendable (any FeatureContainer) throws -> F.Instance
    ) {
        _container.backing.change(TypedKey(F.self), .replace(Replacement { Payload(try load($0)) }))
    }

    /// Lets a feature be made in another way, here and for all descendants that did not swap it themselves.
    public func replace<F: AsyncFeature>(
        _ feature: F.Type, load: @escaping @Sendable (any FeatureContainer) async throws -> F.Instance
    ) {
        let replacement = Replacement(
            load: { _ in throw CancellationError() }, loadAsync: { Payload(try await load($0)) })
        _container.backing.change(TypedKey(F.self), .replace(replacement))
    }

    /// Lets a feature be made in another way, here and for all descendants that did not swap it themselves.
    public func replace<Instance>(
        _ key: KeyPath<ContainerKeys, FeatureKey<Instance>>,
        load: @escaping @Sendable (any FeatureContainer) -> Instance
    ) {
        replace(ContainerKeys()[keyPath: key], load: load)
    }

    /// Takes away what was set or loaded here: a feature is the parent's, or loads again at its next read.
    public func reset<K: Keyed>(_ key: K.Type) { _container.backing.change(TypedKey(K.self), .reset) }

    /// Takes away what was set or loaded here: a feature is the parent's, or loads again at its next read.
    public func reset<K: ValueKey>(_ key: K) { _container.backing.change(TypedKey(key), .reset) }

    /// Takes away what was set or loaded here: a feature is the parent's, or loads again at its next read.
    public func reset<K: ValueKey>(_ key: KeyPath<ContainerKeys, K>) { reset(ContainerKeys()[keyPath: key]) }

    /// Registers what is to run when what is being loaded is not needed any more: at the end of
    /// ``Container/close(deadline:)``, or when the instance leaves early. Outside a load it belongs to the container and runs
    /// last of all.
    public func onClose(_ body: @escaping @Sendable () async throws -> Void) {
        _container.backing.onClose(Closer(close: body))
    }
}

extension Container {
    // Compiled where the type is known: values of unknown size cost a load 200 instructions more.
    @inlinable @inline(never)
    func readSlowly<F: Feature>(_ feature: F.Type, _ place: SourcePlace?) -> F.Instance {
        readSlowly(Request(F.self, at: place)) { Payload(F._make(in: $0)) }.value(as: F.Instance.self)
    }

    @usableFromInline
    func readSlowly<Instance>(_ key: FeatureKey<Instance>) -> Instance {
        readSlowly(Request(key)) { Payload(key.descriptor.make(in: $0)) }.value(as: Instance.self)
    }

    // As above.
    @inlinable @inline(never)
    func readSlowly<F: ThrowingFeature>(_ feature: F.Type, _ place: SourcePlace?) throws -> F.Instance {
        try readThrowing(Request(F.self, at: place)) { Payload(try F.load(in: $0)) }.value(as: F.Instance.self)
    }

    @usableFromInline
    func readSlowly<F: AsyncFeature>(_ feature: F.Type, _ place: SourcePlace?) async throws -> F.Instance {
        try await backing.readAsync(Request(F.self, at: place), self) { Payload(try await F.load(in: $0)) }
            .value(as: F.Instance.self)
    }
}
