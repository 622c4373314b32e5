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
/// container.greeter.greet()
/// container.observe(\.timeout) { print($0) }
/// ```
///
/// A member can also be the key of a type that conforms to ``Feature`` or ``MainActorFeature``. Then the member reads and sets what
/// the type does:
///
/// ```swift
/// extension ContainerKeys {
///     var mailer: FeatureKey<any MailService> { .init(Mailer.self) }
/// }
///
/// container.mailer.send("Hello")
/// ```
///
/// Properties and features share the namespace, so the compiler refuses a name that is given twice. Members are nonisolated,
/// even in a module whose default isolation is the main actor.
@frozen public struct ContainerKeys: Sendable, KeyNamespace {
    /// Creates the namespace.
    ///
    /// It has no configuration.
    @inlinable public init() {}
}

extension ContainerKeys {
    /// The name of a container in debuggers, and in graphs and explanations, for which you import FuguInspection.
    ///
    ///     let request = container.child { $0.containerName = "request 7" }
    ///     print(request.explain(Session.self))  // … It lives in request 7, because it read \.requestID, which is set there.
    ///
    /// A container without a name is numbered. What you set here counts for this container alone,
    /// although children can read it, and isn't an entry of the graph. Use nothing secret.
    public var containerName: PropertyKey<String?> { .init() }
}

/// Keeps the members of ``ContainerKeys`` nonisolated in every module.
///
/// Don't use it directly.
@_documentation(visibility: internal)
public protocol KeyNamespace: SendableMetatype {}

extension Key {
    /// The key of a container's own name.
    package static let containerName = Key(raw: ContainerKeys().containerName.raw)
}
