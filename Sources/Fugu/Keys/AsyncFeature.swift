/// A feature whose load suspends and can fail: `try await container[Database.self]`.
///
/// The load runs in a task of its own with the task-local values of the task that asked first, whoever asks later: what
/// belongs to one request, a trace say, is found in the load only of the request that began it. It has that task's priority,
/// too, raised to that of every later one where the runtime can (from the 2025 systems on, and on Linux).
///
/// Cancelling one who waits releases that one alone; when the last one leaves, the load is cancelled. No thread is blocked
/// while a task waits. A failure reaches those who waited and is not kept.
public protocol AsyncFeature: Keyed, SendableMetatype where Held == Instance {
    /// What is held: the instance.
    associatedtype Held = Instance
    /// What is made; the conforming type itself unless said.
    associatedtype Instance: Sendable = Self
    /// Makes the instance or throws. Runs once however many tasks ask, without any lock held.
    static func load(in container: any FeatureContainer) async throws -> Instance
    /// Whether the instance is dropped and made anew when something changes that it was made from. False unless said.
    static var reloadsWhenInputsChange: Bool { get }
    /// Whether each container that asks makes its own, though it reads nothing of its own. False unless said.
    static var isLocal: Bool { get }
    /// Whether it must live in the root. False unless said.
    ///
    /// A read through a child that overrides something it was made from is then an error, so that what is dear is never
    /// made once for each request by accident.
    static var isShared: Bool { get }
    /// Whether it reaches outside the process; declared by ``ExternalAsyncFeature``. Not for use outside this library.
    static var _isExternal: Bool { get }
}

extension AsyncFeature {
    /// No: the instance stays when its inputs change.
    public static var reloadsWhenInputsChange: Bool { false }
    /// No: it lives where its inputs live.
    public static var isLocal: Bool { false }
    /// No: it lives where its inputs live.
    public static var isShared: Bool { false }
    /// The identity of the key. Not for use outside this library.
    @inlinable @inline(__always) public static var _raw: UInt { Key.asyncFeature(Self.self) }
    /// No: it does not reach outside the process. Not for use outside this library.
    public static var _isExternal: Bool { false }
    /// Begins to load the instance if there is none. Not for use outside this library.
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

/// An async feature that reaches outside the process. Strict containers throw instead of loading it.
public protocol ExternalAsyncFeature: AsyncFeature {}

extension ExternalAsyncFeature {
    /// Yes: it reaches outside the process. Not for use outside this library.
    public static var _isExternal: Bool { true }
}
