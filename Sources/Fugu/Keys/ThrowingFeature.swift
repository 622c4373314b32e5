/// A feature whose load can fail: `try container[Parsed.self]`.
///
/// A failure reaches everyone who waits and isn't kept: the next read tries again.
///
/// To set a throwing feature, use `container.set(Parsed.self, to: parsed)` or `replace`; a subscript that throws can't have a
/// setter.
public protocol ThrowingFeature: FailableFeature where ContainerValue == Instance {
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
    /// The type of the value for tests, or `Never` if the feature declares none.
    @_documentation(visibility: internal)
    associatedtype TestValue
    /// Creates the instance for a test.
    ///
    /// Declare it for a feature that reaches outside the process, and a test needn't set the feature: the test's own container loads
    /// this value in place of ``load(in:)`` and keeps it like any other instance. A preview gives it, too, unless the feature declares
    /// ``External/preview``. A feature without a value for tests is loaded, or refused if it's ``External``.
    ///
    /// ```swift
    /// static func testValue(in container: any FeatureContainer) -> any LinkRepository { InMemoryLinks() }
    /// ```
    ///
    /// - Parameter container: The handle of the load, which records what you read from it.
    /// - Returns: The instance, which the container keeps.
    /// - Throws: An error that reaches everyone who waits. It isn't kept: the next read tries again.
    static func testValue(in container: any FeatureContainer) throws -> TestValue
}

extension ThrowingFeature {
    /// The library's record of the key.
    ///
    /// Don't use it directly.
    public static var _key: KeyDefinition { definition }

    /// Loads, or returns what is declared for an Xcode preview or for a test.
    @inlinable static func make(in container: any FeatureContainer) throws -> Payload {
        if PreviewRun.isOn, let preview = try _key.makePreview() { return preview }
        if TestValue.self != Never.self, container._container.givesTestValue {
            return instance(try testValue(in: container))
        }
        reportUnused(in: container)
        return Payload(try load(in: container))
    }

    static var definition: KeyDefinition {
        KeyDefinition(
            Key.throwingFeature(Self.self),
            .plain { try $0.answer($1, { Request(Self.self) }, { try make(in: $0) }) }, hasTestValue: hasTestValue)
    }
}
