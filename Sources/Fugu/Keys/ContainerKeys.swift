/// The namespace of the keys that a program declares, one line for each.
///
/// Declare a computed property in an extension, and every container has a member of that name:
///
/// ```swift
/// extension ContainerKeys {
///     var timeout: PropertyKey<Int> { .init(defaultValue: 30) }
///     var greeter: FeatureKey<Greeter> { .init { Greeter(name: $0.userName) } }
/// }
///
/// container.timeout = 5
/// container[\.greeter].greet()
/// container.observe(\.timeout) { print($0) }
/// ```
///
/// Properties and features share the namespace, so the compiler refuses a name that is given twice.
public struct ContainerKeys: Sendable {
    /// Creates the namespace.
    ///
    /// It has no configuration.
    @inlinable public init() {}
}
