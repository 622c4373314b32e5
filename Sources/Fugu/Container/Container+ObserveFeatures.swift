// MARK: Features by type

extension Container {
    /// Calls `observer` whenever the feature is set, reset, modified or first loaded, here or where it is inherited from.
    ///
    /// Calls come one at a time, in order, on the thread that made the change, after it and outside every lock.
    @discardableResult
    @inlinable  // Where the type is known, a call takes 30 instructions; elsewhere 90 more.
    public func observe<F: Feature & SendableMetatype>(
        _ feature: F.Type, observer: @escaping @Sendable (F.Instance) -> Void
    ) -> ObservationToken {
        observe(Subject(feature)) { observer($0.value(as: F.Instance.self)) }
    }

    /// Calls `observer`, a closure marked `@MainActor`, on the main actor, in order, whenever the feature changes as seen
    /// from here.
    @discardableResult
    public func observe<F: Feature & SendableMetatype>(
        _ feature: F.Type, observer: @escaping @MainActor @Sendable (F.Instance) -> Void,
        on actor: MainActor.Type = MainActor.self
    ) -> ObservationToken {
        observe(onMainActor: Subject(feature), observer)
    }

    /// Calls `observer` whenever the feature changes as seen from here, as long as `owner` lives.
    public func observe<F: Feature & SendableMetatype>(
        _ feature: F.Type, while owner: some AnyObject & Sendable, observer: @escaping @Sendable (F.Instance) -> Void
    ) {
        observe(Subject(feature), while: owner, observer)
    }

    /// Calls `observer`, a closure marked `@MainActor`, on the main actor, in order, whenever the feature changes as seen
    /// from here, as long as `owner` lives.
    public func observe<F: Feature & SendableMetatype>(
        _ feature: F.Type, while owner: some AnyObject & Sendable,
        observer: @escaping @MainActor @Sendable (F.Instance) -> Void, on actor: MainActor.Type = MainActor.self
    ) {
        observe(onMainActor: Subject(feature), while: owner, observer)
    }

    /// Calls `observer` whenever the feature is set, reset, modified or first loaded, here or where it is inherited from.
    ///
    /// Calls come one at a time, in order, on the thread that made the change, after it and outside every lock.
    /// For a type that belongs to an actor: what was dropped is loaded at its next read, not at once.
    @discardableResult
    @inlinable  // Where the type is known, a call takes 30 instructions; elsewhere 90 more.
    public func observe<F: Feature>(
        _ feature: F.Type, observer: @escaping @Sendable (F.Instance) -> Void
    ) -> ObservationToken {
        observe(Subject(isolated: feature)) { observer($0.value(as: F.Instance.self)) }
    }

    /// Calls `observer`, a closure marked `@MainActor`, on the main actor, in order, whenever the feature changes as seen
    /// from here.
    /// For a type that belongs to an actor: what was dropped is loaded at its next read, not at once.
    @discardableResult
    public func observe<F: Feature>(
        _ feature: F.Type, observer: @escaping @MainActor @Sendable (F.Instance) -> Void,
        on actor: MainActor.Type = MainActor.self
    ) -> ObservationToken {
        observe(onMainActor: Subject(isolated: feature), observer)
    }

    /// Calls `observer` whenever the feature changes as seen from here, as long as `owner` lives.
    /// For a type that belongs to an actor: what was dropped is loaded at its next read, not at once.
    public func observe<F: Feature>(
        _ feature: F.Type, while owner: some AnyObject & Sendable, observer: @escaping @Sendable (F.Instance) -> Void
    ) {
        observe(Subject(isolated: feature), while: owner, observer)
    }

    /// Calls `observer`, a closure marked `@MainActor`, on the main actor, in order, whenever the feature changes as seen
    /// from here, as long as `owner` lives.
    /// For a type that belongs to an actor: what was dropped is loaded at its next read, not at once.
    public func observe<F: Feature>(
        _ feature: F.Type, while owner: some AnyObject & Sendable,
        observer: @escaping @MainActor @Sendable (F.Instance) -> Void, on actor: MainActor.Type = MainActor.self
    ) {
        observe(onMainActor: Subject(isolated: feature), while: owner, observer)
    }

    /// The present value of the feature, then later ones; a slow reader skips to the newest.
    ///
    /// Ends when its task is cancelled or the container goes away.
    public func values<F: Feature & SendableMetatype>(of feature: F.Type) -> some AsyncSequence<F.Instance, Never>
        & Sendable
    {
        _ = self[feature]
        return stream(Subject(feature))
    }

    /// The present value of the feature, then later ones; a slow reader skips to the newest.
    ///
    /// Ends when its task is cancelled or the container goes away.
    public func values<F: Feature>(of feature: F.Type) -> some AsyncSequence<F.Instance, Never> & Sendable {
        _ = self[feature]
        return stream(Subject(isolated: feature))
    }
}

// MARK: Features by key

extension Container {
    /// Calls `observer` whenever the feature is set, reset, modified or first loaded, here or where it is inherited from.
    ///
    /// Calls come one at a time, in order, on the thread that made the change, after it and outside every lock.
    @discardableResult
    @inlinable  // Where the type is known, a call takes 30 instructions; elsewhere 90 more.
    public func observe<Instance>(
        _ key: FeatureKey<Instance>, observer: @escaping @Sendable (Instance) -> Void
    ) -> ObservationToken {
        observe(Subject(key)) { observer($0.value(as: Instance.self)) }
    }

    /// Calls `observer`, a closure marked `@MainActor`, on the main actor, in order, whenever the feature changes as seen
    /// from here.
    @discardableResult
    public func observe<Instance>(
        _ key: FeatureKey<Instance>, observer: @escaping @MainActor @Sendable (Instance) -> Void,
        on actor: MainActor.Type = MainActor.self
    ) -> ObservationToken {
        observe(onMainActor: Subject(key), observer)
    }

    /// Calls `observer` whenever the feature changes as seen from here, as long as `owner` lives.
    public func observe<Instance>(
        _ key: FeatureKey<Instance>, while owner: some AnyObject & Sendable,
        observer: @escaping @Sendable (Instance) -> Void
    ) {
        observe(Subject(key), while: owner, observer)
    }

    /// Calls `observer`, a closure marked `@MainActor`, on the main actor, in order, whenever the feature changes as seen
    /// from here, as long as `owner` lives.
    public func observe<Instance>(
        _ key: FeatureKey<Instance>, while owner: some AnyObject & Sendable,
        observer: @escaping @MainActor @Sendable (Instance) -> Void, on actor: MainActor.Type = MainActor.self
    ) {
        observe(onMainActor: Subject(key), while: owner, observer)
    }

    /// The present value of the feature, then later ones; a slow reader skips to the newest.
    ///
    /// Ends when its task is cancelled or the container goes away.
    public func values<Instance>(of key: FeatureKey<Instance>) -> some AsyncSequence<Instance, Never> & Sendable {
        _ = self[key]
        return stream(Subject(key))
    }
}
