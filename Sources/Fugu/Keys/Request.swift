/// What a key says of itself on the slow way, where the engine knows no types.
@usableFromInline struct Request {
    let key: Key
    let isLocal: Bool
    let reloads: Bool
    /// Whether it reaches outside the process.
    let isExternal: Bool
    /// What a strict container gives instead of an external feature that cannot throw.
    let placeholder: (() -> Payload)?
    /// How sources are asked for it, if it has a name.
    let naming: PropertyNaming?
    let equal: Equality

    private init<Value: Sendable>(
        _ key: UInt, of _: Value.Type, isLocal: Bool = false, reloads: Bool = false, isExternal: Bool = false,
        placeholder: (() -> Payload)? = nil, naming: PropertyNaming? = nil
    ) {
        self.key = Key(raw: key)
        self.isLocal = isLocal
        self.reloads = reloads
        self.isExternal = isExternal
        self.placeholder = placeholder
        self.naming = naming
        equal = Equality(of: Value.self)
    }

    /// For a reset, which needs no more than the key.
    init(resetting key: Key) { self.init(key.raw, of: Void.self) }

    @usableFromInline init<P: Property>(_: P.Type) {
        self.init(Key.property(P.self), of: P.Value.self, naming: P._naming)
    }

    @usableFromInline init<Value>(_ key: PropertyKey<Value>) {
        self.init(key.raw, of: Value.self, naming: key.descriptor.naming)
    }

    @usableFromInline init<F: Feature>(_: F.Type) {
        let placeholder: (() -> Payload)? = if let standIn = F._standIn { { Payload(standIn()) } } else { nil }
        self.init(
            Key.feature(F.self), of: F.Instance.self, isLocal: F.isLocal, reloads: F.reloadsWhenInputsChange,
            isExternal: placeholder != nil, placeholder: placeholder)
    }

    @usableFromInline init<Instance>(_ key: FeatureKey<Instance>) {
        let descriptor = key.descriptor
        let placeholder: (() -> Payload)? =
            if let standIn = descriptor.placeholder { { Payload(standIn()) } } else { nil }
        self.init(
            key.raw, of: Instance.self, isLocal: descriptor.isLocal, reloads: descriptor.reloads,
            isExternal: placeholder != nil, placeholder: placeholder)
    }

    @usableFromInline init<F: ThrowingFeature>(_: F.Type) {
        self.init(
            Key.throwingFeature(F.self), of: F.Instance.self, isLocal: F.isLocal, reloads: F.reloadsWhenInputsChange,
            isExternal: F._isExternal)
    }

    init<F: AsyncFeature>(_: F.Type) {
        self.init(
            Key.asyncFeature(F.self), of: F.Instance.self, isLocal: F.isLocal, reloads: F.reloadsWhenInputsChange,
            isExternal: F._isExternal)
    }
}

/// Says whether two payloads hold equal values; they do not if their type cannot say.
struct Equality: Sendable {
    private let type: Any.Type

    init<Value: Sendable>(of type: Value.Type) { self.type = type }

    /// The answer where no user code is asked for it, so that it can be had under a lock.
    func known(_ left: Payload, _ right: Payload) -> Bool? {
        // What programs observe most.
        if type == Int.self || type == Bool.self || type == UInt.self { return left.bits == right.bits }
        if type == Double.self { return left.value(as: Double.self) == right.value(as: Double.self) }
        return nil
    }

    /// Outside every lock.
    func callAsFunction(_ left: Payload, _ right: Payload) -> Bool {
        if let known = known(left, right) { return known }
        // A cast would cost more than all else of a set.
        if type == String.self { return left.value(as: String.self) == right.value(as: String.self) }
        func open<Value>(_: Value.Type) -> Bool { areEqual(left, right, as: Value.self) }
        return _openExistential(type, do: open)
    }

    private func areEqual<Value>(_ left: Payload, _ right: Payload, as _: Value.Type) -> Bool {
        func areEqual<E: Equatable & SendableMetatype>(_ left: E, _ right: Any) -> Bool { (right as? E) == left }
        guard let value = cast(left.value(as: Value.self), to: AnyEquatable.self) else { return false }
        return areEqual(value, right.value(as: Value.self))
    }
}

/// The conformance of a type that belongs to an actor is found on that actor only; elsewhere such a value counts as
/// changed.
private typealias AnyEquatable = any (Equatable & SendableMetatype)

/// The compiler refuses to cast to a type with a marker protocol unless the type is a parameter.
private func cast<T>(_ value: Any, to _: T.Type) -> T? { value as? T }
