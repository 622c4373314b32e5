extension Container {
    /// Takes away all that was set or loaded in this container; what is inherited stays.
    public func resetAll() {
        backing.checkMayChange(nil)
        backing.node.resetAll()
    }

    /// Returns what is there for a type, without loading anything.
    ///
    /// - Returns: What was set or loaded already, or `nil`.
    public func ifLoaded<K: Keyed>(_ key: K.Type) -> K.Held? {
        backing.present(Key(raw: K._raw))?.value(as: K.Held.self)
    }

    /// Returns what is there for a key, without loading anything.
    ///
    /// - Returns: What was set or loaded already, or `nil`.
    public func ifLoaded<K: ValueKey>(_ key: K) -> K.Held? {
        backing.present(Key(raw: key._raw))?.value(as: K.Held.self)
    }

    /// Returns what is there for a key that ``ContainerKeys`` declares, without loading anything.
    ///
    /// - Returns: What was set or loaded already, or `nil`.
    public func ifLoaded<K: ValueKey>(_ key: KeyPath<ContainerKeys, K>) -> K.Held? {
        ifLoaded(ContainerKeys()[keyPath: key])
    }

    /// Changes a value by what it is, with no other write of the property in this container meanwhile.
    ///
    /// Reads meanwhile give the old value. If `body` throws, nothing changes. Other writers wait for the end; writing the
    /// same property inside `body`, or waiting there for someone who does, stops the program with a message.
    public func modify<P: Property, R, E>(
        _ property: P.Type, _ body: (inout P.Value) throws(E) -> R
    ) throws(E) -> R {
        try modify(TypedKey(P.self), read: { self[P.self] }, body)
    }

    /// Changes a part of a feature and sets the result, with no other write of the feature in this container meanwhile.
    ///
    /// The change begins with what was set or is loaded. In a strict container, an external feature that was not swapped
    /// begins with its placeholder, and this read doesn't fail the test: what a test did not swap fails it when it's
    /// called.
    ///
    ///     container.modify(Audio.self) { $0.volume = { 0.5 } }
    ///
    /// If `body` throws, nothing changes. Other writers wait for the end; writing the same feature inside `body`, or waiting
    /// there for someone who does, stops the program with a message.
    ///
    /// - Parameters:
    ///   - feature: The feature to change.
    ///   - body: A closure that changes the instance.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws.
    public func modify<F: Feature, R, E>(
        _ feature: F.Type, _ body: (inout F.Instance) throws(E) -> R
    ) throws(E) -> R {
        try modify(TypedKey(F.self), read: { self[F.self] }, body)
    }

    /// Changes what is held for a key by what it is, with no other write of it in this container meanwhile.
    public func modify<K: ValueKey, R, E>(_ key: K, _ body: (inout K.Held) throws(E) -> R) throws(E) -> R {
        try modify(TypedKey(key), read: { key._read(in: self) }, body)
    }

    /// Changes what is held for a key that ``ContainerKeys`` declares by what it is, with no other write of it in this
    /// container meanwhile.
    public func modify<K: ValueKey, R, E>(
        _ key: KeyPath<ContainerKeys, K>, _ body: (inout K.Held) throws(E) -> R
    ) throws(E) -> R {
        try modify(ContainerKeys()[keyPath: key], body)
    }

    private func modify<Value: Sendable, R, E>(
        _ key: TypedKey, read: () -> Value, _ body: (inout Value) throws(E) -> R
    ) throws(E) -> R {
        backing.checkMayChange(key.key)
        var answer: R?
        try backing.node.modify(key, read: { Payload(read()) }) { payload throws(E) in
            var value = payload.value(as: Value.self)
            answer = try body(&value)
            return Payload(value)
        }
        return answer!
    }

    /// Publishes all changes made through the handle together at the end of `body`, or none if it throws.
    ///
    /// Inside, the handle reads what is pending; loads see only what is published. Observers hear of each changed key
    /// once. An update inside another one of the family joins it. An update is atomic, not isolated: to count, use
    /// `modify`.
    public func update<E>(_ body: (any FeatureContainer) throws(E) -> Void) throws(E) {
        backing.checkMayChange(nil)
        try backing.node.update(backing.owner ?? self, body)
    }
}
