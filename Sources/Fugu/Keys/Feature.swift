/// A service that a container creates on first use, from other keys of the container, and keeps.
///
///     struct Greeter: Feature {
///         let name: String
///         static func load(in container: any FeatureContainer) -> Greeter { Greeter(name: container[UserName.self]) }
///     }
///     container[Greeter.self].name
///
/// You don't declare scopes. The container records what `load(in:)` reads, and the instance lives in the deepest container
/// that holds any of it. A child that overrides an input gets its own instance.
///
/// The instance can be of another type than the one that conforms, for example the existential of a protocol:
///
///     enum LinkStore: Feature {
///         static func load(in container: any FeatureContainer) -> any LinkRepository { SQLLinks() }
///     }
///     container[LinkStore.self] = InMemoryLinks()
///
/// An instance is `Sendable`, and so is a protocol whose values are instances. The compiler infers the conformance of a
/// struct, except of a public one: write `public struct Greeter: Feature, Sendable`.
///
/// Write the conformance in the declaration of the type. The type is then nonisolated, even in a module whose default isolation
/// is the main actor. What belongs to the main actor conforms to ``MainActorFeature`` instead.
public protocol Feature: Keyed where Held == Instance {
    /// The type of the instance.
    @_documentation(visibility: internal)
    associatedtype Held = Instance
    /// The type that this feature provides. The default is the conforming type.
    associatedtype Instance: Sendable = Self
    /// Creates the instance.
    ///
    /// The method runs once, however many threads ask, and Fugu holds no lock while it runs.
    ///
    /// - Parameter container: The handle of the load. It records what you read from it, and you can register teardown
    ///   closures with it, but you can't set anything. If the instance keeps it, it answers from the container in which the
    ///   instance lives.
    /// - Returns: The instance, which the container keeps.
    static func load(in container: any FeatureContainer) -> Instance
    /// A Boolean value that indicates whether the container reloads the instance when one of its inputs changes.
    ///
    /// The default is `false`: the instance stays, and ``Container/graph`` marks it as stale.
    static var reloadsWhenInputsChange: Bool { get }
    /// A Boolean value that indicates whether every container loads its own instance, regardless of the inputs.
    ///
    /// The default is `false`.
    static var isLocal: Bool { get }
    /// A Boolean value that indicates whether the instance must live in the root.
    ///
    /// The default is `false`. If it's `true`, a read through a child that overrides one of the inputs is an error, so that
    /// an expensive instance is never loaded once for each request by accident.
    static var isShared: Bool { get }
    /// The placeholder of an external feature. Don't use it directly.
    static var _standIn: (() -> Instance)? { get }
    /// Loads, or returns the preview in an Xcode preview. Don't use it directly.
    static func _make(in container: any FeatureContainer) -> Instance
}

extension Feature {
    /// The default, `false`: the instance stays when its inputs change.
    public static var reloadsWhenInputsChange: Bool { false }
    /// The default, `false`: the instance lives where its inputs live.
    public static var isLocal: Bool { false }
    /// The default, `false`: the instance lives where its inputs live.
    public static var isShared: Bool { false }
    /// The identity of the key.
    ///
    /// Don't use it directly.
    @inlinable @inline(__always) public static var _raw: UInt { Key.feature(Self.self) }
    /// The default, `nil`.
    ///
    /// Don't use it directly.
    public static var _standIn: (() -> Instance)? { nil }
    /// Loads.
    ///
    /// Don't use it directly.
    @inlinable public static func _make(in container: any FeatureContainer) -> Instance { load(in: container) }
    /// Loads the instance if there is none.
    ///
    /// Don't use it directly.
    public static func _prepare(in container: Container, reportsFailure: Bool) -> PreparationHandle? {
        container.prepare(Request(Self.self)) { Payload(_make(in: $0)) }
    }
}

/// A feature that reaches outside the process, and that strict containers, those of tests, therefore refuse to load.
public protocol ExternalFeature: Feature {
    /// The instance that a strict container gives after it has failed the test, so that the test goes on.
    ///
    /// For a struct of closures, use ``unimplemented(_:placeholder:fileID:line:)`` for each closure.
    static var placeholder: Instance { get }
    /// The instance that containers give in an Xcode preview. The default is the placeholder.
    ///
    /// Fugu recognizes a preview by the environment variable `XCODE_RUNNING_FOR_PREVIEWS`, set to `1`.
    static var preview: Instance { get }
}

extension ExternalFeature {
    /// The placeholder.
    ///
    /// Don't use it directly.
    public static var _standIn: (() -> Instance)? { { placeholder } }
    /// The placeholder.
    public static var preview: Instance { placeholder }
    /// Loads, or returns the preview in an Xcode preview.
    ///
    /// Don't use it directly.
    public static func _make(in container: any FeatureContainer) -> Instance {
        PreviewRun.isOn ? preview : load(in: container)
    }
}
