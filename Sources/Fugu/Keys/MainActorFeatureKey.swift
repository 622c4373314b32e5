/// A key for a feature that belongs to the main actor, declared as a computed member of ``ContainerKeys``.
///
/// ```swift
/// extension ContainerKeys {
///     var speech: MainActorFeatureKey<any SpeechService> { .init { SystemSpeech(greeting: $0.userName) } }
///     var screen: MainActorFeatureKey<Screen> { .init(Screen.self) }
/// }
///
/// container.speech.say("Hello")
/// ```
///
/// Elsewhere, the compiler refuses to load or set the feature, and a read needs `await`: `await container.speech`. Such keys are
/// identified like a ``FeatureKey``.
@frozen public struct MainActorFeatureKey<Value: Sendable>: ValueKey {
    @usableFromInline let interned: InternedKey

    /// The identity of the key.
    @inlinable var raw: UInt { interned.raw }

    /// Creates a key.
    ///
    /// In a function with parameters, give the key an `id`; otherwise, the program stops with a message.
    ///
    /// - Parameters:
    ///   - reloadsWhenInputsChange: A Boolean value that indicates whether the container reloads the instance when one of
    ///     its inputs changes.
    ///   - home: The container in which the instance lives.
    ///   - isExternal: A Boolean value that indicates whether the feature reaches outside the process, which a value for tests says,
    ///     too. If it's `true` and there's no such value, a read in a strict container fails the test and loads the real one, because
    ///     the read can't throw; a preview that gives none stops.
    ///   - preview: A closure that creates what containers give in an Xcode preview. Without one, that's the value for tests.
    ///   - testValue: A closure that creates the instance for a test, like ``MainActorFeature/testValue(in:)``.
    ///   - id: A value that differs between the keys of one place in the source that creates several keys.
    ///   - member: The name of the member that declares the key, for messages and graphs.
    ///   - fileID: The file where the key is created.
    ///   - line: The line where the key is created.
    ///   - column: The column where the key is created.
    ///   - load: A closure that creates the instance on the main actor, like ``MainActorFeature/load(in:)``.
    /// - Complexity: O(1), without a lock after the key was created once.
    @_alwaysEmitIntoClient @inline(__always)
    public init<ID: Hashable & Sendable>(
        reloadsWhenInputsChange: Bool = false, home: @autoclosure () -> Home = .inferred, isExternal: Bool = false,
        preview: (@MainActor @Sendable (any FeatureContainer) -> Value)? = nil,
        testValue: (@MainActor @Sendable (any FeatureContainer) -> Value)? = nil, id: ID = NoID(),
        member: StaticString = #function, fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column,
        load: @escaping @MainActor @Sendable (any FeatureContainer) -> Value
    ) {
        let place = KeyPlace(Value.self, .feature, member, fileID, line, column)
        if let known = InternedKey.find(place, orID: id) {
            interned = known
        } else {
            let traits = KeyTraits(reloads: reloadsWhenInputsChange, home: home(), isExternal: isExternal)
            interned = Self.intern(place, KeyDistinction(id), traits, preview, testValue, load)
        }
    }

    /// Creates the key that a type is, so that ``ContainerKeys`` has a member for it.
    ///
    /// What you set with the key, you read with the type, and the other way around.
    ///
    /// - Parameter feature: The type of the feature.
    @_alwaysEmitIntoClient
    public init<F: MainActorFeature>(_ feature: F.Type) where F.Instance == Value {
        interned = InternedKey(raw: Key.feature(F.self), record: 0)
    }
}

extension MainActorFeatureKey {
    /// The library's record of the key.
    ///
    /// Don't use it directly.
    public var _key: KeyDefinition { KeyDefinition(raw, .onMainActor(MainActorReload(of: Key(raw: raw)))) }

    @usableFromInline
    static func intern(
        _ place: KeyPlace, _ distinction: KeyDistinction?, _ traits: KeyTraits,
        _ preview: (@MainActor @Sendable (any FeatureContainer) -> Value)?,
        _ testValue: (@MainActor @Sendable (any FeatureContainer) -> Value)?,
        _ load: @escaping @MainActor @Sendable (any FeatureContainer) -> Value
    ) -> InternedKey {
        func onMainActor(
            _ load: @escaping @MainActor @Sendable (any FeatureContainer) -> Value
        ) -> FeatureDescriptor.Load { .onMainActor { Payload(load($0)) } }
        let descriptor = FeatureDescriptor(
            place, distinction, "MainActorFeatureKey<\(Value.self)>", of: Value.self, traits,
            preview: preview.map(onMainActor), testValue: testValue.map(onMainActor), onMainActor(load))
        return ValueKeys.intern(place, distinction, descriptor)
    }
}
