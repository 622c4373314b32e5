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
        equal = Equality(of: Void.self)
    }

    init<P: Property>(_: P.Type) {
        key = Key(raw: Key.property(P.self))
        naming = P._naming
        equal = Equality(of: P.Value.self)
    }

    init<Value>(_ key: PropertyKey<Value>) {
        self.key = Key(raw: key.raw)
        naming = key.descriptor.naming
        equal = Equality(of: Value.self)
    }

    init<F: Feature>(_: F.Type) {
        key = Key(raw: Key.feature(F.self))
        isLocal = F.isLocal
        reloads = F.reloadsWhenInputsChange
        if let standIn = F._standIn {
            isExternal = true
            placeholder = { Payload(standIn()) }
        }
        equal = Equality(of: F.Instance.self)
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
        equal = Equality(of: Instance.self)
    }

    init<F: ThrowingFeature>(_: F.Type) {
        key = Key(raw: Key.throwingFeature(F.self))
        isLocal = F.isLocal
        reloads = F.reloadsWhenInputsChange
        isExternal = F._isExternal
        equal = Equality(of: F.Instance.self)
    }

    init<F: AsyncFeature>(_: F.Type) {
        key = Key(raw: Key.asyncFeature(F.self))
        isLocal = F.isLocal
        reloads = F.reloadsWhenInputsChange
        isExternal = F._isExternal
        equal = Equality(of: F.Instance.self)
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
