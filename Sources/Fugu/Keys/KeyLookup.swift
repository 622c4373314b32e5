/// The root of a key path that names a key: the members of ``ContainerKeys``, and any key in brackets.
///
/// ```swift
/// container.observe(\.timeout) { print($0) }     // a member of ContainerKeys
/// container.observe(\.[keys[2]]) { print($0) }   // a key that you hold
/// ```
@dynamicMemberLookup
public struct KeyLookup: Sendable {
    @usableFromInline package init() {}

    /// The key that a member of ``ContainerKeys`` declares.
    ///
    /// - Parameter member: The member.
    @inlinable public subscript<K: ValueKey>(dynamicMember member: KeyPath<ContainerKeys, K>) -> K {
        // A literal key path is free, but only if the compiler sees it together with its use.
        @inline(__always) get { ContainerKeys()[keyPath: member] }
    }

    /// The type that a member of ``ContainerKeys`` names.
    ///
    /// - Parameter member: The member.
    @inlinable public subscript<K: ContainerKey>(dynamicMember member: KeyPath<ContainerKeys, K.Type>) -> TypeKey<K> {
        TypeKey()
    }

    /// A key itself.
    ///
    /// - Parameter key: The key.
    @inlinable public subscript<K: ValueKey>(key: K) -> K { key }
}

/// The key that a type is, as a value.
///
/// Don't use it directly.
@_documentation(visibility: internal)
public struct TypeKey<K: ContainerKey>: LookedUpKey {
    /// The type of the value or instance that a container holds.
    public typealias ContainerValue = K.ContainerValue

    @usableFromInline package init() {}

    /// The library's record of the key.
    ///
    /// Don't use it directly.
    @inlinable public var _key: KeyDefinition { K._key }
}

extension TypeKey: Sendable, Equatable, Hashable, ValueKey where K: NonisolatedKey {}
extension TypeKey: PlainValueKey where K: PlainKey {}
extension TypeKey: PlainFeatureKey where K: Feature {}
