extension Container {
    /// Calls an observer whenever the value or instance of a type is set, reset, modified, or first loaded, here or in
    /// an ancestor that it's inherited from.
    ///
    /// Calls come one at a time, in order, after the change and outside every lock, on the thread that made the change or
    /// on one that's already delivering changes of the key.
    ///
    /// The first read of a default counts as a change, too. While a feature is observed, it loads again immediately after a reset
    /// and, if it reloads when its inputs change, after such a change. Setting an equal value doesn't notify observers. An `==`
    /// that's isolated to the main actor is used only there; elsewhere, every set notifies them.
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
    public func observe<K: NonisolatedKey>(
        _ key: K.Type, while owner: (any AnyObject & Sendable)? = nil,
        observer: @escaping @Sendable (K.ContainerValue) -> Void
    ) -> ObservationToken {
        observe(Subject(K._key), while: owner) { observer($0.value(as: K.ContainerValue.self)) }
    }

    /// Calls an observer whenever the value or instance of a key is set, reset, modified, or first loaded, here or in
    /// an ancestor that it's inherited from.
    ///
    /// ```swift
    /// container.observe(\.timeout) { print("timeout is now \($0)") }
    /// ```
    ///
    /// Calls come one at a time, in order, after the change and outside every lock, on the thread that made the change or
    /// on one that's already delivering changes of the key.
    ///
    /// The first read of a default counts as a change, too. While a feature is observed, it loads again immediately after a reset
    /// and, if it reloads when its inputs change, after such a change. Setting an equal value doesn't notify observers. An `==`
    /// that's isolated to the main actor is used only there; elsewhere, every set notifies them.
    ///
    /// - Parameters:
    ///   - key: A key path to the key to observe: `\.timeout`.
    ///   - owner: An object whose lifetime limits the observation. Without one, the observation ends with the
    ///     container.
    ///   - observer: A closure that receives the new value.
    /// - Returns: A token that ends the observation. You can ignore it.
    /// - Complexity: O(*d*) for *d* ancestors.
    @discardableResult
    @inlinable  // Specialized by the caller; see above.
    public func observe<K: ValueKey>(
        _ key: (KeyLookup) -> K, while owner: (any AnyObject & Sendable)? = nil,
        observer: @escaping @Sendable (K.ContainerValue) -> Void
    ) -> ObservationToken {
        observe(Subject(key(KeyLookup())._key), while: owner) { observer($0.value(as: K.ContainerValue.self)) }
    }

    /// Calls an observer on the main actor, in order, whenever the value or instance of a type changes as seen from
    /// here.
    ///
    /// A feature that belongs to the main actor and reloads when its inputs change loads again as soon as the main
    /// actor is free.
    ///
    /// - Parameters:
    ///   - key: The type to observe, of any kind.
    ///   - owner: An object whose lifetime limits the observation. Without one, the observation ends with the
    ///     container.
    ///   - observer: A closure that receives the new value.
    /// - Returns: A token that ends the observation. You can ignore it.
    /// - Complexity: O(*d*) for *d* ancestors.
    @discardableResult
    @MainActor public func observeOnMainActor<K: ContainerKey>(
        _ key: K.Type, while owner: (any AnyObject & Sendable)? = nil,
        observer: @escaping @MainActor @Sendable (K.ContainerValue) -> Void
    ) -> ObservationToken {
        observeOnMainActor(Subject(K._key), while: owner, observer)
    }

    /// Calls an observer on the main actor, in order, whenever the value or instance of a key changes as seen from
    /// here.
    ///
    /// - Parameters:
    ///   - key: A key path to the key to observe: `\.timeout`.
    ///   - owner: An object whose lifetime limits the observation. Without one, the observation ends with the
    ///     container.
    ///   - observer: A closure that receives the new value.
    /// - Returns: A token that ends the observation. You can ignore it.
    /// - Complexity: O(*d*) for *d* ancestors.
    @discardableResult
    @MainActor public func observeOnMainActor<K: LookedUpKey>(
        _ key: (KeyLookup) -> K, while owner: (any AnyObject & Sendable)? = nil,
        observer: @escaping @MainActor @Sendable (K.ContainerValue) -> Void
    ) -> ObservationToken {
        observeOnMainActor(Subject(key(KeyLookup())._key), while: owner, observer)
    }
}
