/// What a key says of itself on the slow way, where the engine knows no types.
struct Request {
    let key: Key
    var isLocal = false
    var reloads = false
    /// Whether it reaches outside the process.
    var isExternal = false
    /// What a strict container gives instead of an external feature that cannot throw.
    var placeholder: (() -> Payload)?
    /// How sources are asked for it, if it has a name.
    var naming: PropertyNaming?
    let equal: Equality

    /// For a reset, which needs no more than the key.
    init(resetting key: Key) {
        self.key = key
        equal = { _, _ in false }
    }

    init<P: Property>(_: P.Type) {
        key = Key(raw: Key.property(P.self))
        naming = P._naming
        equal = Self.equality(of: P.Value.self)
    }

    init<Value>(_ key: PropertyKey<Value>) {
        self.key = Key(raw: key.raw)
        naming = key.descriptor.naming
        equal = Self.equality(of: Value.self)
    }

    init<F: Feature>(_: F.Type) {
        key = Key(raw: Key.feature(F.self))
        isLocal = F.isLocal
        reloads = F.reloadsWhenInputsChange
        if let standIn = F._standIn {
            isExternal = true
            placeholder = { Payload(standIn()) }
        }
        equal = Self.equality(of: F.Instance.self)
    }

    init<Instance>(_ key: FeatureKey<Instance>) {
        self.key = Key(raw: key.raw)
        let descriptor = key.descriptor
        isLocal = descriptor.isLocal
        reloads = descriptor.reloads
        if let standIn = descriptor.placeholder {
            isExternal = true
            placeholder = { Payload(standIn()) }
        }
        equal = Self.equality(of: Instance.self)
    }

    init<F: ThrowingFeature>(_: F.Type) {
        key = Key(raw: Key.throwingFeature(F.self))
        isLocal = F.isLocal
        reloads = F.reloadsWhenInputsChange
        isExternal = F._isExternal
        equal = Self.equality(of: F.Instance.self)
    }

    init<F: AsyncFeature>(_: F.Type) {
        key = Key(raw: Key.asyncFeature(F.self))
        isLocal = F.isLocal
        reloads = F.reloadsWhenInputsChange
        isExternal = F._isExternal
        equal = Self.equality(of: F.Instance.self)
    }

    static func equality<Value: Sendable>(of type: Value.Type) -> Equality {
        // What every program observes most: a cast would cost more than all else of a set.
        switch type {
        case is Int.Type, is Bool.Type, is UInt.Type: return { $0.bits == $1.bits }
        case is String.Type: return { $0.value(as: String.self) == $1.value(as: String.self) }
        case is Double.Type: return { $0.value(as: Double.self) == $1.value(as: Double.self) }
        default: break
        }
        return { left, right in
            func areEqual<E: Equatable & SendableMetatype>(_ left: E, _ right: Any) -> Bool { (right as? E) == left }
            guard let value = cast(left.value(as: Value.self), to: AnyEquatable.self) else { return false }
            return areEqual(value, right.value(as: Value.self))
        }
    }
}

/// Whether two payloads hold equal values; false if their type cannot say.
typealias Equality = @Sendable (Payload, Payload) -> Bool

/// The conformance of a type that belongs to an actor is found on that actor only; elsewhere such a value counts as
/// changed.
private typealias AnyEquatable = any (Equatable & SendableMetatype)

/// The compiler refuses to cast to a type with a marker protocol unless the type is a parameter.
private func cast<T>(_ value: Any, to _: T.Type) -> T? { value as? T }
