// What `FeatureContainer` gives to all, once more as members of `Container`: the compiler does not check the isolation of
// conformances when a member of a protocol's extension is used on a class, and so would let a main-actor type be loaded
// off the main actor (law 9).

extension Container {
    /// The value of a property.
    ///
    /// A read gives the first of these: what was set here or in an ancestor, nearest first; what a source supplies; the
    /// default.
    ///
    /// - Parameter property: The type of the property.
    /// - Complexity: O(1) once the value was read, without a lock.
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

    /// The instance of a feature.
    ///
    /// A read gives what was set here or in an ancestor, nearest first, and otherwise the loaded instance. It loads the
    /// instance if there is none. If the load needs itself, or if the container has gone away, the program stops with a
    /// message that shows the way there. Setting swaps the feature here and in all descendants that don't swap it themselves.
    ///
    /// - Parameters:
    ///   - feature: The type of the feature.
    ///   - fileID: The file of the read, for messages.
    ///   - line: The line of the read, for messages.
    /// - Complexity: O(1) if the instance is there, without a lock.
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

    /// The instance of a feature whose load can throw.
    ///
    /// - Parameters:
    ///   - feature: The type of the feature.
    ///   - fileID: The file of the read, for messages.
    ///   - line: The line of the read, for messages.
    /// - Throws: What the load throws, or ``LoadError``.
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
    /// The value of a property.
    ///
    /// Reads are tracked.
    ///
    /// - Parameter property: The type of the property.
    public subscript<P: Property>(property: P.Type) -> P.Value {
        get { _container[property] }
        set { _container[property] = newValue }
    }

    /// The instance of a feature.
    ///
    /// Reads are tracked.
    ///
    /// - Parameters:
    ///   - feature: The type of the feature.
    ///   - fileID: The file of the read, for messages.
    ///   - line: The line of the read, for messages.
    public subscript<F: Feature>(
        feature: F.Type, fileID: StaticString = #fileID, line: UInt = #line
    ) -> F.Instance {
        get { _container[feature, fileID, line] }
        set { _container[feature] = newValue }
    }

    /// The instance of a feature whose load can throw.
    ///
    /// Reads are tracked.
    ///
    /// - Parameters:
    ///   - feature: The type of the feature.
    ///   - fileID: The file of the read, for messages.
    ///   - line: The line of the read, for messages.
    /// - Throws: What the load throws, or ``LoadError``.
    public subscript<F: ThrowingFeature>(
        feature: F.Type, fileID: StaticString = #fileID, line: UInt = #line
    ) -> F.Instance {
        get throws { try _container[feature, fileID, line] }
    }
}
