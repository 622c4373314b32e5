// What `FeatureContainer` gives to all, once more as members of `Container`: the compiler does not check the isolation of
// conformances when a member of a protocol's extension is used on a class, and so would let a main-actor type be loaded
// off the main actor (law 9).

extension Container {
    /// The value of a property: what was set here or in an ancestor, nearest first, else what a source has, else the
    /// default.
    public subscript<P: Property>(property: P.Type) -> P.Value {
        @inlinable get {
            let present = _storage.read(Key.property(P.self), as: P.Value.self)
            extendLifetime(self)
            if let present { return present }
            return readSlowly(P.self)
        }
        @inlinable set {
            set(TypedKey(Key.property(P.self), of: P.Value.self), Payload(newValue))
        }
    }

    /// The instance of a feature: what was set here or in an ancestor, nearest first, else what was or is now loaded.
    ///
    /// Stops the program with the way round if the load needs itself, or if the container is closed or gone. Setting
    /// swaps the feature here and for all descendants that did not do so themselves.
    public subscript<F: Feature>(
        feature: F.Type, fileID: StaticString = #fileID, line: UInt = #line
    ) -> F.Instance {
        @inlinable get {
            let present = _storage.read(Key.feature(F.self), as: F.Instance.self)
            extendLifetime(self)
            if let present { return present }
            return readSlowly(F.self, SourcePlace(fileID, line))
        }
        @inlinable set {
            set(TypedKey(Key.feature(F.self), of: F.Instance.self), Payload(newValue))
        }
    }

    /// The instance of a feature that may fail to load.
    /// - Throws: What its load threw, or ``LoadError``.
    public subscript<F: ThrowingFeature>(
        feature: F.Type, fileID: StaticString = #fileID, line: UInt = #line
    ) -> F.Instance {
        @inlinable get throws {
            let present = _storage.read(Key.throwingFeature(F.self), as: F.Instance.self)
            extendLifetime(self)
            if let present { return present }
            return try readSlowly(F.self, SourcePlace(fileID, line))
        }
    }
}

extension ObservableContainer {
    /// The value of a property; this read is tracked.
    public subscript<P: Property>(property: P.Type) -> P.Value {
        get { _container[property] }
        set { _container[property] = newValue }
    }

    /// The instance of a feature; this read is tracked.
    public subscript<F: Feature>(
        feature: F.Type, fileID: StaticString = #fileID, line: UInt = #line
    ) -> F.Instance {
        get { _container[feature, fileID, line] }
        set { _container[feature] = newValue }
    }

    /// The instance of a feature that may fail to load; this read is tracked.
    /// - Throws: What its load threw, or ``LoadError``.
    public subscript<F: ThrowingFeature>(
        feature: F.Type, fileID: StaticString = #fileID, line: UInt = #line
    ) -> F.Instance {
        get throws { try _container[feature, fileID, line] }
    }
}
