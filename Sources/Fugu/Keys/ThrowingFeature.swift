/// A feature whose load can fail: `try container[Parsed.self]`.
///
/// A failure reaches everyone who waits and isn't kept: the next read tries again.
///
/// To swap a throwing feature, use `container.set(Parsed.self, to: parsed)` or `replace`; a subscript that throws can't have a
/// setter.
public protocol ThrowingFeature: Keyed where Held == Instance {
    /// The type of the instance.
    @_documentation(visibility: internal)
    associatedtype Held = Instance
    /// The type that this feature provides. The default is the conforming type.
    associatedtype Instance: Sendable = Self
    /// Creates the instance.
    ///
    /// The method runs once, however many threads ask, and Fugu holds no lock while it runs.
    ///
    /// - Parameter container: The handle of the load, which records what you read from it.
    /// - Returns: The instance, which the container keeps.
    /// - Throws: An error that reaches everyone who waits. It isn't kept: the next read tries again.
    static func load(in container: any FeatureContainer) throws -> Instance
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

extension ThrowingFeature {
    /// The default, `false`: the instance stays when its inputs change.
    public static var reloadsWhenInputsChange: Bool { false }
    /// The default, `false`: the instance lives where its inputs live.
    public static var isLocal: Bool { false }
    /// The default, `false`: the instance lives where its inputs live.
    public static var isShared: Bool { false }
    /// The identity of the key.
    ///
    /// Don't use it directly.
    @inlinable @inline(__always) public static var _raw: UInt { Key.throwingFeature(Self.self) }
    /// The default, `false`.
    ///
    /// Don't use it directly.
    public static var _isExternal: Bool { false }
    /// The default, `nil`.
    ///
    /// Don't use it directly.
    @inlinable public static var _preview: (() throws -> Instance)? { nil }
    /// Loads the instance if there is none.
    ///
    /// Don't use it directly.
    public static func _prepare(in container: Container, reportsFailure: Bool) -> PreparationHandle? {
        do {
            _ = try container.readSlowly(Self.self, nil)
        } catch {
            if reportsFailure { container.reportFailedReload(of: Key(raw: _raw), error) }
        }
        return nil
    }
}

/// A throwing feature that reaches outside the process, and that strict containers therefore refuse to load: they throw.
public protocol ExternalThrowingFeature: ThrowingFeature {
    /// The instance that containers give in an Xcode preview. The default throws ``LoadError``.
    ///
    /// Fugu recognizes a preview by the environment variable `XCODE_RUNNING_FOR_PREVIEWS`, set to `1`.
    static var preview: Instance { get throws }
}

extension ExternalThrowingFeature {
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
