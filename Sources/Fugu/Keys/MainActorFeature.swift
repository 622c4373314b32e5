/// A feature that belongs to the main actor: `container[Screen.self]`.
///
///     final class Screen: MainActorFeature {
///         let title: String
///         init(title: String) { self.title = title }
///         static func load(in container: any FeatureContainer) -> Screen { Screen(title: container.city) }
///     }
///
/// A type that conforms in its declaration belongs to the main actor, with or without `@MainActor`. Elsewhere, the compiler refuses
/// to load or set the feature, and a read needs `await`. You can observe it anywhere, since an instance is `Sendable`.
///
/// A plain feature can't read it. To load on the main actor what can fail or suspend, conform to ``AsyncFeature`` and mark its
/// `load(in:)` with `@MainActor`.
@MainActor public protocol MainActorFeature: ContainerKey where ContainerValue == Instance {
    /// The type that this feature provides. The default is the conforming type.
    associatedtype Instance: Sendable = Self
    /// Creates the instance, on the main actor.
    ///
    /// The method runs once for each container in which an instance lives, and again after a reset. Fugu holds no lock
    /// while it runs.
    ///
    /// - Parameter container: The handle of the load, which records what you read from it.
    /// - Returns: The instance, which the container keeps.
    static func load(in container: any FeatureContainer) -> Instance
    /// The type of the value for tests, or `Never` if the feature declares none.
    @_documentation(visibility: internal)
    associatedtype TestValue
    /// Creates the instance for a test.
    ///
    /// Declare it for a feature that reaches outside the process, and a test needn't set the feature: the test's own container loads
    /// this value in place of ``load(in:)`` and keeps it like any other instance. A preview gives it,
    /// too.
    ///
    /// ```swift
    /// static func testValue(in container: any FeatureContainer) -> any LinkRepository { InMemoryLinks() }
    /// ```
    ///
    /// - Parameter container: The handle of the load, which records what you read from it.
    /// - Returns: The instance, which the container keeps.
    static func testValue(in container: any FeatureContainer) -> TestValue
    /// A Boolean value that indicates whether the container reloads the instance when one of its inputs changes.
    ///
    /// The default is `false`: the instance stays, and graphs mark it as stale. If it's `true`, the next load first asks for what the
    /// instance was made from, and keeps it if all of that is the same; if it's observed, as soon as the main actor is free.
    static var reloadsWhenInputsChange: Bool { get }
    /// The container in which the instance lives.
    ///
    /// The default is ``Home/inferred``: where its inputs live.
    static var home: Home { get }
    /// The type of a variable that is named like the method for tests, or `Void` if there's none.
    @_documentation(visibility: internal)
    associatedtype UnusedTestValue
    /// Not used: a strict container reports a feature that declares such a variable in place of the method.
    @_documentation(visibility: internal)
    static var testValue: UnusedTestValue { get }
}

extension MainActorFeature {
    /// The default, `false`: the instance stays when its inputs change.
    public static var reloadsWhenInputsChange: Bool { false }
    /// The default, ``Home/inferred``: the instance lives where its inputs live.
    public static var home: Home { .inferred }

    /// The library's record of the key.
    ///
    /// Don't use it directly.
    public nonisolated static var _key: KeyDefinition {
        KeyDefinition(
            Key.feature(Self.self), .onMainActor(MainActorReload(of: Key(raw: Key.feature(Self.self)))),
            hasTestValue: hasTestValue)
    }
}
