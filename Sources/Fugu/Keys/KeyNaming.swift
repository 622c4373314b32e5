// Whom a container asks for a key that nothing holds. `FuguConfiguration` names keys, and gives containers sources; the core knows no
// more of either.

/// The name of a key, which a container asks its supplier for.
///
/// The key's record keeps it for the life of the process.
@usableFromInline package protocol KeyNaming: AnyObject, Sendable {
    /// The name, which identifies the key together with the type of its value.
    var name: String { get }
    /// A Boolean value that indicates whether a graph must not show the value.
    var isHidden: Bool { get }
    /// Returns what a supplier has for the name.
    ///
    /// It's called outside every lock.
    func ask(_ supplier: any ValueSupplier) -> SuppliedValue
}

/// What a container asks for keys with names; it always gives the same answers.
@usableFromInline package protocol ValueSupplier: AnyObject, Sendable {
    /// Returns the same supplier for a copy of its container, followed by another one, of a container further up.
    func copied(over other: (any ValueSupplier)?) -> any ValueSupplier
}

/// A value, or `nil` if the supplier has none, or the error of a value that can't be used; a read then gets the default, and the error
/// is reported once.
@usableFromInline package typealias SuppliedValue = Result<Payload?, any Error>
