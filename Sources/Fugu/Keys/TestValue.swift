// The value that a feature declares for tests, which strict containers load in place of the feature, and previews, too, unless the
// feature declares one for them.

extension ContainerKey {
    /// Not used: a feature without a value for tests has none.
    public static func testValue(in container: any FeatureContainer) -> Never {
        fatalError(Messages.noTestValue("\(Self.self)"))
    }

    /// Not used: a feature that declares no such variable has none.
    @_documentation(visibility: internal)
    public static var testValue: Void { () }

    /// Returns a value for tests as an instance, whose type it may name less generally.
    @usableFromInline static func instance<TestValue>(_ value: TestValue) -> Payload {
        guard let instance = value as? ContainerValue else {
            fatalError(Messages.wrongTestValue("\(Self.self)", "\(TestValue.self)", "\(ContainerValue.self)"))
        }
        return Payload(instance)
    }
}

extension Container {
    /// Whether the load of a feature that has a value for tests gives it.
    @usableFromInline var givesTestValue: Bool { PreviewRun.isOn || isStrict }

    /// Reports the feature that loads, which declares a value for tests in a way that isn't used.
    @usableFromInline func reportUnusedTestValue() {
        guard givesTestValue, case .handle(let load) = role, let key = load.key else { return }
        let node = node
        let isNew = node.family.lock.withLock { token in node.family.state[token].isNew(key, key) }
        if isNew { node.family.reports.report(Messages.unusedTestValue(load)) }
    }
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
    @usableFromInline nonisolated static var hasTestValue: Bool { TestValue.self != Never.self }
}

extension External where Self: Feature, TestValue == Instance {
    /// Not used: a strict container gives the value for tests instead.
    public static var placeholder: Instance { fatalError(Messages.noPlaceholder("\(Self.self)")) }
    /// The default, by which a preview gives the value for tests.
    public static var preview: Instance { get throws { throw LoadError.noPreview(Key(raw: _key.raw)) } }
}
