/// What the engine, which knows no types, needs in order to resolve a key on the slow path.
@usableFromInline struct Request {
    let key: Key
    let isLocal: Bool
    let reloads: Bool
    /// Whether the instance must live in the root.
    let isShared: Bool
    /// Whether the feature reaches outside the process.
    let isExternal: Bool
    /// Creates what a strict container gives instead of an external feature that can't throw.
    let placeholder: (() -> Payload)?
    /// The name and type that sources need, if the key has a name.
    let naming: PropertyNaming?
    /// The place of the read if it's known; for a value key, the place where the key was created.
    let place: SourcePlace?

    init(
        _ key: UInt, isLocal: Bool = false, reloads: Bool = false, isShared: Bool = false, isExternal: Bool = false,
        placeholder: (() -> Payload)? = nil, naming: PropertyNaming? = nil, at place: SourcePlace? = nil
    ) {
        self.key = Key(raw: key)
        self.isLocal = isLocal
        self.reloads = reloads
        self.isShared = isShared
        self.isExternal = isExternal
        self.placeholder = placeholder
        self.naming = naming
        self.place = place
    }

    @usableFromInline init<P: Property>(_: P.Type) {
        self.init(Key.property(P.self), naming: P._naming)
    }

    @usableFromInline init<Value>(_ key: PropertyKey<Value>) {
        self.init(key._raw, naming: key.descriptor.naming)
    }

    @usableFromInline init<F: Feature>(_: F.Type, at place: SourcePlace? = nil) {
        let placeholder: (() -> Payload)? = if let standIn = F._standIn { { Payload(standIn()) } } else { nil }
        self.init(
            Key.feature(F.self), isLocal: F.isLocal, reloads: F.reloadsWhenInputsChange, isShared: F.isShared,
            isExternal: placeholder != nil, placeholder: placeholder, at: place)
    }

    @usableFromInline init<Instance>(_ key: FeatureKey<Instance>) {
        let descriptor = key.descriptor
        let placeholder: (() -> Payload)? =
            if let standIn = descriptor.placeholder { { Payload(standIn()) } } else { nil }
        let traits = descriptor.traits
        self.init(
            key._raw, isLocal: traits.isLocal, reloads: traits.reloads, isShared: traits.isShared,
            isExternal: placeholder != nil, placeholder: placeholder,
            at: SourcePlace(descriptor.place.fileID, descriptor.place.line))
    }

    @usableFromInline init<F: ThrowingFeature>(_: F.Type, at place: SourcePlace? = nil) {
        self.init(
            Key.throwingFeature(F.self), isLocal: F.isLocal, reloads: F.reloadsWhenInputsChange,
            isShared: F.isShared, isExternal: F._isExternal, at: place)
    }

    init<F: AsyncFeature>(_: F.Type, at place: SourcePlace? = nil) {
        self.init(
            Key.asyncFeature(F.self), isLocal: F.isLocal, reloads: F.reloadsWhenInputsChange, isShared: F.isShared,
            isExternal: F._isExternal, at: place)
    }
}
