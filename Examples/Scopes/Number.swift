import Synchronization

/// Numbers what is made, so that the output shows which instance it is.
final class Number: Sendable {
    private let last = Atomic(0)

    /// How many there are.
    var count: Int { last.load(ordering: .relaxed) }

    func next() -> Int { last.add(1, ordering: .relaxed).newValue }
}
