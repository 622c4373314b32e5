public import Fugu

/// A type from which a library reads settings by name: a container, a section of one, or a type of your own.
///
/// A library that takes one declares no keys and needs no container; its user decides where the values come from:
///
///     public init(settings: any PropertyReader) throws {
///         size = try settings.property("pool.size") ?? 10
///     }
///
/// The values of a source are a reader, too. From a load, pass a section of its handle, such as `container.section()`, since the type
/// of the handle is no reader.
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
    @_disfavoredOverload
    public func property<Value: Decodable & Sendable>(_ name: String) throws -> Value? {
        try property(name, as: Value.self)
    }
}

extension Container: PropertyReader {}
extension ObservableContainer: PropertyReader {}

extension PropertyContainer {
    /// Returns the value that code or a source gives under a name, without a key.
    ///
    /// If there is a `PropertyKey` with this name and type, the value is that of the key. Use a fixed set of names, because
    /// each is kept like a key. In a load, the read is recorded like any other.
    ///
    /// - Parameters:
    ///   - name: The dotted path.
    ///   - type: The type of the value.
    /// - Returns: The value, or `nil` if nothing gives one.
    /// - Throws: ``PropertyError`` if the value has another type. It quotes no value, since the value may be a secret.
    /// - Complexity: O(*s*) for *s* sources of this container and its ancestors.
    public func property<Value: Decodable & Sendable>(
        _ name: String, as type: Value.Type = Value.self
    ) throws -> Value? {
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
            let origins = origins(of: key)
            switch origins.answer() {
            case .success(_?): return self[key]
            case .failure(let error): throw origins.unquoted(key.shownName, Value.self) ?? error
            case .success(nil): return nil
            }
        }
    }

    /// Runs `read`, and repeats it until no sources of this container or its ancestors were replaced meanwhile.
    ///
    /// An error counts as a result. In a load, what any attempt has read is an input.
    func atOneMoment<R, E>(_ read: () throws(E) -> R) throws(E) -> R {
        func attempt() -> Result<R, E> {
            do throws(E) { return .success(try read()) } catch { return .failure(error) }
        }
        while true {
            let before = suppliers
            let result = attempt()
            if before.elementsEqual(suppliers, by: { $0 === $1 }) { return try result.get() }
        }
    }
}

extension Array {
    /// Returns the error of the first layer that has a wrong value, without the value.
    fileprivate func unquoted<Stored, Value: Decodable & Sendable>(_ name: String, _: Value.Type) -> (any Error)?
    where Element == ValueOrigin<Stored> {
        for case .sources(let sources, .failure) in self {
            let answer = sources.answer(name, as: Value.self, form: nil, isSecret: true)
            return if case .failure(let error) = answer { error } else { nil }
        }
        return nil
    }
}

extension PropertyContainer {
    /// Returns a view of the values under a prefix: its `port` is the container's `database.port`.
    ///
    /// - Parameter prefix: The dotted name of a table, or nothing for a view of all values.
    /// - Returns: The view.
    public func section(_ prefix: String = "") -> ConfigurationSection {
        ConfigurationSection(container: _container, prefix: prefix)
    }

    /// Reads several values from the same moment, without a reload in between.
    ///
    ///     let (host, port) = container.snapshot { ($0.host, $0.port) }
    ///
    /// If the sources of the container or of an ancestor are replaced in the meantime, it reads again. It doesn't hold
    /// back values that code sets at the same time.
    ///
    /// Call it on the handle of a load to create an instance from values that belong together, such as a certificate and its
    /// key. The values count as inputs of the load like all that it reads, even if it reads again.
    ///
    /// - Parameter read: A closure that reads the values from the container that it receives. It may run several times; the
    ///   last result counts, whether it's returned or thrown.
    /// - Returns: What `read` returns.
    /// - Throws: What `read` throws.
    /// - Complexity: Besides the closure, O(*d*) for *d* ancestors.
    public func snapshot<Result, E>(_ read: (Self) throws(E) -> Result) throws(E) -> Result {
        try _container.atOneMoment { () throws(E) in try read(self) }
    }
}

/// The values of a container under a prefix.
///
/// Pass one to a library that takes a `PropertyReader`.
public struct ConfigurationSection: PropertyReader {
    /// The container to read from.
    let container: Container
    /// The dotted name that precedes all names, or nothing.
    let prefix: String

    /// Returns the value that code or a source gives under a name in this section.
    ///
    /// - Parameters:
    ///   - name: The dotted path within the section.
    ///   - type: The type of the value.
    /// - Returns: The value, or `nil` if nothing gives one.
    /// - Throws: ``PropertyError`` if the value has another type.
    public func property<Value: Decodable & Sendable>(_ name: String, as type: Value.Type) throws -> Value? {
        try container.property(full(name), as: type)
    }

    /// Returns a section of this section.
    ///
    /// - Parameter name: The dotted name of a table within this one.
    /// - Returns: The section.
    public func section(_ name: String) -> ConfigurationSection {
        ConfigurationSection(container: container, prefix: full(name))
    }

    private func full(_ name: String) -> String { prefix.isEmpty ? name : "\(prefix).\(name)" }
}

/// A key that a list for `declare` and `validate` can hold: a `PropertyKey` of a
/// decodable value.
///
/// Only `PropertyKey` conforms to it.
public protocol ConfigurationKey: Sendable {}

extension PropertyKey: ConfigurationKey where Value: Decodable {}

extension Result where Failure == any Error {
    /// The error, if the answer is one.
    var mistake: PropertyError? {
        if case .failure(let error) = self { error as? PropertyError ?? PropertyError("\(error)") } else { nil }
    }
}
