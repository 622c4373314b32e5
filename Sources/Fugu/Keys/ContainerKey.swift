/// A type that names something a container can hold.
///
/// Conform to ``Property``, ``Feature``, ``ThrowingFeature``, ``AsyncFeature``, or ``MainActorFeature``, not to this protocol.
public protocol ContainerKey {
    /// The type of the value or instance that a container holds.
    associatedtype ContainerValue: Sendable
    /// The library's record of the key. Don't use it directly.
    static var _key: KeyDefinition { get }
    /// The type that a function returns which is named like the method for tests, or `Void` if there's none.
    @_documentation(visibility: internal)
    associatedtype UnusedTestFunction = Void
    /// Not used: a strict container reports a feature that declares this function in place of the method for tests.
    @_documentation(visibility: internal)
    static func testValue() throws -> UnusedTestFunction
    /// Not used: a strict container reports a feature that declares this method, which isn't static, in place of that for tests.
    @_documentation(visibility: internal)
    func testValue(in container: any FeatureContainer) throws -> UnusedTestFunction
}

/// A type that any code can read without `try`: a ``Property`` or ``Feature``.
///
/// Conform to one of the two protocols, not to this one. A type that does so in its declaration is nonisolated, even in a module
/// whose default isolation is the main actor.
public protocol PlainKey: ContainerKey, SendableMetatype {}

/// A feature that doesn't belong to the main actor.
///
/// Conform to ``Feature``, ``ThrowingFeature``, or ``AsyncFeature``, not to this protocol. A type that does so in its declaration is
/// nonisolated, even in a module whose default isolation is the main actor.
public protocol NonisolatedFeature: ContainerKey, SendableMetatype {
    /// A Boolean value that indicates whether the container reloads the instance when one of its inputs changes.
    ///
    /// The default is `false`: the instance stays, and graphs mark it as stale.
    ///
    /// If it's `true`, the next load first asks for what the instance was made from, and so does one as soon as an input changes
    /// if somebody observes the feature. If all of it is the same, such as a derived value that's equal again, the instance stays,
    /// and nobody hears. Otherwise, `load(in:)` runs, and the former instance's teardown closures run after it.
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
    /// The type of a variable that is named like that of ``External``, or `Void` if there's none.
    @_documentation(visibility: internal)
    associatedtype UnusedPlaceholder
    /// Not used without ``External``: a strict container reports a feature that declares such a variable of its own type.
    @_documentation(visibility: internal)
    static var placeholder: UnusedPlaceholder { get }
    /// The type of a variable that is named like that of ``External``, or `Void` if there's none.
    @_documentation(visibility: internal)
    associatedtype UnusedPreview
    /// Not used without ``External``: a strict container reports a feature that declares such a variable of its own type.
    @_documentation(visibility: internal)
    static var preview: UnusedPreview { get throws }
}

extension NonisolatedFeature {
    /// The default, `false`: the instance stays when its inputs change.
    public static var reloadsWhenInputsChange: Bool { false }
    /// The default, ``Home/inferred``: the instance lives where its inputs live.
    public static var home: Home { .inferred }
}

/// A feature whose load can fail.
///
/// Conform to ``ThrowingFeature`` or ``AsyncFeature``, not to this protocol.
public protocol FailableFeature: NonisolatedFeature {}

/// A key that is a value: a ``PropertyKey``, ``FeatureKey``, or ``MainActorFeatureKey``.
///
/// The library's key types conform to this protocol; no others do.
public protocol ValueKey<Value>: Sendable, Hashable {
    /// The type of the value or instance that a container holds.
    associatedtype Value: Sendable
    /// The library's record of the key. Don't use it directly.
    var _key: KeyDefinition { get }
}

/// A key that is a value and that any code can read without `try`: a ``PropertyKey`` or ``FeatureKey``.
///
/// The library's key types conform to this protocol; no others do.
public protocol PlainValueKey: ValueKey {}
