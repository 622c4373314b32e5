extension Container {
    /// Removes everything that was set or loaded in this container.
    ///
    /// Inherited values and instances stay.
    ///
    /// - Complexity: O(*n*) for *n* keys that were set, loaded, or read in this container, instances that reload because of
    ///   them, and loads in progress in the family.
    public func resetAll() {
        checkMayChange(nil)
        let node = node
        node.family.resetAll(in: node)
    }

    /// Returns the value or instance that the container has for a type, without loading anything.
    ///
    /// - Parameter key: The type to look for.
    /// - Returns: The value or instance that was set or loaded, or `nil`.
    /// - Complexity: O(*d*) for *d* ancestors.
    public func ifLoaded<K: NonisolatedKey>(_ key: K.Type) -> K.ContainerValue? {
        ifLoaded(K._key)?.value(as: K.ContainerValue.self)
    }

    /// Returns the value or instance that the container has for a key, without loading anything.
    ///
    /// - Parameter key: A key path to the key to look for: `\.timeout`.
    /// - Returns: The value or instance that was set or loaded, or `nil`.
    /// - Complexity: O(*d*) for *d* ancestors.
    public func ifLoaded<K: ValueKey>(_ key: (KeyLookup) -> K) -> K.ContainerValue? {
        ifLoaded(key(KeyLookup())._key)?.value(as: K.ContainerValue.self)
    }

    private func ifLoaded(_ definition: KeyDefinition) -> Payload? {
        present(Key(raw: definition.raw), definition.naming)
    }

    /// Changes the value of a property in place, and excludes other writes of it in this container.
    ///
    /// In the meantime, reads give the old value, and other writers wait. If `body` throws, nothing changes. Writing
    /// the same property inside `body`, or waiting there for another writer of it, stops the program with a message.
    ///
    /// - Parameters:
    ///   - property: The property to change.
    ///   - body: A closure that changes the value.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws.
    /// - Complexity: O(*m*) for *m* observers and instances that the change concerns.
    public func modify<P: Property, R, E>(
        _ property: P.Type, _ body: (inout P.Value) throws(E) -> R
    ) throws(E) -> R {
        try modify(TypedKey(P.self), read: { self[P.self] }, body)
    }

    /// Changes a part of a feature and sets the result, and excludes other writes of it in this container.
    ///
    /// The closure receives the instance that was set or loaded. In a strict container, it receives the placeholder of
    /// an external feature that wasn't swapped, and this read doesn't fail the test; calling a part that wasn't swapped
    /// does.
    ///
    ///     container.modify(Audio.self) { $0.volume = { 0.5 } }
    ///
    /// If `body` throws, nothing changes. Other writers wait for the end. Writing the same feature inside `body`, or
    /// waiting there for another writer of it, stops the program with a message.
    ///
    /// - Parameters:
    ///   - feature: The feature to change.
    ///   - body: A closure that changes the instance.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws.
    /// - Complexity: O(*m*) for *m* observers and instances that the change concerns.
    public func modify<F: Feature, R, E>(
        _ feature: F.Type, _ body: (inout F.Instance) throws(E) -> R
    ) throws(E) -> R {
        try modify(TypedKey(F.self), read: { self[F.self] }, body)
    }

    /// Changes the value of a property in place, and excludes other writes of it in this container.
    ///
    /// - Parameters:
    ///   - key: A key path to the property: `\.timeout`.
    ///   - body: A closure that changes the value.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws.
    /// - Complexity: O(*m*) for *m* observers and instances that the change concerns.
    public func modify<Value, R, E>(
        _ key: (KeyLookup) -> PropertyKey<Value>, _ body: (inout Value) throws(E) -> R
    ) throws(E) -> R {
        let key = key(KeyLookup())
        return try modify(TypedKey(key), read: { self[key] }, body)
    }

    /// Changes a part of a feature and sets the result, and excludes other writes of it in this container.
    ///
    /// - Parameters:
    ///   - key: A key path to the feature: `\.greeter`.
    ///   - body: A closure that changes the instance.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws.
    /// - Complexity: O(*m*) for *m* observers and instances that the change concerns.
    public func modify<Instance, R, E>(
        _ key: (KeyLookup) -> FeatureKey<Instance>, _ body: (inout Instance) throws(E) -> R
    ) throws(E) -> R {
        let key = key(KeyLookup())
        return try modify(TypedKey(key), read: { self[key] }, body)
    }

    func modify<Value: Sendable, R, E>(
        _ key: TypedKey, read: () -> Value, _ body: (inout Value) throws(E) -> R
    ) throws(E) -> R {
        checkMayChange(key.key)
        var answer: R?
        try runModify(key, read: { Payload(read()) }) { payload throws(E) in
            var value = payload.value(as: Value.self)
            answer = try body(&value)
            return Payload(value)
        }
        return answer!
    }

    /// Publishes several changes together, or none of them if the closure throws.
    ///
    /// Reads through the handle give pending values; loads see published values only. Observers are notified once of
    /// each changed key. An update inside another one of the family joins it if the same thread or task begins it. An
    /// update is atomic, not isolated: to count, use `modify`.
    ///
    /// - Parameter body: A closure that makes the changes through the handle that it receives.
    /// - Throws: What `body` throws.
    /// - Complexity: O(*n* + *m*) for *n* changes and *m* observers and instances that they concern.
    public func update<E>(_ body: (any FeatureContainer) throws(E) -> Void) throws(E) {
        checkMayChange(nil)
        try runUpdate(body)
    }
}
