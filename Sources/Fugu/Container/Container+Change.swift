extension Container {
    /// Takes away all that was set or loaded in this container; what is inherited stays.
    public func resetAll() {
        backing.checkMayChange(nil)
        backing.node.resetAll()
    }

    /// The instance of a feature if it was set or loaded already; never loads.
    public func ifLoaded<F: Feature>(_ feature: F.Type) -> F.Instance? {
        backing.present(Key(raw: Key.feature(feature)))?.value(as: F.Instance.self)
    }

    /// The instance of a feature if it was set or loaded already; never loads.
    public func ifLoaded<Instance>(_ key: FeatureKey<Instance>) -> Instance? {
        backing.present(Key(raw: key.raw))?.value(as: Instance.self)
    }

    /// The instance of a feature if it was set or loaded already; never loads.
    public func ifLoaded<F: ThrowingFeature>(_ feature: F.Type) -> F.Instance? {
        backing.present(Key(raw: Key.throwingFeature(feature)))?.value(as: F.Instance.self)
    }

    /// The instance of a feature if it was set or loaded already; never loads.
    public func ifLoaded<F: AsyncFeature>(_ feature: F.Type) -> F.Instance? {
        backing.present(Key(raw: Key.asyncFeature(feature)))?.value(as: F.Instance.self)
    }

    /// The value of a property if it was set or its default evaluated already; never evaluates it.
    public func ifLoaded<P: Property>(_ property: P.Type) -> P.Value? {
        backing.present(Key(raw: Key.property(property)))?.value(as: P.Value.self)
    }

    /// The value of a property if it was set or its default evaluated already; never evaluates it.
    public func ifLoaded<Value>(_ key: PropertyKey<Value>) -> Value? {
        backing.present(Key(raw: key.raw))?.value(as: Value.self)
    }

    /// Changes a value by what it is, with no other write of the property in this container meanwhile.
    ///
    /// Reads meanwhile give the old value. If `body` throws, nothing changes. Other writers wait for the end; writing the
    /// same property inside `body`, or waiting there for someone who does, stops the program with a message.
    public func modify<P: Property, R, E>(
        _ property: P.Type, _ body: (inout P.Value) throws(E) -> R
    ) throws(E) -> R {
        try modify(TypedKey(property), read: { self[property] }, body)
    }

    /// Changes a value by what it is, with no other write of the property in this container meanwhile.
    public func modify<Value, R, E>(
        _ key: PropertyKey<Value>, _ body: (inout Value) throws(E) -> R
    ) throws(E) -> R {
        try modify(TypedKey(key), read: { self[key] }, body)
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
        try modify(TypedKey(feature), read: { self[feature] }, body)
    }

    /// Changes a part of a feature and sets the result, with no other write of the feature in this container meanwhile.
    ///
    /// - Parameters:
    ///   - key: The feature to change.
    ///   - body: A closure that changes the instance.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws.
    public func modify<Instance, R, E>(
        _ key: FeatureKey<Instance>, _ body: (inout Instance) throws(E) -> R
    ) throws(E) -> R {
        try modify(TypedKey(key), read: { self[key] }, body)
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
