/// A key with the comparison that a write needs.
@frozen @usableFromInline struct TypedKey: Sendable {
    @usableFromInline let raw: UInt
    @usableFromInline let equal: Equality

    // Free if the compiler knows the type.
    @inlinable init<Value: Sendable>(_ raw: UInt, of _: Value.Type) {
        self.raw = raw
        equal = Equality(of: Value.self)
    }

    init<K: ContainerKey>(_: K.Type) { self.init(K._key.raw, of: K.ContainerValue.self) }
    init<K: ValueKey>(_ key: K) { self.init(key._key.raw, of: K.ContainerValue.self) }

    /// Creates a key for a reset, which compares nothing.
    init(resetting key: Key) { self.init(key.raw, of: Void.self) }

    var key: Key { Key(raw: raw) }
}

/// Compares the values of two payloads; values of a type that isn't `Equatable` are never equal.
@frozen @usableFromInline struct Equality: Sendable {
    @usableFromInline let type: Any.Type

    @inlinable init<Value: Sendable>(of type: Value.Type) { self.type = type }

    /// Returns the result if it's known without calling user code, so that it can be called under a lock.
    func known(_ left: Payload, _ right: Payload) -> Bool? {
        // The types that programs observe most often.
        if type == Int.self || type == Bool.self || type == UInt.self { return left.bits == right.bits }
        if type == Double.self { return left.value(as: Double.self) == right.value(as: Double.self) }
        return nil
    }

    /// Returns the result; call it outside every lock.
    func callAsFunction(_ left: Payload, _ right: Payload) -> Bool {
        if let known = known(left, right) { return known }
        // A cast would cost more than the rest of a set.
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

/// A conformance that is isolated to an actor is found only on that actor; elsewhere, such values count as different.
///
/// The runtime can't be asked to leave it out: the cast below sees it wherever it may be used.
private typealias AnyEquatable = any (Equatable & SendableMetatype)

/// The compiler refuses a cast to a type with a marker protocol unless that type is a generic parameter.
private func cast<T>(_ value: Any, to _: T.Type) -> T? { value as? T }
