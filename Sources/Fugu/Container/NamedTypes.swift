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
}

extension FeatureContainer {
    /// The instance of a feature whose type ``ContainerKeys`` names: `container[\.greeter]`.
    ///
    /// A read loads the instance if there is none, and stops the program where that's impossible, as for a type.
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
    /// A read loads the instance if there is none, and stops the program where that's impossible, as for a type.
    ///
    /// - Parameter feature: The member of ``ContainerKeys`` that names the feature.
    @inlinable
    public subscript<F: Feature>(dynamicMember feature: KeyPath<ContainerKeys, F.Type>) -> F.Instance {
        @inline(__always) get { self[F.self] }
        @inline(__always) set { self[F.self] = newValue }
    }

    /// The instance of a feature that belongs to the main actor and whose type ``ContainerKeys`` names: `container[\.screen]`.
    ///
    /// A read loads the instance if there is none, and stops the program where that's impossible, as for a type.
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
    /// A read loads the instance if there is none, and stops the program where that's impossible, as for a type.
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

    /// Sets the instance of a feature, here and in all descendants that don't set it themselves.
    ///
    /// - Parameters:
    ///   - feature: The member of ``ContainerKeys`` that names the feature.
    ///   - instance: The instance that reads give from now on.
    /// - Complexity: O(*m*) for *m* observers and instances that the change concerns.
    public func set<F: FailableFeature>(_ feature: KeyPath<ContainerKeys, F.Type>, to instance: F.ContainerValue) {
        set(F.self, to: instance)
    }

    /// Replaces the load of a feature, here and in all descendants that don't set it themselves.
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

    /// Replaces the load of a feature, here and in all descendants that don't set it themselves.
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

    /// Replaces the load of a feature, here and in all descendants that don't set it themselves.
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

    /// Returns the instance of a feature that was loaded or set before, without loading anything.
    ///
    /// If there is none for this container, the program stops with a message that has the path to the feature.
    ///
    /// - Parameter feature: The member of ``ContainerKeys`` that names the feature.
    /// - Returns: The instance that a read would give without waiting.
    /// - Complexity: O(1) if the instance is inherited or was read here before; otherwise, O(*d*) for *d* ancestors.
    public func loaded<F: FailableFeature>(_ feature: KeyPath<ContainerKeys, F.Type>) -> F.ContainerValue {
        loaded(F.self)
    }
}

extension Container {
    /// Returns the instance that the container has for a feature that ``ContainerKeys`` names, without loading anything.
    ///
    /// The method looks here and in the ancestors, and doesn't wait for a load in progress. In a load, an instance that is found is
    /// an input. It never stops the program.
    ///
    /// - Parameter feature: The member of ``ContainerKeys`` that names the feature.
    /// - Returns: The instance that was set or loaded, or `nil`.
    /// - Complexity: O(*d*) for *d* ancestors.
    @MainActor public func ifLoaded<F: MainActorFeature>(_ feature: KeyPath<ContainerKeys, F.Type>) -> F.Instance? {
        ifLoaded(F.self)
    }

    /// Changes an instance in place that belongs to the main actor, and sets the result.
    ///
    /// If `body` throws, nothing changes. Writing the same feature inside `body` stops the program with a message.
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

    /// Returns a sequence of the instances of a feature that ``ContainerKeys`` names: the current one, followed by later ones.
    ///
    /// If there is no instance, it's loaded at this call.
    ///
    /// - Parameter feature: The member of ``ContainerKeys`` that names the feature.
    /// - Returns: The sequence, which you can read on any actor.
    /// - Complexity: O(*d*) for *d* ancestors.
    @MainActor public func values<F: MainActorFeature>(
        of feature: KeyPath<ContainerKeys, F.Type>
    ) -> ObservedValues<F.Instance> {
        values(of: F.self)
    }
}
