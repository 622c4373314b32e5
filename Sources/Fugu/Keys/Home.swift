/// The container in which the instance of a feature lives.
///
/// ```swift
/// struct Pool: AsyncFeature {
///     static var home: Home { .with(\.tenant) }
/// }
/// ```
public struct Home: Sendable {
    @usableFromInline enum Kind: Sendable {
        case inferred, local, shared
        case with([Key])
    }

    let kind: Kind

    @usableFromInline init(_ kind: Kind) { self.kind = kind }

    /// The deepest container that holds anything that the feature was loaded from.
    public static var inferred: Home { Home(.inferred) }

    /// The container that was asked: each container loads its own instance, regardless of the inputs.
    public static var local: Home { Home(.local) }

    /// The root.
    ///
    /// A reader that overrides one of the inputs, or for which one is local, can't share that instance: a throwing or async feature
    /// throws ``LoadError``, and a plain one, which can't, is loaded for the reader as if it declared no home. Either is reported once
    /// for each feature, also in release builds, and in a test the report fails the test.
    public static var shared: Home { Home(.shared) }

    /// Returns the nearest container in which a key is set, or the root.
    ///
    /// Each container that sets it has its own instance, which its descendants share. It's released when that is
    /// reset. A reader that overrides one of the inputs doesn't share it, as for ``shared``.
    ///
    /// With several keys, each container that sets one of them has its own instance. With `.with(\.region, \.tenant)` and a region
    /// above the tenants, a tenant's instance is in the tenant's container, and that of the region serves what sets no tenant.
    ///
    /// - Parameters:
    ///   - key: A key path to the key: `\.tenant`.
    ///   - others: Key paths to others.
    /// - Returns: The home.
    public static func with<First: ValueKey, each Other: ValueKey>(
        _ key: (ContainerKeys) -> First, _ others: repeat (ContainerKeys) -> each Other
    ) -> Home {
        var definitions = [key(ContainerKeys())._key]
        repeat definitions.append((each others)(ContainerKeys())._key)
        return Home(.with(definitions.map { Key(raw: $0.raw) }))
    }

    /// Returns the nearest container in which a type is set, or the root.
    ///
    /// Each container that sets it, or one of several, has its own instance, which its descendants share. It's released when that is
    /// reset. A reader that overrides one of the inputs doesn't share it, as for ``shared``.
    ///
    /// - Parameters:
    ///   - key: The type of the property or feature.
    ///   - others: Others.
    /// - Returns: The home.
    public static func with<First: ContainerKey, each Other: ContainerKey>(
        _ key: First.Type, _ others: repeat (each Other).Type
    ) -> Home {
        var definitions = [First._key]
        repeat definitions.append((each Other)._key)
        return Home(.with(definitions.map { Key(raw: $0.raw) }))
    }

    package var isInferred: Bool { if case .inferred = kind { true } else { false } }
    package var isLocal: Bool { if case .local = kind { true } else { false } }
    /// The keys that `.with(…)` names.
    package var keys: [Key]? { if case .with(let keys) = kind { keys } else { nil } }
    /// Whether the declaration names a container, whatever the inputs are.
    package var isFixed: Bool {
        switch kind {
        case .inferred, .local: false
        case .shared, .with: true
        }
    }

    /// How the declaration is written.
    var name: String {
        switch kind {
        case .inferred: ".inferred"
        case .local: ".local"
        case .shared: ".shared"
        case .with(let keys): ".with(\(keys.map(\.declaredName).joined(separator: ", ")))"
        }
    }
}

extension Key {
    /// How a declaration names the key.
    fileprivate var declaredName: String { isValueKey ? name : codeName + ".self" }
}
