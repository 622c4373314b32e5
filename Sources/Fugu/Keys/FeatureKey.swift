/// A key for a feature, declared as a computed member of ``ContainerKeys``.
///
/// ```swift
/// extension ContainerKeys {
///     var greeter: FeatureKey<Greeter> { .init { Greeter(name: $0.userName) } }
/// }
/// container.greeter
/// ```
///
/// Feature keys are identified like a ``PropertyKey`` without a name: by their place in the source, their type, and
/// their `id`.
@frozen public struct FeatureKey<Value: Sendable>: PlainValueKey {
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
    ///   - isExternal: A Boolean value that indicates whether the feature reaches outside the process, which a placeholder or a value
    ///     for tests says, too. If it's `true` and neither is given, a read in a strict container fails the test and loads the real
    ///     one, because the read can't throw; a preview that gives none stops.
    ///   - placeholder: A closure that returns what strict containers give after they have failed the test.
    ///   - preview: A closure that creates what containers give in an Xcode preview. Without one, that's the value for tests or,
    ///     failing that, the placeholder.
    ///   - testValue: A closure that creates the instance for a test, like ``Feature/testValue(in:)``. It needs no placeholder.
    ///   - id: A value that differs between the keys of one place in the source that creates several keys.
    ///   - member: The name of the member that declares the key, for messages and graphs.
    ///   - fileID: The file where the key is created.
    ///   - line: The line where the key is created.
    ///   - column: The column where the key is created.
    ///   - load: A closure that creates the instance, like ``Feature/load(in:)``.
    /// - Complexity: O(1), without a lock after the key was created once.
    @_alwaysEmitIntoClient @inline(__always)
    public init<ID: Hashable & Sendable>(
        reloadsWhenInputsChange: Bool = false, home: @autoclosure () -> Home = .inferred, isExternal: Bool = false,
        placeholder: (@Sendable () -> Value)? = nil,
        preview: (@Sendable (any FeatureContainer) -> Value)? = nil,
        testValue: (@Sendable (any FeatureContainer) -> Value)? = nil, id: ID = NoID(),
        member: StaticString = #function, fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column,
        load: @escaping @Sendable (any FeatureContainer) -> Value
    ) {
        let place = KeyPlace(Value.self, .feature, member, fileID, line, column)
        if let known = InternedKey.find(place, orID: id) {
            interned = known
        } else {
            let traits = KeyTraits(reloads: reloadsWhenInputsChange, home: home(), isExternal: isExternal)
            interned = Self.intern(place, KeyDistinction(id), traits, placeholder, preview, testValue, load)
        }
    }

    /// Creates the key that a type is, so that ``ContainerKeys`` has a member for it.
    ///
    /// ```swift
    /// extension ContainerKeys {
    ///     var greeter: FeatureKey<Greeter> { .init(Greeter.self) }
    /// }
    /// ```
    ///
    /// What you set with the key, you read with the type, and the other way around.
    ///
    /// - Parameter feature: The type of the feature.
    @_alwaysEmitIntoClient
    public init<F: Feature>(_ feature: F.Type) where F.Instance == Value {
        interned = InternedKey(raw: Key.feature(F.self), record: 0)
    }
}

extension FeatureKey {
    init(interned: InternedKey) { self.interned = interned }

    /// The type that the key was made from, if any.
    var type: (any Feature.Type)? { Key(raw: raw).type as? any Feature.Type }

    /// The library's record of the key.
    ///
    /// Don't use it directly.
    public var _key: KeyDefinition {
        if let type { return type._key }
        let feature: FeatureDescriptor = interned.descriptor()
        return feature.definition(of: Key(raw: raw))!
    }

    @usableFromInline
    static func intern(
        _ place: KeyPlace, _ distinction: KeyDistinction?, _ traits: KeyTraits,
        _ placeholder: (@Sendable () -> Value)?, _ preview: (@Sendable (any FeatureContainer) -> Value)?,
        _ testValue: (@Sendable (any FeatureContainer) -> Value)?,
        _ load: @escaping @Sendable (any FeatureContainer) -> Value
    ) -> InternedKey {
        func anywhere(_ load: @escaping @Sendable (any FeatureContainer) -> Value) -> FeatureDescriptor.Load {
            .anywhere { Payload(load($0)) }
        }
        let standIn: (@Sendable () -> Payload)? = if let placeholder { { Payload(placeholder()) } } else { nil }
        let descriptor = FeatureDescriptor(
            place, distinction, "FeatureKey<\(Value.self)>", of: Value.self, traits, placeholder: standIn,
            preview: preview.map(anywhere), testValue: testValue.map(anywhere),
            .anywhere {
                let value = load($0)
                $0._container.checkMade(value)
                return Payload(value)
            })
        return ValueKeys.intern(place, distinction, descriptor)
    }
}

/// The arguments that a feature key was created with.
final class FeatureDescriptor: ValueKeyDescriptor {
    enum Load: Sendable {
        case anywhere(@Sendable (any FeatureContainer) -> Payload)
        case onMainActor(@MainActor @Sendable (any FeatureContainer) -> Payload)
    }

    let place: KeyPlace
    let distinction: KeyDistinction?
    let typeName: String
    let valueType: Any.Type
    let traits: KeyTraits
    let placeholder: (@Sendable () -> Payload)?
    private let preview: Load?
    let testValue: Load?
    private let load: Load

    @inline(never) init(
        _ place: KeyPlace, _ distinction: KeyDistinction?, _ typeName: String, of valueType: Any.Type,
        _ traits: KeyTraits,
        placeholder: (@Sendable () -> Payload)? = nil, preview: Load?, testValue: Load?, _ load: Load
    ) {
        self.place = place
        self.distinction = distinction
        self.typeName = typeName
        self.valueType = valueType
        self.traits = KeyTraits(
            home: traits.home, reloads: traits.reloads,
            isExternal: traits.isExternal || placeholder != nil || testValue != nil, hasTestValue: testValue != nil,
            isRequired: traits.isRequired)
        self.placeholder = placeholder
        self.preview = preview
        self.testValue = testValue
        self.load = load
    }

    /// Creates what a strict container gives instead of an external feature, if anything is declared.
    var standIn: (@Sendable (Container) -> Payload)? {
        if let placeholder { return { _ in placeholder() } }
        if let testValue { return { [self] in run(testValue, in: $0) } }
        return nil
    }

    /// Returns the loaded instance, or what is declared for an Xcode preview or for a test.
    func make(in container: any FeatureContainer) -> Payload { run(load(for: container), in: container) }

    /// Returns the load for a container, or what is declared for an Xcode preview or for a test.
    func load(for container: any FeatureContainer) -> Load {
        if PreviewRun.isOn, let preview { return preview }
        if let testValue, container._container.givesTestValue { return testValue }
        if PreviewRun.isOn, let placeholder { return .anywhere { _ in placeholder() } }
        if PreviewRun.isOn, traits.isExternal { stopProgram(Messages.noPreview(label)) }
        return load
    }

    /// Runs a load, which is that of a feature of the main actor there only.
    func run(_ load: Load, in container: any FeatureContainer) -> Payload {
        switch load {
        case .anywhere(let load): load(container)
        case .onMainActor(let load): runOnMainActor(load, in: container)
        }
    }

    // Apart, since it would take room of the stack in each nested load.
    @inline(never)
    private func runOnMainActor(
        _ load: @escaping @MainActor @Sendable (any FeatureContainer) -> Payload, in container: any FeatureContainer
    ) -> Payload {
        MainActor.assumeIsolated { load(container) }
    }

    func definition(of key: Key) -> KeyDefinition? {
        if case .onMainActor = load { return nil }
        return KeyDefinition(key.raw) { try $0.answer($1, { Request(key, self) }, { self.make(in: $0) }) }
    }

    func tell(_ payload: Payload, by teller: any ValueTeller) -> String? { nil }
}
