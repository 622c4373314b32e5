// MARK: Throwing features

extension Container {
    /// Calls `observer` whenever the feature is set, reset, modified or first loaded, here or where it is inherited from.
    ///
    /// Calls come one at a time, in order, on the thread that made the change, after it and outside every lock.
    @discardableResult
    public func observe<F: ThrowingFeature & SendableMetatype>(
        _ feature: F.Type, observer: @escaping @Sendable (F.Instance) -> Void
    ) -> ObservationToken {
        observe(Subject(feature), observer)
    }

    /// Calls `observer`, a closure marked `@MainActor`, on the main actor, in order, whenever the feature changes as seen
    /// from here.
    @discardableResult
    public func observe<F: ThrowingFeature & SendableMetatype>(
        _ feature: F.Type, observer: @escaping @MainActor @Sendable (F.Instance) -> Void,
        on actor: MainActor.Type = MainActor.self
    ) -> ObservationToken {
        observe(onMainActor: Subject(feature), observer)
    }

    /// Calls `observer` whenever the feature changes as seen from here, as long as `owner` lives.
    public func observe<F: ThrowingFeature & SendableMetatype>(
        _ feature: F.Type, while owner: some AnyObject & Sendable, observer: @escaping @Sendable (F.Instance) -> Void
    ) {
        observe(Subject(feature), while: owner, observer)
    }

    /// Calls `observer`, a closure marked `@MainActor`, on the main actor, in order, whenever the feature changes as seen
    /// from here, as long as `owner` lives.
    public func observe<F: ThrowingFeature & SendableMetatype>(
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
    public func observe<F: ThrowingFeature>(
        _ feature: F.Type, observer: @escaping @Sendable (F.Instance) -> Void
    ) -> ObservationToken {
        observe(Subject(isolated: feature), observer)
    }

    /// Calls `observer`, a closure marked `@MainActor`, on the main actor, in order, whenever the feature changes as seen
    /// from here.
    /// For a type that belongs to an actor: what was dropped is loaded at its next read, not at once.
    @discardableResult
    public func observe<F: ThrowingFeature>(
        _ feature: F.Type, observer: @escaping @MainActor @Sendable (F.Instance) -> Void,
        on actor: MainActor.Type = MainActor.self
    ) -> ObservationToken {
        observe(onMainActor: Subject(isolated: feature), observer)
    }

    /// Calls `observer` whenever the feature changes as seen from here, as long as `owner` lives.
    /// For a type that belongs to an actor: what was dropped is loaded at its next read, not at once.
    public func observe<F: ThrowingFeature>(
        _ feature: F.Type, while owner: some AnyObject & Sendable, observer: @escaping @Sendable (F.Instance) -> Void
    ) {
        observe(Subject(isolated: feature), while: owner, observer)
    }

    /// Calls `observer`, a closure marked `@MainActor`, on the main actor, in order, whenever the feature changes as seen
    /// from here, as long as `owner` lives.
    /// For a type that belongs to an actor: what was dropped is loaded at its next read, not at once.
    public func observe<F: ThrowingFeature>(
        _ feature: F.Type, while owner: some AnyObject & Sendable,
        observer: @escaping @MainActor @Sendable (F.Instance) -> Void, on actor: MainActor.Type = MainActor.self
    ) {
        observe(onMainActor: Subject(isolated: feature), while: owner, observer)
    }

    /// The present value of the feature, then later ones; a slow reader skips to the newest.
    ///
    /// Ends when its task is cancelled or the container goes away.
    public func values<F: ThrowingFeature & SendableMetatype>(of feature: F.Type) -> some AsyncSequence<
        F.Instance, Never
    > & Sendable {
        _ = try? self[feature]
        return stream(Subject(feature))
    }

    /// The present value of the feature, then later ones; a slow reader skips to the newest.
    ///
    /// Ends when its task is cancelled or the container goes away.
    public func values<F: ThrowingFeature>(of feature: F.Type) -> some AsyncSequence<F.Instance, Never> & Sendable {
        _ = try? self[feature]
        return stream(Subject(isolated: feature))
    }
}

// MARK: Async features

extension Container {
    /// Calls `observer` whenever the feature is set, reset, modified or first loaded, here or where it is inherited from.
    ///
    /// Calls come one at a time, in order, on the thread that made the change, after it and outside every lock.
    @discardableResult
    public func observe<F: AsyncFeature>(
        _ feature: F.Type, observer: @escaping @Sendable (F.Instance) -> Void
    ) -> ObservationToken {
        observe(Subject(feature), observer)
    }

    /// Calls `observer`, a closure marked `@MainActor`, on the main actor, in order, whenever the feature changes as seen
    /// from here.
    @discardableResult
    public func observe<F: AsyncFeature>(
        _ feature: F.Type, observer: @escaping @MainActor @Sendable (F.Instance) -> Void,
        on actor: MainActor.Type = MainActor.self
    ) -> ObservationToken {
        observe(onMainActor: Subject(feature), observer)
    }

    /// Calls `observer` whenever the feature changes as seen from here, as long as `owner` lives.
    public func observe<F: AsyncFeature>(
        _ feature: F.Type, while owner: some AnyObject & Sendable, observer: @escaping @Sendable (F.Instance) -> Void
    ) {
        observe(Subject(feature), while: owner, observer)
    }

    /// Calls `observer`, a closure marked `@MainActor`, on the main actor, in order, whenever the feature changes as seen
    /// from here, as long as `owner` lives.
    public func observe<F: AsyncFeature>(
        _ feature: F.Type, while owner: some AnyObject & Sendable,
        observer: @escaping @MainActor @Sendable (F.Instance) -> Void, on actor: MainActor.Type = MainActor.self
    ) {
        observe(onMainActor: Subject(feature), while: owner, observer)
    }

    /// The present value of the feature, then later ones; a slow reader skips to the newest.
    ///
    /// Loads it if need be, in the background; a failure is not told. Ends when its task is cancelled, which also ends its
    /// waiting for that load, or when the container closes or goes away.
    public func values<F: AsyncFeature>(of feature: F.Type) -> some AsyncSequence<F.Instance, Never> & Sendable {
        let load = Task { _ = try? await self[feature] }
        return stream(Subject(feature)) { load.cancel() }
    }
}
