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
    @_alwaysEmitIntoClient  // Specialized by the caller, a call takes 30 instructions; otherwise, 90 more.
    public func observe<K: ContainerKey>(
        _ key: K.Type, while owner: (any AnyObject & Sendable)? = nil,
        observer: @escaping @Sendable (K.ContainerValue) -> Void
    ) -> ObservationToken {
        observe(Subject(K._key), while: owner, observer)
    }

    /// Calls an observer whenever the value or instance of a key is set, reset, modified, or first loaded, here or in
    /// an ancestor that it's inherited from.
    ///
    /// ```swift
    /// container.observe(\.timeout) { print("timeout is now \($0)") }
    /// container.observe({ _ in limit(of: "ada") }) { print("her limit is now \($0)") }
    /// ```
    ///
    /// See `observe(_:while:observer:)` of a type for when it's called, and where.
    ///
    /// - Parameters:
    ///   - key: A key path to the key to observe: `\.timeout`.
    ///   - owner: An object whose lifetime limits the observation. Without one, the observation ends with the
    ///     container.
    ///   - observer: A closure that receives the new value.
    /// - Returns: A token that ends the observation. You can ignore it.
    /// - Complexity: O(*d*) for *d* ancestors.
    @discardableResult
    @_alwaysEmitIntoClient  // Specialized by the caller; see above.
    public func observe<K: ValueKey>(
        _ key: (ContainerKeys) -> K, while owner: (any AnyObject & Sendable)? = nil,
        observer: @escaping @Sendable (K.Value) -> Void
    ) -> ObservationToken {
        observe(Subject(key(ContainerKeys())._key), while: owner, observer)
    }
}
