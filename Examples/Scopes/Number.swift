import Synchronization

/// Numbers instances, so that the output distinguishes them.
final class Number: Sendable {
    private let last = Atomic(0)

    /// The number of instances.
    var count: Int { last.load(ordering: .relaxed) }

    func next() -> Int { last.add(1, ordering: .relaxed).newValue }
}
