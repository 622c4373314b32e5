// The value that a feature declares for tests, which strict containers load in place of the feature, and previews, too, unless the
// feature declares one for them.

extension ContainerKey {
    /// Not used: a feature without a value for tests has none.
    public static func testValue(in container: any FeatureContainer) -> Never {
        fatalError(Messages.noTestValue("\(Self.self)"))
    }

    /// Not used: a feature that declares no such function has none.
    @_documentation(visibility: internal)
    public static func testValue() throws -> UnusedTestFunction { fatalError(Messages.noTestValue("\(Self.self)")) }

    /// Not used: a feature that declares no such method has none.
    @_documentation(visibility: internal)
    public func testValue(in container: any FeatureContainer) throws -> UnusedTestFunction {
        fatalError(Messages.noTestValue("\(Self.self)"))
    }

    /// Returns a value for tests as an instance, whose type it may name less generally.
    @usableFromInline static func instance<TestValue>(_ value: TestValue) -> Payload {
        guard let instance = value as? ContainerValue else {
            fatalError(Messages.wrongTestValue("\(Self.self)", "\(TestValue.self)", "\(ContainerValue.self)"))
        }
        return Payload(instance)
    }
}

extension NonisolatedFeature {
    /// Not used: a feature that declares no such variable has none.
    @_documentation(visibility: internal)
    public static var testValue: Void { () }
    /// Not used: a feature that isn't ``External`` has none.
    @_documentation(visibility: internal)
    public static var placeholder: Void { () }
    /// Not used: a feature that isn't ``External`` has none.
    @_documentation(visibility: internal)
    public static var preview: Void { () }

    /// Reports, in a strict container, what the feature that loads declares for tests in a way that isn't used.
    @inlinable static func reportUnused(in container: any FeatureContainer) {
        if hasUnusedTestValue { container._container.reportUnusedTestValue() }
        if UnusedPlaceholder.self == ContainerValue.self {
            container._container.reportForgottenExternal("placeholder")
        } else if UnusedPreview.self == ContainerValue.self {
            container._container.reportForgottenExternal("preview")
        }
    }

    @inlinable static var hasUnusedTestValue: Bool {
        UnusedTestValue.self != Void.self || UnusedTestFunction.self != Void.self
    }
}

extension Key {
    /// Whether the type declares a value for tests in a form that isn't used.
    package var hasUnusedTestValue: Bool { (type as? any NonisolatedFeature.Type)?.hasUnusedTestValue == true }
}

extension Feature {
    @inlinable static var hasTestValue: Bool { TestValue.self != Never.self }
    /// Makes the value for tests, if one is declared.
    @inlinable static var testLoad: (@Sendable (Container) -> Payload)? {
        if hasTestValue { { instance(testValue(in: $0)) } } else { nil }
    }
}

extension ThrowingFeature {
    @usableFromInline static var hasTestValue: Bool { TestValue.self != Never.self }
}

extension AsyncFeature {
    static var hasTestValue: Bool { TestValue.self != Never.self }
}

extension MainActorFeature {
    /// Not used: a feature that declares no such variable has none.
    @_documentation(visibility: internal)
    public static var testValue: Void { () }

    @usableFromInline nonisolated static var hasTestValue: Bool { TestValue.self != Never.self }
}

extension External where Self: Feature, TestValue == Instance {
    /// Not used: a strict container gives the value for tests instead.
    public static var placeholder: Instance { fatalError(Messages.noPlaceholder("\(Self.self)")) }
}
