/// A type that names something a container can hold: a ``Property``, ``Feature``, ``ThrowingFeature``, or ``AsyncFeature``.
///
/// Conform to one of the four protocols, not to this one. A type that does so in its declaration is nonisolated, even in a module
/// whose default isolation is the main actor.
public protocol Keyed: SendableMetatype {
    /// The type of the value or instance.
    associatedtype Held: Sendable
    /// The identity of the key. Don't use it directly.
    static var _raw: UInt { get }
    /// How sources are asked for it. Don't use it directly.
    static var _naming: PropertyNaming? { get }
    /// Loads a missing instance, and waits for it unless the kind is async. Don't use it directly.
    static func _prepare(in container: Container, reportsFailure: Bool) -> PreparationHandle?
}

extension Keyed {
    /// Nothing: sources are asked for named properties only.
    ///
    /// Don't use it directly.
    public static var _naming: PropertyNaming? { nil }
}

/// A key that is a value: a ``PropertyKey`` or ``FeatureKey``.
///
/// The two key types conform to this protocol; no others do.
public protocol ValueKey<Held>: Sendable, Hashable {
    /// The type of the key's value or instance.
    associatedtype Held: Sendable
    /// The identity of the key. Don't use it directly.
    var _raw: UInt { get }
    /// How sources are asked for it. Don't use it directly.
    var _naming: PropertyNaming? { get }
    /// Reads the key, and loads a missing instance. Don't use it directly.
    func _read(in container: Container) -> Held
    /// Loads a missing instance. Don't use it directly.
    func _prepare(in container: Container)
}

extension ValueKey {
    /// Nothing: sources are asked for named properties only.
    ///
    /// Don't use it directly.
    public var _naming: PropertyNaming? { nil }
}

/// A load in progress that can be abandoned.
///
/// Don't use it directly.
@_documentation(visibility: internal)
public struct PreparationHandle: Sendable {
    let task: Task<Void, Never>

    func cancel() { task.cancel() }
}
