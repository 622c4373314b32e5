/// A feature whose load suspends and can fail: `try await container[Database.self]`.
///
/// The load runs in a task of its own. It has the task-local values of the task that asked first, for example the trace of
/// that request, and its priority. A later waiter with a higher priority raises it, where the runtime supports that (on the
/// 2025 systems and later, and on Linux).
///
/// Canceling a waiter releases only that waiter. When the last waiter leaves, the load is canceled. No thread is
/// blocked while a task waits. A failure reaches everyone who waits, and the next read tries again.
///
/// To swap an async feature, use `container.set(Database.self, to: database)` or `replace`; a subscript that suspends can't have
/// a setter.
public protocol AsyncFeature: Keyed where Held == Instance {
    /// The type of the instance.
    @_documentation(visibility: internal)
    associatedtype Held = Instance
    /// The type that this feature provides. The default is the conforming type.
    associatedtype Instance: Sendable = Self
    /// Creates the instance.
    ///
    /// The method runs once, however many tasks ask, in a task of its own, and Fugu holds no lock while it runs.
    ///
    /// - Parameter container: The handle of the load, which records what you read from it.
    /// - Returns: The instance, which the container keeps.
    /// - Throws: An error that reaches everyone who waits. It isn't kept: the next read tries again.
    static func load(in container: any FeatureContainer) async throws -> Instance
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
    /// A Boolean value that indicates whether the feature is external. Don't use it directly.
    static var _isExternal: Bool { get }
    /// What an external feature gives in an Xcode preview. Don't use it directly.
    static var _preview: (() throws -> Instance)? { get }
}

extension AsyncFeature {
    /// The default, `false`: the instance stays when its inputs change.
    public static var reloadsWhenInputsChange: Bool { false }
    /// The default, `false`: the instance lives where its inputs live.
    public static var isLocal: Bool { false }
    /// The default, `false`: the instance lives where its inputs live.
    public static var isShared: Bool { false }
    /// The identity of the key.
    ///
    /// Don't use it directly.
    @inlinable @inline(__always) public static var _raw: UInt { Key.asyncFeature(Self.self) }
    /// The default, `false`.
    ///
    /// Don't use it directly.
    public static var _isExternal: Bool { false }
    /// The default, `nil`.
    ///
    /// Don't use it directly.
    @inlinable public static var _preview: (() throws -> Instance)? { nil }
    /// Begins to load the instance if there is none.
    ///
    /// Don't use it directly.
    public static func _prepare(in container: Container, reportsFailure: Bool) -> PreparationHandle? {
        PreparationHandle(
            task: Task {
                do {
                    _ = try await container[Self.self]
                } catch {
                    if reportsFailure { container.reportFailedReload(of: Key(raw: _raw), error) }
                }
            })
    }
}

/// An async feature that reaches outside the process, and that strict containers therefore refuse to load: they throw.
public protocol ExternalAsyncFeature: AsyncFeature {
    /// The instance that containers give in an Xcode preview. The default throws ``LoadError``.
    ///
    /// Fugu recognizes a preview by the environment variable `XCODE_RUNNING_FOR_PREVIEWS`, set to `1`.
    static var preview: Instance { get throws }
}

extension ExternalAsyncFeature {
    /// Always `true`.
    ///
    /// Don't use it directly.
    public static var _isExternal: Bool { true }
    /// The default, which throws ``LoadError``: there is no preview.
    public static var preview: Instance { get throws { throw LoadError.noPreview(Key(raw: _raw)) } }
    /// The preview, in an Xcode preview.
    ///
    /// Don't use it directly.
    public static var _preview: (() throws -> Instance)? { PreviewRun.isOn ? { try preview } : nil }
}
