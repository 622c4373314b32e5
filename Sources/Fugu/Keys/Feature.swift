/// A service that a container creates on first use, from other keys of the container, and keeps.
///
///     struct Greeter: Feature {
///         let name: String
///         static func load(in container: any FeatureContainer) -> Greeter { Greeter(name: container[UserName.self]) }
///     }
///     container[Greeter.self].name
///
/// You don't declare scopes. The container records what `load(in:)` reads, and the instance lives in the deepest container
/// that holds any of it. A child that overrides an input gets its own instance.
///
/// The instance can be of another type than the one that conforms, for example the existential of a protocol:
///
///     enum LinkStore: Feature {
///         static func load(in container: any FeatureContainer) -> any LinkRepository { SQLLinks() }
///     }
///     container[LinkStore.self] = InMemoryLinks()
///
/// An instance is `Sendable`, and so is a protocol whose values are instances. The compiler infers the conformance of a
/// struct, except of a public one: write `public struct Greeter: Feature, Sendable`.
///
/// Write the conformance in the declaration of the type. The type is then nonisolated, even in a module whose default isolation
/// is the main actor. What belongs to the main actor conforms to ``MainActorFeature`` instead.
public protocol Feature: NonisolatedFeature, PlainKey where ContainerValue == Instance {
    /// The type that this feature provides. The default is the conforming type.
    associatedtype Instance: Sendable = Self
    /// Creates the instance.
    ///
    /// The method runs once for each container in which an instance lives, however many threads ask, and again after a
    /// reset. Fugu holds no lock while it runs.
    ///
    /// - Parameter container: The handle of the load. It records what you read from it, and you can register teardown
    ///   closures with it, but you can't set anything. If the instance keeps it, it answers from the container in which the
    ///   instance lives.
    /// - Returns: The instance, which the container keeps.
    static func load(in container: any FeatureContainer) -> Instance
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
    static func testValue(in container: any FeatureContainer) -> TestValue
}

extension Feature {
    /// The library's record of the key.
    ///
    /// Don't use it directly.
    @inlinable public static var _key: KeyDefinition {
        KeyDefinition(Key.feature(Self.self), testValue: testLoad) { try $0.answer($1, for: Self.self) }
    }

    /// Loads, or returns what is declared for an Xcode preview or for a test.
    @inlinable static func make(in container: any FeatureContainer) -> Payload {
        if PreviewRun.isOn, let preview = PreviewRun.make(_key) { return preview }
        if TestValue.self != Never.self, container._container.givesTestValue {
            return instance(testValue(in: container))
        }
        reportUnused(in: container)
        return Payload(load(in: container))
    }
}
