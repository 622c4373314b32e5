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
        case with(Key, Key?)
    }

    let kind: Kind

    @usableFromInline init(_ kind: Kind) { self.kind = kind }

    /// The deepest container that holds anything that the feature was loaded from.
    public static var inferred: Home { Home(.inferred) }

    /// The container that was asked: each container loads its own instance, regardless of the inputs.
    public static var local: Home { Home(.local) }

    /// The root.
    ///
    /// A read through a child that overrides one of the inputs is an error, so that an expensive instance is never loaded
    /// once for each request by accident.
    public static var shared: Home { Home(.shared) }

    /// Returns the nearest container in which a key is set, or the root.
    ///
    /// Each container that sets it has its own instance, which its descendants share. It's released when that is
    /// reset. A read through a descendant that overrides one of the inputs is an error, as for ``shared``.
    ///
    /// - Parameter key: A key path to the key: `\.tenant`.
    /// - Returns: The home.
    @_alwaysEmitIntoClient
    public static func with<K: ValueKey>(_ key: (ContainerKeys) -> K) -> Home { with(key(ContainerKeys())) }

    /// Returns the nearest container in which a key is set, or the root.
    ///
    /// Each container that sets it has its own instance, which its descendants share. It's released when that is
    /// reset. A read through a descendant that overrides one of the inputs is an error, as for ``shared``.
    ///
    /// - Parameter key: The key.
    /// - Returns: The home.
    public static func with<K: ValueKey>(_ key: K) -> Home { Home(.with(Key(raw: key._key.raw), nil)) }

    /// Returns the nearest container in which a type is set, or the root.
    ///
    /// Each container that sets it has its own instance, which its descendants share. It's released when that is
    /// reset. A read through a descendant that overrides one of the inputs is an error, as for ``shared``.
    ///
    /// - Parameter key: The type of the property or feature.
    /// - Returns: The home.
    public static func with<K: ContainerKey>(_ key: K.Type) -> Home { Home(.with(Key(raw: K._key.raw), nil)) }

    /// Returns the nearest container in which one of two keys is set, or the root.
    ///
    /// Each container that sets one of them has its own instance, which its descendants share. With `.with(\.region, \.tenant)` and a
    /// region above the tenants, a tenant's instance is in the tenant's container, and that of the region serves what sets no tenant.
    ///
    /// - Parameters:
    ///   - first: A key path to a key.
    ///   - second: A key path to another one.
    /// - Returns: The home.
    @_alwaysEmitIntoClient
    public static func with<First: ValueKey, Second: ValueKey>(
        _ first: (ContainerKeys) -> First, _ second: (ContainerKeys) -> Second
    ) -> Home {
        with(first(ContainerKeys()), second(ContainerKeys()))
    }

    /// Returns the nearest container in which one of two keys is set, or the root.
    ///
    /// Each container that sets one of them has its own instance, which its descendants share.
    ///
    /// - Parameters:
    ///   - first: A key.
    ///   - second: Another one.
    /// - Returns: The home.
    public static func with<First: ValueKey, Second: ValueKey>(_ first: First, _ second: Second) -> Home {
        Home(.with(Key(raw: first._key.raw), Key(raw: second._key.raw)))
    }

    /// Returns the nearest container in which one of two types is set, or the root.
    ///
    /// Each container that sets one of them has its own instance, which its descendants share.
    ///
    /// - Parameters:
    ///   - first: The type of a property or feature.
    ///   - second: Another one.
    /// - Returns: The home.
    public static func with<First: ContainerKey, Second: ContainerKey>(
        _ first: First.Type, _ second: Second.Type
    ) -> Home {
        Home(.with(Key(raw: First._key.raw), Key(raw: Second._key.raw)))
    }

    package var isInferred: Bool { if case .inferred = kind { true } else { false } }
    package var isLocal: Bool { if case .local = kind { true } else { false } }
    /// The keys that `.with(…)` names.
    package var keys: [Key]? {
        guard case .with(let first, let second) = kind else { return nil }
        return second.map { [first, $0] } ?? [first]
    }
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
        case .with: ".with(\((keys ?? []).map(\.declaredName).joined(separator: ", ")))"
        }
    }
}

extension Key {
    /// How a declaration names the key.
    fileprivate var declaredName: String { isValueKey ? name : codeName + ".self" }
}
