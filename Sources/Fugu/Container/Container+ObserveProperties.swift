// MARK: Properties by type

extension Container {
    /// Calls `observer` whenever the property is set, reset, modified or first loaded, here or where it is inherited from.
    ///
    /// Calls come one at a time, in order, on the thread that made the change, after it and outside every lock.
    @discardableResult
    @inlinable  // Where the type is known, a call takes 30 instructions; elsewhere 90 more.
    public func observe<P: Property & SendableMetatype>(
        _ property: P.Type, observer: @escaping @Sendable (P.Value) -> Void
    ) -> ObservationToken {
        observe(Subject(property)) { observer($0.value(as: P.Value.self)) }
    }

    /// Calls `observer`, a closure marked `@MainActor`, on the main actor, in order, whenever the property changes as seen
    /// from here.
    @discardableResult
    public func observe<P: Property & SendableMetatype>(
        _ property: P.Type, observer: @escaping @MainActor @Sendable (P.Value) -> Void,
        on actor: MainActor.Type = MainActor.self
    ) -> ObservationToken {
        observe(onMainActor: Subject(property), observer)
    }

    /// Calls `observer` whenever the property changes as seen from here, as long as `owner` lives.
    public func observe<P: Property & SendableMetatype>(
        _ property: P.Type, while owner: some AnyObject & Sendable, observer: @escaping @Sendable (P.Value) -> Void
    ) {
        observe(Subject(property), while: owner, observer)
    }

    /// Calls `observer`, a closure marked `@MainActor`, on the main actor, in order, whenever the property changes as seen
    /// from here, as long as `owner` lives.
    public func observe<P: Property & SendableMetatype>(
        _ property: P.Type, while owner: some AnyObject & Sendable,
        observer: @escaping @MainActor @Sendable (P.Value) -> Void, on actor: MainActor.Type = MainActor.self
    ) {
        observe(onMainActor: Subject(property), while: owner, observer)
    }

    /// Calls `observer` whenever the property is set, reset, modified or first loaded, here or where it is inherited from.
    ///
    /// Calls come one at a time, in order, on the thread that made the change, after it and outside every lock.
    /// For a type that belongs to an actor: what was dropped is loaded at its next read, not at once.
    @discardableResult
    @inlinable  // Where the type is known, a call takes 30 instructions; elsewhere 90 more.
    public func observe<P: Property>(
        _ property: P.Type, observer: @escaping @Sendable (P.Value) -> Void
    ) -> ObservationToken {
        observe(Subject(isolated: property)) { observer($0.value(as: P.Value.self)) }
    }

    /// Calls `observer`, a closure marked `@MainActor`, on the main actor, in order, whenever the property changes as seen
    /// from here.
    /// For a type that belongs to an actor: what was dropped is loaded at its next read, not at once.
    @discardableResult
    public func observe<P: Property>(
        _ property: P.Type, observer: @escaping @MainActor @Sendable (P.Value) -> Void,
        on actor: MainActor.Type = MainActor.self
    ) -> ObservationToken {
        observe(onMainActor: Subject(isolated: property), observer)
    }

    /// Calls `observer` whenever the property changes as seen from here, as long as `owner` lives.
    /// For a type that belongs to an actor: what was dropped is loaded at its next read, not at once.
    public func observe<P: Property>(
        _ property: P.Type, while owner: some AnyObject & Sendable, observer: @escaping @Sendable (P.Value) -> Void
    ) {
        observe(Subject(isolated: property), while: owner, observer)
    }

    /// Calls `observer`, a closure marked `@MainActor`, on the main actor, in order, whenever the property changes as seen
    /// from here, as long as `owner` lives.
    /// For a type that belongs to an actor: what was dropped is loaded at its next read, not at once.
    public func observe<P: Property>(
        _ property: P.Type, while owner: some AnyObject & Sendable,
        observer: @escaping @MainActor @Sendable (P.Value) -> Void, on actor: MainActor.Type = MainActor.self
    ) {
        observe(onMainActor: Subject(isolated: property), while: owner, observer)
    }

    /// The present value of the property, then later ones; a slow reader skips to the newest.
    ///
    /// Ends when its task is cancelled or the container goes away.
    public func values<P: Property & SendableMetatype>(of property: P.Type) -> some AsyncSequence<P.Value, Never>
        & Sendable
    {
        _ = self[property]
        return stream(Subject(property))
    }

    /// The present value of the property, then later ones; a slow reader skips to the newest.
    ///
    /// Ends when its task is cancelled or the container goes away.
    public func values<P: Property>(of property: P.Type) -> some AsyncSequence<P.Value, Never> & Sendable {
        _ = self[property]
        return stream(Subject(isolated: property))
    }
}

// MARK: Properties by key

extension Container {
    /// Calls `observer` whenever the property is set, reset, modified or first loaded, here or where it is inherited from.
    ///
    /// Calls come one at a time, in order, on the thread that made the change, after it and outside every lock.
    @discardableResult
    @inlinable  // Where the type is known, a call takes 30 instructions; elsewhere 90 more.
    public func observe<Value>(
        _ key: PropertyKey<Value>, observer: @escaping @Sendable (Value) -> Void
    ) -> ObservationToken {
        observe(Subject(key)) { observer($0.value(as: Value.self)) }
    }

    /// Calls `observer`, a closure marked `@MainActor`, on the main actor, in order, whenever the property changes as seen
    /// from here.
    @discardableResult
    public func observe<Value>(
        _ key: PropertyKey<Value>, observer: @escaping @MainActor @Sendable (Value) -> Void,
        on actor: MainActor.Type = MainActor.self
    ) -> ObservationToken {
        observe(onMainActor: Subject(key), observer)
    }

    /// Calls `observer` whenever the property changes as seen from here, as long as `owner` lives.
    public func observe<Value>(
        _ key: PropertyKey<Value>, while owner: some AnyObject & Sendable, observer: @escaping @Sendable (Value) -> Void
    ) {
        observe(Subject(key), while: owner, observer)
    }

    /// Calls `observer`, a closure marked `@MainActor`, on the main actor, in order, whenever the property changes as seen
    /// from here, as long as `owner` lives.
    public func observe<Value>(
        _ key: PropertyKey<Value>, while owner: some AnyObject & Sendable,
        observer: @escaping @MainActor @Sendable (Value) -> Void, on actor: MainActor.Type = MainActor.self
    ) {
        observe(onMainActor: Subject(key), while: owner, observer)
    }

    /// The present value of the property, then later ones; a slow reader skips to the newest.
    ///
    /// Ends when its task is cancelled or the container goes away.
    public func values<Value>(of key: PropertyKey<Value>) -> some AsyncSequence<Value, Never> & Sendable {
        _ = self[key]
        return stream(Subject(key))
    }
}
