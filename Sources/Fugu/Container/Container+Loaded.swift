extension FeatureContainer {
    /// Returns the instance of a feature that was loaded or set before, without loading anything.
    ///
    /// Use it to create a plain feature from one that takes long to open, such as a pool of connections: load that one
    /// with ``Container/warmUp(progress:_:)`` when the program starts, and read it here without waiting. In a load, the
    /// read is recorded like any other.
    ///
    ///     static func load(in container: any FeatureContainer) -> Users { Users(pool: container.loaded(Pool.self)) }
    ///
    /// If there is no instance for this container, the program stops with a message that has the path to the feature. If that can
    /// happen, use ``Container/ifLoaded(_:)-(K.Type)``.
    /// - Parameter feature: The type of the feature.
    /// - Returns: The instance that a read would give without waiting.
    /// - Complexity: O(1) if the instance is inherited or was read here before; otherwise, O(*d*) for *d* ancestors.
    public func loaded<F: FailableFeature>(_ feature: F.Type) -> F.ContainerValue {
        let raw = F._key.raw
        let present = _storage.read(raw, as: F.ContainerValue.self)
        extendLifetime(self)
        return present ?? _container.presentOrStop(Key(raw: raw)).value(as: F.ContainerValue.self)
    }
}

extension Container {
    fileprivate func presentOrStop(_ key: Key) -> Payload {
        if let present = present(key, nil) { return present }
        let asker = recorder ?? Frame.current
        fatalError(Messages.notLoaded((asker?.way ?? []) + [key]))
    }
}
