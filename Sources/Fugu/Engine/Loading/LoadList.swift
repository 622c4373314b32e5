/// The loads of one key that are under way, in the order in which they began.
///
/// Whoever runs a load keeps it until it has left the list.
///
/// Most lists have one element or none. Once there are many, an index tells which of them can be joined by those who
/// expect the instance in a given container, so that nobody looks at the loads of strangers.
struct LoadList: Sequence {
    private var first: UnmanagedReference<Load>?
    private var last: UnmanagedReference<Load>?
    private var count = 0
    private var index: LoadIndex?

    var isEmpty: Bool { first == nil }

    mutating func append(_ load: Load) {
        let added = UnmanagedReference(load)
        load.state.unshared.previous = last
        if let last { last.object.state.unshared.next = added } else { first = added }
        last = added
        count += 1
        if !load.state.unshared.isAbandoned { index?.add(load, at: load.expected) }
    }

    mutating func remove(_ load: Load) {
        let (previous, next) = (load.state.unshared.previous, load.state.unshared.next)
        guard previous != nil || first == UnmanagedReference(load) else { return }
        if let previous { previous.object.state.unshared.next = next } else { first = next }
        if let next { next.object.state.unshared.previous = previous } else { last = previous }
        load.state.unshared.previous = nil
        load.state.unshared.next = nil
        count -= 1
        withdraw(load)
        if count == 0 { index = nil }
    }

    /// Lets nobody join the load any more.
    func withdraw(_ load: Load) { index?.remove(load) }

    /// Returns the first result of `body` that isn't nil, asked of the loads whose instance is expected at `home`.
    ///
    /// - `last`: What the key's last instance was made from, by which expectations are judged.
    /// - `judge`: Tells where the instance of a load is expected to live; a load that began when less was known is judged
    ///   by what is known now.
    mutating func first<R>(
        expectedAt home: UnmanagedReference<Node>, by last: Provenance?, judge: (Load) -> UnmanagedReference<Node>,
        _ body: (Load) -> R?
    ) -> R? {
        guard count >= 8 else {
            for load in self where load.expected == home || judge(load) == home {
                if let result = body(load) { return result }
            }
            return nil
        }
        if index?.isRight(by: last) != true { makeIndex(by: last, judge) }
        for load in index?[home] ?? [] { if let result = body(load.object) { return result } }
        return nil
    }

    private mutating func makeIndex(by last: Provenance?, _ judge: (Load) -> UnmanagedReference<Node>) {
        let made = LoadIndex(by: last)
        for load in self where !load.state.unshared.isAbandoned { made.add(load, at: judge(load)) }
        index = made
    }

    func makeIterator() -> Iterator { Iterator(following: first) }

    struct Iterator: IteratorProtocol {
        fileprivate var following: UnmanagedReference<Load>?

        mutating func next() -> Load? {
            let load = following?.object
            following = load?.state.unshared.next
            return load
        }
    }
}

/// The loads that can be joined, by the node where their instance is expected to live.
///
/// The lock of the family protects it.
private final class LoadIndex {
    private var loads: [UnmanagedReference<Node>: [UnmanagedReference<Load>]] = [:]
    private var last: Provenance?

    init(by last: Provenance?) { self.last = last }

    subscript(home: UnmanagedReference<Node>) -> [UnmanagedReference<Load>] { loads[home] ?? [] }

    /// Whether expectations are still what they were: what was loaded meanwhile was made from the same keys.
    func isRight(by newer: Provenance?) -> Bool {
        if last === newer { return true }
        guard let last, let newer, last.predictsLike(newer) else { return false }
        self.last = newer
        return true
    }

    func add(_ load: Load, at home: UnmanagedReference<Node>) {
        load.state.unshared.indexed = home
        loads[home, default: []].append(UnmanagedReference(load))
    }

    func remove(_ load: Load) {
        guard let home = load.state.unshared.indexed else { return }
        load.state.unshared.indexed = nil
        loads[home]?.removeAll { $0 == UnmanagedReference(load) }
        if loads[home]?.isEmpty == true { loads[home] = nil }
    }
}

extension Provenance {
    /// Whether it lets one expect the same homes, as far as can be told without looking at what its inputs were made
    /// from themselves.
    ///
    /// An expectation that is wrong costs a load more and nothing else.
    fileprivate func predictsLike(_ other: Provenance) -> Bool {
        isLocal == other.isLocal && mask == other.mask && inputs.count == other.inputs.count
            && zip(inputs, other.inputs).allSatisfy { $0.key == $1.key }
    }
}
