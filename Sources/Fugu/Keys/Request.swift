/// The engine, which knows no types, resolves a key on the slow path through this.
@usableFromInline struct Request {
    let key: Key
    /// Where the instance is to live.
    let home: Home
    let reloads: Bool
    /// Whether the feature reaches outside the process.
    let isExternal: Bool
    /// Whether a strict container loads a value for tests instead.
    let hasTestValue: Bool
    /// Creates what a strict container gives instead of an external feature that can't throw.
    ///
    /// It receives the container, for what it needs.
    let placeholder: (@Sendable (Container) -> Payload)?
    /// The place of the read if it's known; for a value key, the place where the key was created.
    let place: SourcePlace?

    init(
        _ key: UInt, home: Home = .inferred, reloads: Bool = false, isExternal: Bool = false,
        hasTestValue: Bool = false, placeholder: (@Sendable (Container) -> Payload)? = nil,
        at place: SourcePlace? = nil
    ) {
        self.key = Key(raw: key)
        self.home = home
        self.reloads = reloads
        self.isExternal = isExternal
        self.hasTestValue = hasTestValue
        self.placeholder = placeholder
        self.place = place
    }

    /// The place of the read, if it's known and outside this package.
    @inline(never) var readPlace: SourcePlace? { key.isValueKey ? nil : place?.outsideLibrary }

    @usableFromInline init<P: Property>(_: P.Type) {
        self.init(Key.property(P.self), reloads: true)
    }

    @usableFromInline init<Value>(_ key: PropertyKey<Value>) {
        self = key.descriptor.request(key.raw)
    }

    @usableFromInline init<F: Feature>(_: F.Type, at place: SourcePlace? = nil) {
        let definition = F._key
        self.init(
            definition.raw, home: F.home, reloads: F.reloadsWhenInputsChange, isExternal: definition.isExternal,
            hasTestValue: definition.hasTestValue, placeholder: definition.placeholder, at: place)
    }

    init(_ key: Key, _ feature: FeatureDescriptor) {
        self.init(
            key.raw, home: feature.traits.home, reloads: feature.traits.reloads, isExternal: feature.isExternal,
            hasTestValue: feature.testValue != nil, placeholder: feature.standIn,
            at: SourcePlace(feature.place.fileID, feature.place.line))
    }

    @usableFromInline init<F: FailableFeature>(_: F.Type, at place: SourcePlace? = nil) {
        let definition = F._key
        self.init(
            definition.raw, home: F.home, reloads: F.reloadsWhenInputsChange, isExternal: definition.isExternal,
            hasTestValue: definition.hasTestValue, at: place)
    }
}
