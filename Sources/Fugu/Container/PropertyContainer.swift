/// A type from which you read properties: a ``Container``, the handle of a rule, or an ``ObservableContainer``.
///
/// You can read and write from any thread. A first read evaluates the default, and Fugu holds no lock while it does. While a load
/// runs, its handle only reads: setting or resetting anything through it stops the program.
@dynamicMemberLookup
public protocol PropertyContainer: AnyObject, Sendable {
    /// The storage that inlined reads use. Don't access it directly.
    var _storage: StorageReference { get }
    /// The container that answers if the storage doesn't. Don't access it directly.
    var _container: Container { get }
}

extension PropertyContainer {
    /// The value of a property.
    ///
    /// A read looks here, and then in the ancestors, nearest first. In each, what code set comes before what a rule set, and that
    /// before the sources. If none of them has a value, the read gives the default; if the property is required, it stops the
    /// program.
    ///
    /// - Parameter property: The type of the property.
    /// - Complexity: A read takes O(1) after the first one. A set takes O(*m*) for *m* observers and
    ///   instances that the change concerns.
    @_alwaysEmitIntoClient
    public subscript<P: Property>(property: P.Type) -> P.Value {
        @inline(__always) get {
            let present = _storage.read(Key.property(P.self), as: P.Value.self)
            extendLifetime(self)
            if let present { return present }
            return _container.readSlowly(P.self)
        }
        set {
            _container.set(TypedKey(Key.property(P.self), of: P.Value.self), Payload(newValue))
        }
    }

    /// The value of a key's property.
    ///
    /// A read looks for it as for a type.
    ///
    /// - Parameter key: The key.
    /// - Complexity: A read takes O(1) after the first one. A set takes O(*m*) for *m* observers and
    ///   instances that the change concerns.
    @_alwaysEmitIntoClient
    public subscript<Value>(key: PropertyKey<Value>) -> Value {
        @inline(__always) get {
            let present = _storage.read(key.raw, as: Value.self)
            extendLifetime(self)
            if let present { return present }
            return _container.readSlowly(key)
        }
        set {
            _container.set(TypedKey(key.raw, of: Value.self), Payload(newValue))
        }
    }

    /// The value of a property that ``ContainerKeys`` declares: `container.timeout`.
    ///
    /// A read looks for it as for a type.
    ///
    /// - Parameter key: The member of ``ContainerKeys`` that declares the property.
    @_alwaysEmitIntoClient
    public subscript<Value>(dynamicMember key: KeyPath<ContainerKeys, PropertyKey<Value>>) -> Value {
        // A literal key path is free, but only if the compiler sees it together with its use.
        @inline(__always) get { self[ContainerKeys()[keyPath: key]] }
        @inline(__always) set { self[ContainerKeys()[keyPath: key]] = newValue }
    }

    /// Removes the value or instance that was set or loaded here.
    ///
    /// A property then gives the value of a source, the parent's value, or its default, and a feature gives the parent's instance
    /// or loads again at the next read.
    ///
    /// - Parameter key: The type of the property or feature.
    /// - Complexity: O(*m*) for *m* observers and instances that the change concerns.
    public func reset<K: ContainerKey>(_ key: K.Type) { _container.change(TypedKey(K.self), to: .nothing) }

    /// Removes the value or instance that was set or loaded here.
    ///
    /// A property then gives the value of a source, the parent's value, or its default, and a feature gives the parent's instance
    /// or loads again at the next read.
    ///
    /// - Parameter key: A key path to the key: `\.timeout`.
    /// - Complexity: O(*m*) for *m* observers and instances that the change concerns.
    public func reset<K: ValueKey>(_ key: (ContainerKeys) -> K) {
        _container.change(TypedKey(key(ContainerKeys())), to: .nothing)
    }
}

extension Container {
    // Specialized by the caller: for a value of unknown size, a load takes 200 instructions more.
    @_alwaysEmitIntoClient @inline(never)
    func readSlowly<P: Property>(_ property: P.Type) -> P.Value {
        readSlowly(Key.property(P.self), nil, { Request(property) }) { _ in Payload(P.defaultValue) }
            .value(as: P.Value.self)
    }

    @usableFromInline
    func readSlowly<Value>(_ key: PropertyKey<Value>) -> Value {
        readSlowly(key.raw, key.naming, { Request(key) }) { _ in Payload(key.descriptor.defaultValue()) }
            .value(as: Value.self)
    }

    /// Sets a value, on a fast path if nothing else depends on it.
    @usableFromInline
    func set(_ key: TypedKey, _ payload: Payload) {
        let isDone = _storage.exchangeAlone(key.raw, payload).map {
            $0 || !isView && asked.setAlone(key.key, payload)
        }
        if isDone != true { change(key, to: .value(payload)) }
    }

    /// Reads a key of a kind that can't throw; the engine stops the program where other kinds throw.
    @usableFromInline
    func readSlowly(
        _ raw: UInt, _ naming: (any KeyNaming)?, _ request: () -> Request, _ load: (Container) -> Payload
    ) -> Payload {
        do {
            return try read(Key(raw: raw), naming, request, load)
        } catch {
            fatalError("\(error)")
        }
    }

    @usableFromInline
    func readThrowing(
        _ raw: UInt, _ request: () -> Request, _ load: (Container) throws -> Payload
    ) throws -> Payload {
        do {
            return try read(Key(raw: raw), nil, request, load)
        } catch let error as LoadError {
            throw error.read(at: request().readPlace)
        }
    }
}
