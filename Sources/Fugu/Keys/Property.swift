/// A value that a container holds under this type's name.
///
///     struct Timeout: Property { static var defaultValue: Duration { .seconds(30) } }
///     container[Timeout.self] = .seconds(5)
///
/// Each family of containers evaluates `defaultValue` at the first read and keeps the result until you reset it. A default that
/// reads from ``Container/current`` follows what it reads: it's evaluated again when that changes, and for each container that
/// overrides it.
public protocol Property: PlainKey where ContainerValue == Value {
    /// The type of the value.
    @_documentation(visibility: internal)
    associatedtype ContainerValue = Value
    /// The type of the value. Instances of classes are shared; everything else is copied.
    associatedtype Value: Sendable
    /// The value while nothing is set.
    ///
    /// A family of containers evaluates it at the first read and keeps it until `reset`. Fugu holds no lock while it runs.
    static var defaultValue: Value { get }
    /// A Boolean value that indicates whether the value must never be printed in errors, reports, graphs, or descriptions.
    ///
    /// The default is `false`.
    static var isSecret: Bool { get }
}

extension Property {
    /// The default, `false`: the value may be printed.
    public static var isSecret: Bool { false }
    /// The library's record of the key.
    ///
    /// Don't use it directly.
    @inlinable public static var _key: KeyDefinition {
        KeyDefinition(Key.property(Self.self)) {
            try $0.answer($1, for: Self.self)
        }
    }
}
