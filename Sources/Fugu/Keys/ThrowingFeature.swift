/// A feature whose load can fail: `try container[Parsed.self]`.
///
/// A failure reaches those who waited for it and is not kept: the next read tries again.
public protocol ThrowingFeature: Keyed where Held == Instance {
    /// What is held: the instance.
    associatedtype Held = Instance
    /// What is made; the conforming type itself unless said.
    associatedtype Instance: Sendable = Self
    /// Makes the instance or throws. Runs once however many threads ask, without any lock held.
    static func load(in container: any FeatureContainer) throws -> Instance
    /// Whether the instance is dropped and made anew when something changes that it was made from. False unless said.
    static var reloadsWhenInputsChange: Bool { get }
    /// Whether each container that asks makes its own, though it reads nothing of its own. False unless said.
    static var isLocal: Bool { get }
    /// Whether it must live in the root. False unless said.
    ///
    /// A read through a child that overrides something it was made from is then an error, so that what is dear is never
    /// made once for each request by accident.
    static var isShared: Bool { get }
    /// Whether it reaches outside the process; declared by ``ExternalThrowingFeature``. Not for use outside this library.
    static var _isExternal: Bool { get }
}

extension ThrowingFeature {
    /// No: the instance stays when its inputs change.
    public static var reloadsWhenInputsChange: Bool { false }
    /// No: it lives where its inputs live.
    public static var isLocal: Bool { false }
    /// No: it lives where its inputs live.
    public static var isShared: Bool { false }
    /// The identity of the key. Not for use outside this library.
    @inlinable @inline(__always) public static var _raw: UInt { Key.throwingFeature(Self.self) }
    /// No: it does not reach outside the process. Not for use outside this library.
    public static var _isExternal: Bool { false }
    /// Loads the instance if there is none. Not for use outside this library.
    public static func _prepare(in container: Container, reportsFailure: Bool) -> PreparationHandle? {
        do {
            _ = try container.readSlowly(Self.self, nil)
        } catch {
            if reportsFailure { container.reportFailedReload(of: Key(raw: _raw), error) }
        }
        return nil
    }
}

/// A feature that can fail and reaches outside the process. Strict containers throw instead of loading it.
public protocol ExternalThrowingFeature: ThrowingFeature {}

extension ExternalThrowingFeature {
    /// Yes: it reaches outside the process. Not for use outside this library.
    public static var _isExternal: Bool { true }
}
