// MARK: Types

extension Container {
    /// Calls an observer whenever what a type names is set, reset, modified, or first loaded, here or where it's inherited.
    ///
    /// Calls come one at a time, in order, on the thread that made the change, after it and outside every lock. A feature
    /// that reloads when its inputs change loads again at once while it's observed.
    ///
    /// - Parameters:
    ///   - key: The type to observe.
    ///   - owner: An object with whose life the observation ends. Without one it ends with the container.
    ///   - observer: A closure that receives the new value.
    /// - Returns: A token that ends the observation. You can ignore it.
    @discardableResult
    @inlinable  // Where the type is known, a call takes 30 instructions; elsewhere 90 more.
    public func observe<K: Keyed & SendableMetatype>(
        _ key: K.Type, while owner: (any AnyObject & Sendable)? = nil, observer: @escaping @Sendable (K.Held) -> Void
    ) -> ObservationToken {
        observe(Subject(K.self), while: owner) { observer($0.value(as: K.Held.self)) }
    }

    /// Calls an observer whenever what a type that belongs to an actor names is set, reset, modified, or first loaded.
    ///
    /// Calls come one at a time, in order, on the thread that made the change, after it and outside every lock. What was
    /// dropped is loaded at its next read, not at once.
    ///
    /// - Parameters:
    ///   - key: The type to observe.
    ///   - owner: An object with whose life the observation ends. Without one it ends with the container.
    ///   - observer: A closure that receives the new value.
    /// - Returns: A token that ends the observation. You can ignore it.
    @discardableResult
    @inlinable  // As above.
    public func observe<K: Keyed>(
        _ key: K.Type, while owner: (any AnyObject & Sendable)? = nil, observer: @escaping @Sendable (K.Held) -> Void
    ) -> ObservationToken {
        observe(Subject(isolated: K.self), while: owner) { observer($0.value(as: K.Held.self)) }
    }

    /// Calls an observer on the main actor, in order, whenever what a type names changes as seen from here.
    ///
    /// - Parameters:
    ///   - key: The type to observe.
    ///   - owner: An object with whose life the observation ends. Without one it ends with the container.
    ///   - observer: A closure marked `@MainActor` that receives the new value.
    ///   - actor: The main actor. Leave it out.
    /// - Returns: A token that ends the observation. You can ignore it.
    @discardableResult
    public func observe<K: Keyed & SendableMetatype>(
        _ key: K.Type, while owner: (any AnyObject & Sendable)? = nil,
        observer: @escaping @MainActor @Sendable (K.Held) -> Void, on actor: MainActor.Type = MainActor.self
    ) -> ObservationToken {
        observeOnMainActor(Subject(K.self), while: owner, observer)
    }

    /// Calls an observer on the main actor, in order, whenever what a type that belongs to an actor names changes as seen
    /// from here.
    ///
    /// What was dropped is loaded at its next read, not at once.
    ///
    /// - Parameters:
    ///   - key: The type to observe.
    ///   - owner: An object with whose life the observation ends. Without one it ends with the container.
    ///   - observer: A closure marked `@MainActor` that receives the new value.
    ///   - actor: The main actor. Leave it out.
    /// - Returns: A token that ends the observation. You can ignore it.
    @discardableResult
    public func observe<K: Keyed>(
        _ key: K.Type, while owner: (any AnyObject & Sendable)? = nil,
        observer: @escaping @MainActor @Sendable (K.Held) -> Void, on actor: MainActor.Type = MainActor.self
    ) -> ObservationToken {
        observeOnMainActor(Subject(isolated: K.self), while: owner, observer)
    }
}

// MARK: Value keys

extension Container {
    /// Calls an observer whenever what a key names is set, reset, modified, or first loaded, here or where it's inherited.
    ///
    /// Calls come one at a time, in order, on the thread that made the change, after it and outside every lock.
    ///
    /// - Parameters:
    ///   - key: The key to observe.
    ///   - owner: An object with whose life the observation ends. Without one it ends with the container.
    ///   - observer: A closure that receives the new value.
    /// - Returns: A token that ends the observation. You can ignore it.
    @discardableResult
    @inlinable  // As above.
    public func observe<K: ValueKey>(
        _ key: K, while owner: (any AnyObject & Sendable)? = nil, observer: @escaping @Sendable (K.Held) -> Void
    ) -> ObservationToken {
        observe(Subject(key), while: owner) { observer($0.value(as: K.Held.self)) }
    }

    /// Calls an observer on the main actor, in order, whenever what a key names changes as seen from here.
    ///
    /// - Parameters:
    ///   - key: The key to observe.
    ///   - owner: An object with whose life the observation ends. Without one it ends with the container.
    ///   - observer: A closure marked `@MainActor` that receives the new value.
    ///   - actor: The main actor. Leave it out.
    /// - Returns: A token that ends the observation. You can ignore it.
    @discardableResult
    public func observe<K: ValueKey>(
        _ key: K, while owner: (any AnyObject & Sendable)? = nil,
        observer: @escaping @MainActor @Sendable (K.Held) -> Void, on actor: MainActor.Type = MainActor.self
    ) -> ObservationToken {
        observeOnMainActor(Subject(key), while: owner, observer)
    }

    /// Calls an observer whenever what a member of ``ContainerKeys`` names changes as seen from here.
    ///
    /// ```swift
    /// container.observe(\.timeout) { print("timeout is now \($0)") }
    /// ```
    ///
    /// - Parameters:
    ///   - key: The member to observe.
    ///   - owner: An object with whose life the observation ends. Without one it ends with the container.
    ///   - observer: A closure that receives the new value.
    /// - Returns: A token that ends the observation. You can ignore it.
    @discardableResult
    @inlinable  // As above.
    public func observe<K: ValueKey>(
        _ key: KeyPath<ContainerKeys, K>, while owner: (any AnyObject & Sendable)? = nil,
        observer: @escaping @Sendable (K.Held) -> Void
    ) -> ObservationToken {
        observe(ContainerKeys()[keyPath: key], while: owner, observer: observer)
    }

    /// Calls an observer on the main actor, in order, whenever what a member of ``ContainerKeys`` names changes as seen from
    /// here.
    ///
    /// - Parameters:
    ///   - key: The member to observe.
    ///   - owner: An object with whose life the observation ends. Without one it ends with the container.
    ///   - observer: A closure marked `@MainActor` that receives the new value.
    ///   - actor: The main actor. Leave it out.
    /// - Returns: A token that ends the observation. You can ignore it.
    @discardableResult
    public func observe<K: ValueKey>(
        _ key: KeyPath<ContainerKeys, K>, while owner: (any AnyObject & Sendable)? = nil,
        observer: @escaping @MainActor @Sendable (K.Held) -> Void, on actor: MainActor.Type = MainActor.self
    ) -> ObservationToken {
        observeOnMainActor(Subject(ContainerKeys()[keyPath: key]), while: owner, observer)
    }
}
