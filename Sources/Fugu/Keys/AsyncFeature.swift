/// A feature whose load suspends and can fail: `try await container[Database.self]`.
///
/// The load runs in a separate task. It has the task-local values of the task that asked first, for example the trace of
/// that request, and its priority.
///
/// Canceling a waiter releases only that waiter. When the last waiter leaves, the load is canceled. No thread is
/// blocked while a task waits. A failure reaches everyone who waits, and the next read tries again.
///
/// To set an async feature, use `container.set(Database.self, to: database)` or `replace`; a subscript that suspends can't have
/// a setter.
public protocol AsyncFeature: FailableFeature where ContainerValue == Instance {
    /// The type that this feature provides. The default is the conforming type.
    associatedtype Instance: Sendable = Self
    /// Creates the instance.
    ///
    /// The method runs in its own task, once for each container in which an instance lives, however many tasks ask, and again
    /// after a failure or a reset. Fugu holds no lock while it runs.
    ///
    /// - Parameter container: The handle of the load, which records what you read from it.
    /// - Returns: The instance, which the container keeps.
    /// - Throws: An error that reaches everyone who waits. It isn't kept: the next read tries again.
    static func load(in container: any FeatureContainer) async throws -> Instance
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
    static func testValue(in container: any FeatureContainer) async throws -> TestValue
}

extension AsyncFeature {
    /// The library's record of the key.
    ///
    /// Don't use it directly.
    public static var _key: KeyDefinition { definition }

    /// Loads, or returns what is declared for an Xcode preview or for a test.
    static func make(in container: any FeatureContainer) async throws -> Payload {
        if PreviewRun.isOn, let preview = try _key.makePreview() { return preview }
        if hasTestValue, container._container.givesTestValue { return instance(try await testValue(in: container)) }
        reportUnused(in: container)
        return Payload(try await load(in: container))
    }

    static var definition: KeyDefinition {
        KeyDefinition(
            Key.asyncFeature(Self.self),
            .suspending { container, question in
                try await container.answer(question, Request(Self.self)) { try await make(in: $0) }
            }, hasTestValue: hasTestValue)
    }
}
