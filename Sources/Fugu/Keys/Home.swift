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
        case with(Key)
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
    public static func with<K: ValueKey>(_ key: K) -> Home { Home(.with(Key(raw: key._key.raw))) }

    /// Returns the nearest container in which a type is set, or the root.
    ///
    /// Each container that sets it has its own instance, which its descendants share. It's released when that is
    /// reset. A read through a descendant that overrides one of the inputs is an error, as for ``shared``.
    ///
    /// - Parameter key: The type of the property or feature.
    /// - Returns: The home.
    public static func with<K: ContainerKey>(_ key: K.Type) -> Home { Home(.with(Key(raw: K._key.raw))) }

    package var isLocal: Bool { if case .local = kind { true } else { false } }
    /// The key that `.with(…)` names.
    var key: Key? { if case .with(let key) = kind { key } else { nil } }
    /// Whether the declaration names a container, whatever the inputs are.
    var isFixed: Bool {
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
        case .with(let key): ".with(\(key.isValueKey ? key.name : key.codeName + ".self"))"
        }
    }
}
