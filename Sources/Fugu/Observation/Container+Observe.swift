// MARK: Types

extension Container {
    /// Calls an observer whenever the value or instance of a type is set, reset, modified, or first loaded, here or in
    /// an ancestor that it's inherited from.
    ///
    /// Calls come one at a time, in order, on the thread that made the change, after it and outside every lock. A
    /// feature that reloads when its inputs change loads again immediately while it's observed. Setting an equal value
    /// notifies nobody. An `==` that belongs to the main actor is seen only there.
    ///
    /// - Parameters:
    ///   - key: The type to observe.
    ///   - owner: An object whose lifetime limits the observation. Without one, the observation ends with the
    ///     container.
    ///   - observer: A closure that receives the new value.
    /// - Returns: A token that ends the observation. You can ignore it.
    /// - Complexity: O(*d*) for *d* ancestors.
    @discardableResult
    @inlinable  // Specialized by the caller, a call takes 30 instructions; otherwise, 90 more.
    public func observe<K: Keyed>(
        _ key: K.Type, while owner: (any AnyObject & Sendable)? = nil, observer: @escaping @Sendable (K.Held) -> Void
    ) -> ObservationToken {
        observe(Subject(K.self), while: owner) { observer($0.value(as: K.Held.self)) }
    }

    /// Calls an observer on the main actor, in order, whenever the value or instance of a type changes as seen from
    /// here.
    ///
    /// - Parameters:
    ///   - key: The type to observe.
    ///   - owner: An object whose lifetime limits the observation. Without one, the observation ends with the
    ///     container.
    ///   - observer: A closure marked `@MainActor` that receives the new value.
    ///   - actor: The main actor. Leave it out.
    /// - Returns: A token that ends the observation. You can ignore it.
    /// - Complexity: O(*d*) for *d* ancestors.
    @discardableResult
    public func observe<K: Keyed>(
        _ key: K.Type, while owner: (any AnyObject & Sendable)? = nil,
        observer: @escaping @MainActor @Sendable (K.Held) -> Void, on actor: MainActor.Type = MainActor.self
    ) -> ObservationToken {
        observeOnMainActor(Subject(K.self), while: owner, observer)
    }
}

// MARK: Value keys

extension Container {
    /// Calls an observer whenever the value or instance of a key is set, reset, modified, or first loaded, here or in
    /// an ancestor that it's inherited from.
    ///
    /// Calls come one at a time, in order, on the thread that made the change, after it and outside every lock.
    ///
    /// - Parameters:
    ///   - key: The key to observe.
    ///   - owner: An object whose lifetime limits the observation. Without one, the observation ends with the
    ///     container.
    ///   - observer: A closure that receives the new value.
    /// - Returns: A token that ends the observation. You can ignore it.
    /// - Complexity: O(*d*) for *d* ancestors.
    @discardableResult
    @inlinable  // Specialized by the caller; see above.
    public func observe<K: ValueKey>(
        _ key: K, while owner: (any AnyObject & Sendable)? = nil, observer: @escaping @Sendable (K.Held) -> Void
    ) -> ObservationToken {
        observe(Subject(key), while: owner) { observer($0.value(as: K.Held.self)) }
    }

    /// Calls an observer on the main actor, in order, whenever the value or instance of a key changes as seen from
    /// here.
    ///
    /// - Parameters:
    ///   - key: The key to observe.
    ///   - owner: An object whose lifetime limits the observation. Without one, the observation ends with the
    ///     container.
    ///   - observer: A closure marked `@MainActor` that receives the new value.
    ///   - actor: The main actor. Leave it out.
    /// - Returns: A token that ends the observation. You can ignore it.
    /// - Complexity: O(*d*) for *d* ancestors.
    @discardableResult
    public func observe<K: ValueKey>(
        _ key: K, while owner: (any AnyObject & Sendable)? = nil,
        observer: @escaping @MainActor @Sendable (K.Held) -> Void, on actor: MainActor.Type = MainActor.self
    ) -> ObservationToken {
        observeOnMainActor(Subject(key), while: owner, observer)
    }

    /// Calls an observer whenever the value or instance of a member of ``ContainerKeys`` changes as seen from here.
    ///
    /// ```swift
    /// container.observe(\.timeout) { print("timeout is now \($0)") }
    /// ```
    ///
    /// - Parameters:
    ///   - key: The member to observe.
    ///   - owner: An object whose lifetime limits the observation. Without one, the observation ends with the
    ///     container.
    ///   - observer: A closure that receives the new value.
    /// - Returns: A token that ends the observation. You can ignore it.
    /// - Complexity: O(*d*) for *d* ancestors.
    @discardableResult
    @inlinable  // Specialized by the caller; see above.
    public func observe<K: ValueKey>(
        _ key: KeyPath<ContainerKeys, K>, while owner: (any AnyObject & Sendable)? = nil,
        observer: @escaping @Sendable (K.Held) -> Void
    ) -> ObservationToken {
        observe(ContainerKeys()[keyPath: key], while: owner, observer: observer)
    }

    /// Calls an observer on the main actor, in order, whenever the value or instance of a member of ``ContainerKeys``
    /// changes as seen from here.
    ///
    /// - Parameters:
    ///   - key: The member to observe.
    ///   - owner: An object whose lifetime limits the observation. Without one, the observation ends with the
    ///     container.
    ///   - observer: A closure marked `@MainActor` that receives the new value.
    ///   - actor: The main actor. Leave it out.
    /// - Returns: A token that ends the observation. You can ignore it.
    /// - Complexity: O(*d*) for *d* ancestors.
    @discardableResult
    public func observe<K: ValueKey>(
        _ key: KeyPath<ContainerKeys, K>, while owner: (any AnyObject & Sendable)? = nil,
        observer: @escaping @MainActor @Sendable (K.Held) -> Void, on actor: MainActor.Type = MainActor.self
    ) -> ObservationToken {
        observeOnMainActor(Subject(ContainerKeys()[keyPath: key]), while: owner, observer)
    }
}
