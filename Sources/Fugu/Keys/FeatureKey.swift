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
@frozen public struct FeatureKey<Instance: Sendable>: PlainValueKey {
    /// The type of the key's value or instance.
    public typealias ContainerValue = Instance

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
    ///   - placeholder: A closure that returns what strict containers give instead. With a placeholder, the feature is external.
    ///   - id: A value that differs between the keys of one place in the source that creates several keys.
    ///   - member: The name of the member that declares the key, for messages and graphs.
    ///   - fileID: The file where the key is created.
    ///   - line: The line where the key is created.
    ///   - column: The column where the key is created.
    ///   - load: A closure that creates the instance, like ``Feature/load(in:)``.
    /// - Complexity: O(1), without a lock after the key was created once.
    @inlinable @inline(__always)
    public init<ID: Hashable & Sendable>(
        reloadsWhenInputsChange: Bool = false, home: @autoclosure () -> Home = .inferred,
        placeholder: (@Sendable () -> Instance)? = nil, id: ID = NoID(), member: StaticString = #function,
        fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column,
        load: @escaping @Sendable (any FeatureContainer) -> Instance
    ) {
        let place = KeyPlace(Instance.self, .feature, member, fileID, line, column)
        if let known = InternedKey.find(place, orID: id) {
            interned = known
        } else {
            let traits = FeatureTraits(reloads: reloadsWhenInputsChange, home: home())
            interned = Self.intern(place, KeyDistinction(id), traits, placeholder, load)
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
    @inlinable
    public init<F: Feature>(_ feature: F.Type) where F.Instance == Instance {
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
        let key = Key(raw: raw)
        let feature: FeatureDescriptor = interned.descriptor()
        return KeyDefinition(raw) { try $0.answer($1, { Request(key, feature) }, { feature.make(in: $0) }) }
    }

    @usableFromInline
    static func intern(
        _ place: KeyPlace, _ distinction: KeyDistinction?, _ traits: FeatureTraits,
        _ placeholder: (@Sendable () -> Instance)?, _ load: @escaping @Sendable (any FeatureContainer) -> Instance
    ) -> InternedKey {
        ValueKeys.intern(place, distinction, Instance.self) {
            let standIn: (@Sendable () -> Payload)? = if let placeholder { { Payload(placeholder()) } } else { nil }
            return FeatureDescriptor(
                place, distinction, "FeatureKey<\(Instance.self)>", traits, placeholder: standIn,
                .anywhere { Payload(load($0)) })
        }
    }
}

/// The properties of a feature apart from its `load(in:)`.
@usableFromInline struct FeatureTraits: Sendable {
    let reloads: Bool
    let home: Home
    /// Whether another module has to supply the feature.
    let isRequired: Bool

    @usableFromInline init(reloads: Bool, home: Home) { self.init(reloads: reloads, home: home, isRequired: false) }

    init(reloads: Bool, home: Home, isRequired: Bool) {
        self.reloads = reloads
        self.home = home
        self.isRequired = isRequired
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
    let traits: FeatureTraits
    let placeholder: (@Sendable () -> Payload)?
    let load: Load

    init(
        _ place: KeyPlace, _ distinction: KeyDistinction?, _ typeName: String, _ traits: FeatureTraits,
        placeholder: (@Sendable () -> Payload)? = nil, _ load: Load
    ) {
        self.place = place
        self.distinction = distinction
        self.typeName = typeName
        self.traits = traits
        self.placeholder = placeholder
        self.load = load
    }

    /// Returns the loaded instance, or the preview of an external feature if the process runs for an Xcode preview.
    func make(in container: any FeatureContainer) -> Payload {
        if PreviewRun.isOn, let placeholder { return placeholder() }
        guard case .anywhere(let load) = load else { fatalError(label) }
        return load(container)
    }

    var isRequired: Bool { traits.isRequired }
    var keyTraits: KeyTraits {
        KeyTraits(isExternal: placeholder != nil, home: traits.home, reloads: traits.reloads)
    }
    func tell(_ payload: Payload, by teller: any ValueTeller) -> String? { nil }
}
