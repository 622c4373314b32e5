/// A value that a container holds under this type's name.
///
///     struct Timeout: Property { static var defaultValue: Duration { .seconds(30) } }
///     container[Timeout.self] = .seconds(5)
///
/// `defaultValue` is evaluated at the first read in each family of containers and kept until it is reset.
public protocol Property: Keyed where Held == Value {
    /// What is held: the value.
    associatedtype Held = Value
    /// What is held. Classes are shared, everything else is copied.
    associatedtype Value: Sendable
    /// The value while nothing was set. Runs at most once at a time for a container and without any lock held.
    static var defaultValue: Value { get }
    /// Whether the value must never be printed, by no error, report, graph or description. False unless said.
    static var isSecret: Bool { get }
}

extension Property {
    /// No: the value may be printed.
    public static var isSecret: Bool { false }
    /// The identity of the key. Not for use outside this library.
    @inlinable @inline(__always) public static var _raw: UInt { Key.property(Self.self) }
    /// Evaluates the default if there is no value. Not for use outside this library.
    public static func _prepare(in container: Container, reportsFailure: Bool) -> PreparationHandle? {
        container.prepare(Request(Self.self)) { _ in Payload(defaultValue) }
    }
}

/// A property that sources may supply under a dotted name, `api.timeout`.
public protocol NamedProperty: Property where Value: Decodable {
    /// The dotted path under which sources are asked.
    static var name: String { get }
    /// One line that says what the value is for, as `--help` and sample files show it. The default is `nil`.
    static var help: String? { get }
}

extension NamedProperty {
    /// Nothing is said of the value.
    public static var help: String? { nil }

    /// Its name and how it is decoded. Not for use outside this library.
    public static var _naming: PropertyNaming? { PropertyNaming(name, Value.self, isSecret: isSecret) }
}
