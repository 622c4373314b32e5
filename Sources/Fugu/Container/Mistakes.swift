// Declarations that are never available. They exist for their messages: without them, a common mistake would make the
// compiler complain about overloads that don't match. `Tests/Tools/Mistakes` compares the messages.

extension PropertyContainer {
    /// Not available: the type isn't a key, or its instance has another type.
    @available(
        *, unavailable,
        message:
            "the type must conform to Property, Feature, MainActorFeature, ThrowingFeature, or AsyncFeature; if it does, what it gives isn't of the type that's expected here"
    )
    public subscript<Other>(other: Other.Type) -> Other {
        get { fatalError() }
        set { fatalError() }
    }

    /// Not available: the container, such as that of a rule for scopes, gives no features.
    @available(*, unavailable, message: "a PropertyContainer, such as a rule's, has no features; set what they read")
    public subscript<K: ContainerKey>(feature: K.Type) -> K.ContainerValue {
        get { fatalError() }
        set { fatalError() }
    }

    /// Not available: the container, such as that of a rule for scopes, gives no features.
    @available(*, unavailable, message: "a PropertyContainer, such as a rule's, has no features; set what they read")
    public subscript<K: ValueKey>(dynamicMember feature: KeyPath<ContainerKeys, K>) -> K.Value {
        get { fatalError() }
        set { fatalError() }
    }
}

extension FeatureContainer {
    /// Not available: the member isn't a key.
    @available(
        *, unavailable,
        message: "a member of ContainerKeys is a key: write its type as FeatureKey<…> or PropertyKey<…>"
    )
    public subscript<Other>(dynamicMember other: KeyPath<ContainerKeys, Other>) -> Other { fatalError() }

    /// Not available: a key without an `await` or a `try` is assigned to.
    @available(*, unavailable, message: "assign to it instead, as in container.timeout = 4")
    public func set<K: ValueKey>(_ key: KeyPath<ContainerKeys, K>, to value: K.Value) { fatalError() }

    /// Not available: a plain feature loads when it's read.
    @available(*, unavailable, message: "a plain feature loads when it's read; use the subscript")
    public func loaded<F: Feature>(_ feature: F.Type) -> F.Instance { fatalError() }

    /// Not available: what has a key of this kind loads when it's read.
    @available(*, unavailable, message: "what has a FeatureKey loads when it's read, as in container.mail")
    public func loaded<K: ValueKey>(_ key: KeyPath<ContainerKeys, K>) -> K.Value { fatalError() }
}

extension Container {
    /// Not available: an instance whose load can fail can't be modified in place.
    @available(*, unavailable, message: "read the feature, change the copy, and use set(_:to:)")
    public func modify<F: FailableFeature, R>(_ feature: F.Type, _ body: (inout F.ContainerValue) -> R) -> R {
        fatalError()
    }
}

extension Container {
    /// Not available: an element is loaded in the container that lists it.
    @available(*, unavailable, message: "give a closure that creates the element: { _ in element }")
    public func contribute<Element>(to list: (ContainerKeys) -> FeatureKey<[Element]>, _ element: Element) {
        fatalError()
    }

    /// Not available: the feature isn't a list, or the closure creates one.
    @available(*, unavailable, message: "the feature must be an array, of which the closure creates one element")
    public func contribute<Instance>(
        to list: (ContainerKeys) -> FeatureKey<Instance>, load: (any FeatureContainer) -> Instance
    ) { fatalError() }

    /// Not available: a dictionary isn't a list.
    @_disfavoredOverload
    @available(*, unavailable, message: "the feature must be an array; make it one of pairs, and a dictionary of them")
    public func contribute<Name, Value, Element>(
        to list: (ContainerKeys) -> FeatureKey<[Name: Value]>, load: (any FeatureContainer) -> Element
    ) { fatalError() }
}

extension FeatureKey {
    /// Not available: a member of a container can't throw or suspend.
    @available(
        *, unavailable,
        message: "its load can throw or suspend, which a member can't; read the type: try await container[….self]"
    )
    public init<F: FailableFeature>(_ feature: F.Type) where F.ContainerValue == Value { fatalError() }

    /// Not available: the feature belongs to the main actor.
    @available(*, unavailable, message: "it belongs to the main actor; write MainActorFeatureKey")
    public init<F: MainActorFeature>(_ feature: F.Type) where F.Instance == Value { fatalError() }
}

extension MainActorFeatureKey {
    /// Not available: a feature of the main actor isn't external.
    @available(*, unavailable, message: "a feature of the main actor has no placeholder; give a testValue, a closure")
    public init(
        placeholder: Value, load: @escaping @MainActor @Sendable (any FeatureContainer) -> Value
    ) { fatalError() }
}

extension Injected {
    /// Not available: a property can't throw.
    @available(
        *, unavailable, message: "its load can throw; keep the container and write try container[…] where you need it"
    )
    public init<F: ThrowingFeature>(_ feature: F.Type) where Value == F.Instance { fatalError() }

    /// Not available: a property can't suspend.
    @available(
        *, unavailable,
        message: "its load can suspend; keep the container and write try await container[…] where you need it"
    )
    public init<F: AsyncFeature>(_ feature: F.Type) where Value == F.Instance { fatalError() }

    /// Not available: a nonisolated property can't read what belongs to the main actor.
    @available(
        *, unavailable, message: "it belongs to the main actor; write a computed property that reads Container.current"
    )
    public init<F: MainActorFeature>(_ feature: F.Type) where Value == F.Instance { fatalError() }
}

extension PropertyKey {
    /// Not available: the key has no default.
    @available(*, unavailable, message: "give a default: .init(defaultValue: …), or make the value an optional")
    public init(isSecret: Bool = false) { fatalError() }

    /// Not available: only `FuguConfiguration` has keys with names, for values that sources can supply, with a default.
    @available(
        *, unavailable,
        message:
            "import FuguConfiguration, which names keys; the value must be Decodable, and have a default or be an optional"
    )
    public init(
        _ name: String, defaultValue: @autoclosure () -> Value? = nil, isSecret: Bool = false, help: String? = nil
    ) { fatalError() }
}

/// Not available: a closure that can't throw has to return something.
@available(
    *, unavailable, message: "the closure can't throw; say what a call returns: unimplemented(…, placeholder: …)"
)
public func unimplemented<each Argument, Result>(
    _ endpoint: String
) -> @Sendable (repeat each Argument) -> Result { fatalError() }
