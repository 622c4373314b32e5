/// What a write knows of a key: how two values of it are compared.
@usableFromInline struct TypedKey: Sendable {
    @usableFromInline let raw: UInt
    @usableFromInline let equal: Equality

    // Where the type is known it costs nothing.
    @inlinable init<Value: Sendable>(_ raw: UInt, of _: Value.Type) {
        self.raw = raw
        equal = Equality(of: Value.self)
    }

    init<K: Keyed>(_: K.Type) { self.init(K._raw, of: K.Held.self) }
    init<K: ValueKey>(_ key: K) { self.init(key._raw, of: K.Held.self) }

    /// For a reset, which compares nothing.
    init(resetting key: Key) { self.init(key.raw, of: Void.self) }

    var key: Key { Key(raw: raw) }
}

/// Says whether two payloads hold equal values; they do not if their type cannot say.
@usableFromInline struct Equality: Sendable {
    @usableFromInline let type: Any.Type

    @inlinable init<Value: Sendable>(of type: Value.Type) { self.type = type }

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
