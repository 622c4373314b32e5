import Synchronization

/// Distinguishes keys that a test makes repeatedly at one place.
package struct UniqueID: Hashable, Sendable {
    private static let count = Atomic(0)
    private let number: Int

    /// Creates one that equals no other.
    package init() { number = Self.count.add(1, ordering: .relaxed).newValue }
}
