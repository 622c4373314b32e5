/// The engine, which knows no types, resolves a key on the slow path through this.
@usableFromInline package struct Request {
    package let key: Key
    package let traits: KeyTraits
    /// Creates what a strict container gives instead of an external feature that can't throw.
    ///
    /// It receives the container, for what it needs.
    package let placeholder: (@Sendable (Container) -> Payload)?
    /// The place of the read if it's known; for a value key, the place where the key was created.
    package let place: SourcePlace?

    init(
        _ key: UInt, _ traits: KeyTraits, placeholder: (@Sendable (Container) -> Payload)? = nil,
        at place: SourcePlace? = nil
    ) {
        self.key = Key(raw: key)
        self.traits = traits
        self.placeholder = placeholder
        self.place = place
    }

    /// The place of the read, if it's known and outside this package.
    @inline(never) package var readPlace: SourcePlace? { key.isValueKey ? nil : place?.outsideLibrary }

    @usableFromInline init<P: Property>(_: P.Type) {
        self.init(Key.property(P.self), KeyTraits(reloads: true))
    }

    @usableFromInline init<Value>(_ key: PropertyKey<Value>) {
        self = key.descriptor.request(key.raw)
    }

    @usableFromInline init<F: Feature>(_: F.Type, at place: SourcePlace? = nil) {
        let definition = F._key
        self.init(
            definition.raw, KeyTraits(of: F.self, definition), placeholder: definition.placeholder, at: place)
    }

    init(_ key: Key, _ feature: FeatureDescriptor) {
        self.init(
            key.raw, feature.traits, placeholder: feature.standIn,
            at: SourcePlace(feature.place.fileID, feature.place.line))
    }

    @usableFromInline init<F: FailableFeature>(_: F.Type, at place: SourcePlace? = nil) {
        let definition = F._key
        self.init(definition.raw, KeyTraits(of: F.self, definition), at: place)
    }
}
