// The members of `FeatureContainer`, declared once more on `Container`: when you call a member of a protocol
// extension on a class, the compiler doesn't check the isolation of conformances, so a main-actor type could load off
// the main actor (law 9).

extension Container {
    /// The value of a property.
    ///
    /// A read gives the value that was set here or in an ancestor, nearest first; otherwise, the value of a source;
    /// otherwise, the default.
    ///
    /// - Parameter property: The type of the property.
    /// - Complexity: A read takes O(1) after the first one, without a lock. A set takes O(*m*) for *m* observers and
    ///   instances that the change concerns.
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
    /// A read gives the instance that was set here or in an ancestor, nearest first; otherwise, the loaded instance,
    /// which it loads if there is none. If the load needs itself, or if the container has gone away, the program stops
    /// with a message that shows the path that led there. Setting swaps the feature here and in all descendants that
    /// don't swap it themselves.
    ///
    /// - Parameters:
    ///   - feature: The type of the feature.
    ///   - fileID: The file of the read, for messages.
    ///   - line: The line of the read, for messages.
    /// - Complexity: A read takes O(1) if the instance is loaded, without a lock. A set takes O(*m*) for *m* observers
    ///   and instances that the change concerns.
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
