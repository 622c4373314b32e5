/// A type that names something a container can hold.
///
/// Conform to ``Property``, ``Feature``, ``ThrowingFeature``, ``AsyncFeature``, or ``MainActorFeature``, not to this protocol.
public protocol ContainerKey {
    /// The type of the value or instance that a container holds.
    associatedtype ContainerValue: Sendable
    /// The library's record of the key. Don't use it directly.
    static var _key: KeyDefinition { get }
}

/// A type that names something that doesn't belong to the main actor: a ``Property``, ``Feature``, ``ThrowingFeature``, or
/// ``AsyncFeature``.
///
/// Conform to one of the four protocols, not to this one. A type that does so in its declaration is nonisolated, even in a module
/// whose default isolation is the main actor.
public protocol NonisolatedKey: ContainerKey, SendableMetatype {}

/// A key that is a value: a ``PropertyKey`` or ``FeatureKey``.
///
/// The library's key types conform to this protocol; no others do.
public protocol ValueKey<ContainerValue>: Sendable, Hashable {
    /// The type of the value or instance that a container holds.
    associatedtype ContainerValue: Sendable
    /// The library's record of the key. Don't use it directly.
    var _key: KeyDefinition { get }
}

/// The library's record of a key, of whatever kind.
///
/// Don't use it directly.
@_documentation(visibility: internal)
public struct KeyDefinition: Sendable {
    /// Loads a missing instance, and waits for it unless the kind is async.
    @usableFromInline typealias Prepare = @Sendable (Container, _ reportsFailure: Bool) -> PreparationHandle?

    @usableFromInline package let raw: UInt
    @usableFromInline let prepare: Prepare
    /// Whether the feature reaches outside the process.
    var isExternal = false
    /// Creates what a strict container gives instead of an external feature that can't throw.
    private(set) var placeholder: (@Sendable () -> Payload)?
    /// Creates what an Xcode preview gives instead of an external feature; throws only if the feature can.
    @usableFromInline private(set) var preview: (@Sendable () throws -> Payload)?
    private var name: (@Sendable () -> PropertyNaming?)?

    /// The name and type that sources need, if the key has a name.
    @usableFromInline package var naming: PropertyNaming? { name?() }

    @usableFromInline init(_ raw: UInt, prepare: @escaping Prepare) {
        self.raw = raw
        self.prepare = prepare
    }

    init(_ raw: UInt, naming: @escaping @Sendable () -> PropertyNaming?, prepare: @escaping Prepare) {
        self.init(raw, prepare: prepare)
        name = naming
    }

    init(
        _ raw: UInt, placeholder: @escaping @Sendable () -> Payload, preview: @escaping @Sendable () -> Payload,
        prepare: @escaping Prepare
    ) {
        self.init(raw, prepare: prepare)
        isExternal = true
        self.placeholder = placeholder
        self.preview = preview
    }

    /// Returns the definition of a throwing or async feature that reaches outside the process.
    func external(preview: @escaping @Sendable () throws -> Payload) -> KeyDefinition {
        var definition = self
        definition.isExternal = true
        definition.preview = preview
        return definition
    }
}

/// A load in progress that can be abandoned.
@usableFromInline struct PreparationHandle: Sendable {
    let task: Task<Void, Never>

    func cancel() { task.cancel() }
}
