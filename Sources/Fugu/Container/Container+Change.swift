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
    /// The method looks here and in the ancestors. It finds what code, a rule, or a source set, and what was loaded, including a
    /// default that was read before; it neither loads anything nor waits for a load in progress. The first use of a name in a
    /// family asks the sources, on the calling thread. In a load, an instance that is found is an input; `nil` isn't recorded.
    /// Since nothing is loaded, a test doesn't fail if it hasn't set an external feature: the method returns `nil`.
    ///
    /// You can call the method on any thread. It never stops the program.
    ///
    /// - Parameter key: The type to look for.
    /// - Returns: The value or instance that was set or loaded, or `nil`. A closed container has only the instances that it
    ///   inherits.
    /// - Complexity: O(*d*) for *d* ancestors. The first use of a name asks *s* sources in addition.
    public func ifLoaded<K: ContainerKey>(_ key: K.Type) -> K.ContainerValue? { ifLoaded(K._key) }

    /// Returns the value or instance that the container has for a key, without loading anything.
    ///
    /// See `ifLoaded(_:)` of a type.
    ///
    /// - Parameter key: A key path to the key to look for: `\.timeout`.
    /// - Returns: The value or instance that was set or loaded, or `nil`.
    /// - Complexity: O(*d*) for *d* ancestors. The first use of a name asks *s* sources in addition.
    public func ifLoaded<K: ValueKey>(_ key: (ContainerKeys) -> K) -> K.Value? { ifLoaded(key(ContainerKeys())._key) }

    private func ifLoaded<Value: Sendable>(_ definition: KeyDefinition) -> Value? {
        present(Key(raw: definition.raw), definition.naming)?.value(as: Value.self)
    }

    /// Changes a value or an instance in place, so that no other change of it is lost.
    ///
    /// The closure receives what was set or loaded, or the default of a property. In a strict container, it receives the
    /// placeholder of an external feature that wasn't set, and this read doesn't fail the test; calling a part that wasn't set
    /// does.
    ///
    ///     container.modify(Audio.self) { $0.volume = { 0.5 } }
    ///
    /// In the meantime, reads give the old value. If something else has changed it when `body` returns, `body` runs again with the
    /// new value, and only its last result counts, so let it do nothing but change what it receives. If it throws, nothing changes.
    ///
    /// - Parameters:
    ///   - key: The type of the property or feature.
    ///   - body: A closure that changes the value, and may run several times.
    /// - Returns: What `body` returns in the last run.
    /// - Throws: What `body` throws.
    /// - Complexity: O(*m*) for *m* observers and instances that the change concerns.
    public func modify<K: PlainKey, R, E>(
        _ key: K.Type, _ body: (inout K.ContainerValue) throws(E) -> R
    ) throws(E) -> R {
        try modify(K._key, body)
    }

    /// Changes a value or an instance in place, so that no other change of it is lost.
    ///
    /// See `modify(_:_:)` of a type.
    ///
    /// - Parameters:
    ///   - key: A key path to the property or feature: `\.timeout`.
    ///   - body: A closure that changes the value, and may run several times.
    /// - Returns: What `body` returns in the last run.
    /// - Throws: What `body` throws.
    /// - Complexity: O(*m*) for *m* observers and instances that the change concerns.
    public func modify<K: PlainValueKey, R, E>(
        _ key: (ContainerKeys) -> K, _ body: (inout K.Value) throws(E) -> R
    ) throws(E) -> R {
        try modify(key(ContainerKeys())._key, body)
    }

    private func modify<Value: Sendable, R, E>(
        _ definition: KeyDefinition, _ body: (inout Value) throws(E) -> R
    ) throws(E) -> R {
        let key = TypedKey(definition.raw, of: Value.self)
        checkMayChange(key.key)
        var runs = 0
        while true {
            let (old, given) = presentOrLoaded(definition)
            var value = given.value(as: Value.self)
            let answer = try body(&value)
            if exchange(key, old, for: Payload(value)) { return answer }
            runs += 1
            if runs == 1_000 { report(Messages.modifiesAgain(key.key)) }
        }
    }

    /// Returns what's there, and what a read gives, which isn't there if it wasn't kept, like a placeholder.
    private func presentOrLoaded(_ definition: KeyDefinition) -> (present: Payload?, given: Payload) {
        let key = Key(raw: definition.raw)
        if let present = present(key, definition.naming) { return (present, present) }
        let loaded = readPart(key.raw) { readSlowly(definition) }
        let present = present(key, definition.naming)
        return (present, present ?? loaded)
    }

    /// Reads a key of a kind that can't throw.
    @_alwaysEmitIntoClient
    func read<Value: Sendable>(_ definition: KeyDefinition) -> Value {
        let present = _storage.read(definition.raw, as: Value.self)
        extendLifetime(self)
        return present ?? readSlowly(definition).value(as: Value.self)
    }

    @usableFromInline func readSlowly(_ definition: KeyDefinition) -> Payload {
        do {
            return try definition.readNow(in: self)
        } catch {
            // The engine stops the program where other kinds throw.
            fatalError("\(error)")
        }
    }

    /// Publishes several changes together, or none of them if the closure throws.
    ///
    /// Reads through the handle give the values that it set; a key that it reset or replaced gives what's published, until the
    /// end. Loads see published values only. Observers are notified once of each key that it changes. An update inside another one of
    /// the same family joins it if the same thread or task begins it. An update is atomic, not isolated: to count, use `modify`. Make
    /// all changes through the handle: what `body` writes to the container itself is published immediately, and what the handle wrote
    /// to the same key replaces it at the end. Sources that you apply inside take effect immediately, too. A handle that you keep
    /// reads and writes the container afterward. If the container is released before the end, its changes are lost, and reported.
    ///
    /// - Parameter body: A closure that makes the changes through the handle that it receives.
    /// - Throws: What `body` throws.
    /// - Complexity: O(*n* + *m*) for *n* changes and *m* observers and instances that they concern.
    public func update<E>(_ body: (any FeatureContainer) throws(E) -> Void) throws(E) {
        checkMayChange(nil)
        try runUpdate(body)
    }
}
