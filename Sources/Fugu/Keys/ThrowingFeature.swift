/// A feature whose load can fail: `try container[Parsed.self]`.
///
/// A failure reaches everyone who waits and isn't kept: the next read tries again.
///
/// To set a throwing feature, use `container.set(Parsed.self, to: parsed)` or `replace`; a subscript that throws can't have a
/// setter.
public protocol ThrowingFeature: FailableFeature where ContainerValue == Instance {
    /// The type of the instance.
    @_documentation(visibility: internal)
    associatedtype ContainerValue = Instance
    /// The type that this feature provides. The default is the conforming type.
    associatedtype Instance: Sendable = Self
    /// Creates the instance.
    ///
    /// The method runs once for each container in which an instance lives, however many threads ask, and again after a
    /// failure or a reset. Fugu holds no lock while it runs.
    ///
    /// - Parameter container: The handle of the load, which records what you read from it.
    /// - Returns: The instance, which the container keeps.
    /// - Throws: An error that reaches everyone who waits. It isn't kept: the next read tries again.
    static func load(in container: any FeatureContainer) throws -> Instance
}

extension ThrowingFeature {
    /// The library's record of the key.
    ///
    /// Don't use it directly.
    public static var _key: KeyDefinition { definition }

    /// Loads, or returns the preview of an external feature in an Xcode preview.
    @inlinable static func make(in container: any FeatureContainer) throws -> Payload {
        if PreviewRun.isOn, let preview = _key.preview { return try preview() }
        return Payload(try load(in: container))
    }

    static var definition: KeyDefinition {
        KeyDefinition(Key.throwingFeature(Self.self)) {
            try $0.answer($1, { Request(Self.self) }, { try make(in: $0) })
        }
    }
}
