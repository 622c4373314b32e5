/// A type from which a library reads settings by name: a container, the handle of a load, or a type of your own.
///
/// A library that takes one declares no keys and needs no container; its user decides where the values come from:
///
///     public init(settings: any PropertyReader) throws {
///         size = try settings.property("pool.size") ?? 10
///     }
///
/// With `FuguConfiguration`, sections of a container and the values of a source are readers, too.
public protocol PropertyReader: Sendable {
    /// Returns the value under a name.
    ///
    /// - Parameters:
    ///   - name: The dotted path.
    ///   - type: The type of the value.
    /// - Returns: The value, or `nil` if there is none.
    /// - Throws: An error if the value has another type. It quotes no value, since the value may be a secret.
    func property<Value: Decodable & Sendable>(_ name: String, as type: Value.Type) throws -> Value?
}

extension PropertyReader {
    /// Returns the value under a name, as the type that the context asks for.
    ///
    /// - Parameter name: The dotted path.
    /// - Returns: The value, or `nil` if there is none.
    /// - Throws: An error if the value has another type.
    public func property<Value: Decodable & Sendable>(_ name: String) throws -> Value? {
        try property(name, as: Value.self)
    }
}

extension PropertyContainer {
    /// Returns the value that code or a source gives under a name, without a key.
    ///
    /// If there is a ``PropertyKey`` with this name and type, the value is that of the key. Use a fixed set of names, because
    /// each is kept like a key. In a load, the read is recorded like any other.
    ///
    /// - Parameters:
    ///   - name: The dotted path.
    ///   - type: The type of the value.
    /// - Returns: The value, or `nil` if nothing gives one.
    /// - Throws: An error if the value has another type. It quotes no value, since the value may be a secret.
    /// - Complexity: O(*s*) for *s* sources of this container and its ancestors.
    public func property<Value: Decodable & Sendable>(_ name: String, as type: Value.Type) throws -> Value? {
        if let key = PropertyKey<Value>.existing(name) { return try _container.given(key, as: type) }
        return try _container.given(PropertyKey<Value?>.untyped(name), as: type) ?? nil
    }
}

extension Container {
    /// Returns the value of a key, unless its default applies.
    fileprivate func given<Stored: Sendable, Value: Decodable & Sendable>(
        _ key: PropertyKey<Stored>, as _: Value.Type
    ) throws -> Stored? {
        try atOneMoment {
            recordInput(key._key)
            let held = heldValues(of: key._key)
            switch held.answer {
            case .value: return self[key]
            case .failure(let error): throw held.unquoted(key.name ?? key.label, Value.self) ?? error
            case .nothing: return nil
            }
        }
    }
}

extension [HeldValue] {
    /// Returns the error of the first layer that has a wrong value, without the value.
    fileprivate func unquoted<Value: Decodable & Sendable>(_ name: String, _: Value.Type) -> (any Error)? {
        for case let (sources, .failure)? in lazy.map(\.supplied) {
            let answer = sources.answer(name, as: Value.self, form: nil, isSecret: true)
            return if case .failure(let error) = answer { error } else { nil }
        }
        return nil
    }
}
