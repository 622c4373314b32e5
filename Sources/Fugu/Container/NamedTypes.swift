// The members of `ContainerKeys` that name a type: the type says everything, so the key path isn't evaluated.

extension PropertyContainer {
    /// The value of a property whose type ``ContainerKeys`` names: `container[\.userName]`.
    ///
    /// - Parameter property: The member of ``ContainerKeys`` that names the property.
    @inlinable
    public subscript<P: Property>(property: KeyPath<ContainerKeys, P.Type>) -> P.Value {
        @inline(__always) get { self[P.self] }
        @inline(__always) set { self[P.self] = newValue }
    }

    /// The value of a property whose type ``ContainerKeys`` names: `container.userName`.
    ///
    /// - Parameter property: The member of ``ContainerKeys`` that names the property.
    @inlinable
    public subscript<P: Property>(dynamicMember property: KeyPath<ContainerKeys, P.Type>) -> P.Value {
        @inline(__always) get { self[P.self] }
        @inline(__always) set { self[P.self] = newValue }
    }

    /// Removes the value that was set here, so that the property gives the parent's value or its default again.
    ///
    /// - Parameter property: The member of ``ContainerKeys`` that names the property.
    /// - Complexity: O(*m*) for *m* observers and instances that the change concerns.
    public func reset<P: Property>(_ property: KeyPath<ContainerKeys, P.Type>) { reset(P.self) }
}

extension FeatureContainer {
    /// The instance of a feature whose type ``ContainerKeys`` names: `container[\.greeter]`.
    ///
    /// - Parameters:
    ///   - feature: The member of ``ContainerKeys`` that names the feature.
    ///   - fileID: The file of the read, for messages.
    ///   - line: The line of the read, for messages.
    ///   - member: The function or property that reads, for messages.
    @inlinable
    public subscript<F: Feature>(
        feature: KeyPath<ContainerKeys, F.Type>, fileID: StaticString = #fileID, line: UInt = #line,
        member: StaticString = #function
    ) -> F.Instance {
        @inline(__always) get { self[F.self, fileID, line, member] }
        @inline(__always) set { self[F.self] = newValue }
    }

    /// The instance of a feature whose type ``ContainerKeys`` names: `container.greeter`.
    ///
    /// - Parameter feature: The member of ``ContainerKeys`` that names the feature.
    @inlinable
    public subscript<F: Feature>(dynamicMember feature: KeyPath<ContainerKeys, F.Type>) -> F.Instance {
        @inline(__always) get { self[F.self] }
        @inline(__always) set { self[F.self] = newValue }
    }

    /// The instance of a feature that belongs to the main actor and whose type ``ContainerKeys`` names: `container[\.screen]`.
    ///
    /// - Parameters:
    ///   - feature: The member of ``ContainerKeys`` that names the feature.
    ///   - fileID: The file of the read, for messages.
    ///   - line: The line of the read, for messages.
    @inlinable
    @MainActor
    public subscript<F: MainActorFeature>(
        feature: KeyPath<ContainerKeys, F.Type>, fileID: StaticString = #fileID, line: UInt = #line
    ) -> F.Instance {
        @inline(__always) get { self[F.self, fileID, line] }
        @inline(__always) set { self[F.self] = newValue }
    }

    /// The instance of a feature that belongs to the main actor and whose type ``ContainerKeys`` names: `container.screen`.
    ///
    /// - Parameter feature: The member of ``ContainerKeys`` that names the feature.
    @inlinable
    @MainActor
    public subscript<F: MainActorFeature>(
        dynamicMember feature: KeyPath<ContainerKeys, F.Type>
    ) -> F.Instance {
        @inline(__always) get { self[F.self] }
        @inline(__always) set { self[F.self] = newValue }
    }

    /// The instance of a feature whose load can throw and whose type ``ContainerKeys`` names: `try container[\.document]`.
    ///
    /// - Parameters:
    ///   - feature: The member of ``ContainerKeys`` that names the feature.
    ///   - fileID: The file of the read, for messages.
    ///   - line: The line of the read, for messages.
    ///   - member: The function or property that reads, for messages.
    /// - Throws: What the load throws, or ``LoadError``.
    @inlinable
    public subscript<F: ThrowingFeature>(
        feature: KeyPath<ContainerKeys, F.Type>, fileID: StaticString = #fileID, line: UInt = #line,
        member: StaticString = #function
    ) -> F.Instance {
        @inline(__always) get throws { try self[F.self, fileID, line, member] }
    }

    /// The instance of a feature whose load can throw and whose type ``ContainerKeys`` names: `try container.document`.
    ///
    /// - Parameter feature: The member of ``ContainerKeys`` that names the feature.
    /// - Throws: What the load throws, or ``LoadError``.
    @inlinable
    public subscript<F: ThrowingFeature>(dynamicMember feature: KeyPath<ContainerKeys, F.Type>) -> F.Instance {
        @inline(__always) get throws { try self[F.self] }
    }

    /// The instance of a feature whose load can suspend and whose type ``ContainerKeys`` names:
    /// `try await container[\.database]`.
    ///
    /// - Parameters:
    ///   - feature: The member of ``ContainerKeys`` that names the feature.
    ///   - fileID: The file of the read, for messages.
    ///   - line: The line of the read, for messages.
    ///   - member: The function or property that reads, for messages.
    /// - Throws: What the load throws, `CancellationError`, or ``LoadError``.
    @inlinable
    public subscript<F: AsyncFeature>(
        feature: KeyPath<ContainerKeys, F.Type>, fileID: StaticString = #fileID, line: UInt = #line,
        member: StaticString = #function
    ) -> F.Instance {
        get async throws { try await self[F.self, fileID, line, member] }
    }

    /// The instance of a feature whose load can suspend and whose type ``ContainerKeys`` names:
    /// `try await container.database`.
    ///
    /// - Parameter feature: The member of ``ContainerKeys`` that names the feature.
    /// - Throws: What the load throws, `CancellationError`, or ``LoadError``.
    @inlinable
    public subscript<F: AsyncFeature>(dynamicMember feature: KeyPath<ContainerKeys, F.Type>) -> F.Instance {
        get async throws { try await self[F.self] }
    }

    /// Swaps a feature here and in all descendants that don't swap it themselves.
    ///
    /// - Parameters:
    ///   - feature: The member of ``ContainerKeys`` that names the feature.
    ///   - instance: The instance that reads give from now on.
    /// - Complexity: O(*m*) for *m* observers and instances that the change concerns.
    public func set<F: ThrowingFeature>(_ feature: KeyPath<ContainerKeys, F.Type>, to instance: F.Instance) {
        set(F.self, to: instance)
    }

    /// Swaps a feature here and in all descendants that don't swap it themselves.
    ///
    /// - Parameters:
    ///   - feature: The member of ``ContainerKeys`` that names the feature.
    ///   - instance: The instance that reads give from now on.
    /// - Complexity: O(*m*) for *m* observers and instances that the change concerns.
    public func set<F: AsyncFeature>(_ feature: KeyPath<ContainerKeys, F.Type>, to instance: F.Instance) {
        set(F.self, to: instance)
    }

    /// Replaces the load of a feature, here and in all descendants that don't swap it themselves.
    ///
    /// - Parameters:
    ///   - feature: The member of ``ContainerKeys`` that names the feature.
    ///   - load: A closure that creates the instance, like `load(in:)`.
    /// - Complexity: O(*m*) for *m* observers and instances that the change concerns.
    public func replace<F: Feature>(
        _ feature: KeyPath<ContainerKeys, F.Type>, load: @escaping @Sendable (any FeatureContainer) -> F.Instance
    ) {
        replace(F.self, load: load)
    }

    /// Replaces the load of a feature, here and in all descendants that don't swap it themselves.
    ///
    /// - Parameters:
    ///   - feature: The member of ``ContainerKeys`` that names the feature.
    ///   - load: A closure that creates the instance on the main actor, like `load(in:)`.
    /// - Complexity: O(*m*) for *m* observers and instances that the change concerns.
    @MainActor public func replace<F: MainActorFeature>(
        _ feature: KeyPath<ContainerKeys, F.Type>,
        load: @escaping @MainActor @Sendable (any FeatureContainer) -> F.Instance
    ) {
        replace(F.self, load: load)
    }

    /// Replaces the load of a feature, here and in all descendants that don't swap it themselves.
    ///
    /// - Parameters:
    ///   - feature: The member of ``ContainerKeys`` that names the feature.
    ///   - load: A closure that creates the instance, like `load(in:)`.
    /// - Complexity: O(*m*) for *m* observers and instances that the change concerns.
    public func replace<F: ThrowingFeature>(
        _ feature: KeyPath<ContainerKeys, F.Type>,
        load: @escaping @Sendable (any FeatureContainer) throws -> F.Instance
    ) {
        replace(F.self, load: load)
    }

    /// Replaces the load of a feature, here and in all descendants that don't swap it themselves.
    ///
    /// - Parameters:
    ///   - feature: The member of ``ContainerKeys`` that names the feature.
    ///   - load: A closure that creates the instance, like `load(in:)`.
    /// - Complexity: O(*m*) for *m* observers and instances that the change concerns.
    public func replace<F: AsyncFeature>(
        _ feature: KeyPath<ContainerKeys, F.Type>,
        load: @escaping @Sendable (any FeatureContainer) async throws -> F.Instance
    ) {
        replace(F.self, load: load)
    }

    /// Removes the value or instance that was set or loaded here.
    ///
    /// - Parameter key: The member of ``ContainerKeys`` that names the type.
    /// - Complexity: O(*m*) for *m* observers and instances that the change concerns.
    public func reset<K: Keyed>(_ key: KeyPath<ContainerKeys, K.Type>) { reset(K.self) }

    /// Removes the instance that was set or loaded here.
    ///
    /// - Parameter feature: The member of ``ContainerKeys`` that names the feature.
    /// - Complexity: O(*m*) for *m* observers and instances that the change concerns.
    @MainActor public func reset<F: MainActorFeature>(_ feature: KeyPath<ContainerKeys, F.Type>) { reset(F.self) }

    /// Returns the instance of a feature that was loaded or set before, without loading anything.
    ///
    /// If there is none for this container, the program stops with a message that shows the path that led here.
    ///
    /// - Parameter feature: The member of ``ContainerKeys`` that names the feature.
    /// - Returns: The instance that a read would give without waiting.
    /// - Complexity: O(1) if the instance is inherited or was read here before; otherwise, O(*d*) for *d* ancestors.
    public func loaded<F: AsyncFeature>(_ feature: KeyPath<ContainerKeys, F.Type>) -> F.Instance { loaded(F.self) }

    /// Returns the instance of a feature that was loaded or set before, without loading anything.
    ///
    /// If there is none for this container, the program stops with a message that shows the path that led here.
    ///
    /// - Parameter feature: The member of ``ContainerKeys`` that names the feature.
    /// - Returns: The instance that a read would give without loading.
    /// - Complexity: O(1) if the instance is inherited or was read here before; otherwise, O(*d*) for *d* ancestors.
    public func loaded<F: ThrowingFeature>(_ feature: KeyPath<ContainerKeys, F.Type>) -> F.Instance { loaded(F.self) }
}

extension Container {
    /// Returns the value or instance that the container has for a type that ``ContainerKeys`` names, without loading
    /// anything.
    ///
    /// - Parameter key: The member of ``ContainerKeys`` that names the type.
    /// - Returns: The value or instance that was set or loaded, or `nil`.
    /// - Complexity: O(*d*) for *d* ancestors.
    public func ifLoaded<K: Keyed>(_ key: KeyPath<ContainerKeys, K.Type>) -> K.Held? { ifLoaded(K.self) }

    /// Returns the instance that the container has for a feature that ``ContainerKeys`` names, without loading anything.
    ///
    /// - Parameter feature: The member of ``ContainerKeys`` that names the feature.
    /// - Returns: The instance that was set or loaded, or `nil`.
    /// - Complexity: O(*d*) for *d* ancestors.
    @MainActor public func ifLoaded<F: MainActorFeature>(_ feature: KeyPath<ContainerKeys, F.Type>) -> F.Instance? {
        ifLoaded(F.self)
    }

    /// Changes the value of a property whose type ``ContainerKeys`` names, and excludes other writes of it in this container.
    ///
    /// - Parameters:
    ///   - property: The member of ``ContainerKeys`` that names the property.
    ///   - body: A closure that changes the value.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws.
    /// - Complexity: O(*m*) for *m* observers and instances that the change concerns.
    public func modify<P: Property, R, E>(
        _ property: KeyPath<ContainerKeys, P.Type>, _ body: (inout P.Value) throws(E) -> R
    ) throws(E) -> R {
        try modify(P.self, body)
    }

    /// Changes a part of a feature whose type ``ContainerKeys`` names, and excludes other writes of it in this container.
    ///
    /// - Parameters:
    ///   - feature: The member of ``ContainerKeys`` that names the feature.
    ///   - body: A closure that changes the instance.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws.
    /// - Complexity: O(*m*) for *m* observers and instances that the change concerns.
    public func modify<F: Feature, R, E>(
        _ feature: KeyPath<ContainerKeys, F.Type>, _ body: (inout F.Instance) throws(E) -> R
    ) throws(E) -> R {
        try modify(F.self, body)
    }

    /// Changes an instance in place that belongs to the main actor, and sets the result.
    ///
    /// - Parameters:
    ///   - feature: The member of ``ContainerKeys`` that names the feature.
    ///   - body: A closure that changes the instance.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws.
    /// - Complexity: O(*m*) for *m* observers and instances that the change concerns.
    @MainActor public func modify<F: MainActorFeature, R, E>(
        _ feature: KeyPath<ContainerKeys, F.Type>, _ body: (inout F.Instance) throws(E) -> R
    ) throws(E) -> R {
        try modify(F.self, body)
    }

    /// Calls an observer whenever the value or instance of a type that ``ContainerKeys`` names changes as seen from here.
    ///
    /// - Parameters:
    ///   - key: The member of ``ContainerKeys`` that names the type.
    ///   - owner: An object whose lifetime limits the observation. Without one, the observation ends with the
    ///     container.
    ///   - observer: A closure that receives the new value.
    /// - Returns: A token that ends the observation. You can ignore it.
    /// - Complexity: O(*d*) for *d* ancestors.
    @discardableResult
    @inlinable
    public func observe<K: Keyed>(
        _ key: KeyPath<ContainerKeys, K.Type>, while owner: (any AnyObject & Sendable)? = nil,
        observer: @escaping @Sendable (K.Held) -> Void
    ) -> ObservationToken {
        observe(K.self, while: owner, observer: observer)
    }

    /// Calls an observer on the main actor, in order, whenever the value or instance of a type that ``ContainerKeys`` names
    /// changes as seen from here.
    ///
    /// - Parameters:
    ///   - key: The member of ``ContainerKeys`` that names the type.
    ///   - owner: An object whose lifetime limits the observation. Without one, the observation ends with the
    ///     container.
    ///   - observer: A closure marked `@MainActor` that receives the new value.
    ///   - actor: The main actor. Leave it out.
    /// - Returns: A token that ends the observation. You can ignore it.
    /// - Complexity: O(*d*) for *d* ancestors.
    @discardableResult
    public func observe<K: Keyed>(
        _ key: KeyPath<ContainerKeys, K.Type>, while owner: (any AnyObject & Sendable)? = nil,
        observer: @escaping @MainActor @Sendable (K.Held) -> Void, on actor: MainActor.Type = MainActor.self
    ) -> ObservationToken {
        observeOnMainActor(Subject(K.self), while: owner, observer)
    }

    /// Calls an observer on the main actor, in order, whenever the instance of a feature that ``ContainerKeys`` names changes
    /// as seen from here.
    ///
    /// - Parameters:
    ///   - feature: The member of ``ContainerKeys`` that names the feature, which belongs to the main actor.
    ///   - owner: An object whose lifetime limits the observation. Without one, the observation ends with the
    ///     container.
    ///   - observer: A closure that receives the new instance.
    /// - Returns: A token that ends the observation. You can ignore it.
    /// - Complexity: O(*d*) for *d* ancestors.
    @discardableResult
    @MainActor public func observe<F: MainActorFeature>(
        _ feature: KeyPath<ContainerKeys, F.Type>, while owner: (any AnyObject & Sendable)? = nil,
        observer: @escaping @MainActor @Sendable (F.Instance) -> Void
    ) -> ObservationToken {
        observe(F.self, while: owner, observer: observer)
    }

    /// Returns a sequence of the values of a type that ``ContainerKeys`` names: the present one, and then later ones.
    ///
    /// - Parameter key: The member of ``ContainerKeys`` that names the type.
    /// - Returns: The sequence.
    /// - Complexity: O(*d*) for *d* ancestors.
    public func values<K: Keyed>(of key: KeyPath<ContainerKeys, K.Type>) -> Values<K.Held> { values(of: K.self) }

    /// Returns a sequence of the instances of a feature that ``ContainerKeys`` names: the present one, and then later ones.
    ///
    /// - Parameter feature: The member of ``ContainerKeys`` that names the feature, which belongs to the main actor.
    /// - Returns: The sequence, which you can read on any actor.
    /// - Complexity: O(*d*) for *d* ancestors.
    @MainActor public func values<F: MainActorFeature>(
        of feature: KeyPath<ContainerKeys, F.Type>
    ) -> Values<F.Instance> {
        values(of: F.self)
    }
}

extension WarmUp {
    /// Adds a feature whose type ``ContainerKeys`` names.
    ///
    /// - Parameter feature: The member of ``ContainerKeys`` that names the feature.
    public mutating func load<F: Feature>(_ feature: KeyPath<ContainerKeys, F.Type>) { load(F.self) }

    /// Adds a feature whose type ``ContainerKeys`` names and that belongs to the main actor.
    ///
    /// - Parameter feature: The member of ``ContainerKeys`` that names the feature.
    @MainActor public mutating func load<F: MainActorFeature>(_ feature: KeyPath<ContainerKeys, F.Type>) {
        load(F.self)
    }

    /// Adds a feature whose type ``ContainerKeys`` names and whose load can throw.
    ///
    /// - Parameter feature: The member of ``ContainerKeys`` that names the feature.
    public mutating func load<F: ThrowingFeature>(_ feature: KeyPath<ContainerKeys, F.Type>) { load(F.self) }

    /// Adds a feature whose type ``ContainerKeys`` names and whose load can suspend.
    ///
    /// - Parameter feature: The member of ``ContainerKeys`` that names the feature.
    public mutating func load<F: AsyncFeature>(_ feature: KeyPath<ContainerKeys, F.Type>) { load(F.self) }
}

extension Injected {
    /// Creates a wrapper that reads a property at each access.
    ///
    /// - Parameters:
    ///   - property: The member of ``ContainerKeys`` that names the property.
    ///   - fileID: The file of the wrapper, for messages.
    ///   - line: The line of the wrapper, for messages.
    @inlinable
    public init<P: Property>(
        _ property: KeyPath<ContainerKeys, P.Type>, fileID: StaticString = #fileID, line: UInt = #line
    ) where Value == P.Value {
        self.init(P.self, fileID: fileID, line: line)
    }

    /// Creates a wrapper that reads a feature at each access.
    ///
    /// - Parameters:
    ///   - feature: The member of ``ContainerKeys`` that names the feature.
    ///   - fileID: The file of the wrapper, for messages.
    ///   - line: The line of the wrapper, for messages.
    @inlinable
    public init<F: Feature>(
        _ feature: KeyPath<ContainerKeys, F.Type>, fileID: StaticString = #fileID, line: UInt = #line
    ) where Value == F.Instance {
        self.init(F.self, fileID: fileID, line: line)
    }
}
