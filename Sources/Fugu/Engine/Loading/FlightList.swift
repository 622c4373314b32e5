/// The loads of one key that are under way, in the order in which they began.
///
/// Whoever runs a load keeps it until it has left the list.
///
/// Most lists have one element or none. Once there are many, an index tells which of them can be joined by those who
/// expect the instance in a given container, so that nobody looks at the loads of strangers.
struct FlightList: Sequence {
    private var first: Unowned<Flight>?
    private var last: Unowned<Flight>?
    private var count = 0
    private var index: FlightIndex?

    var isEmpty: Bool { first == nil }

    mutating func append(_ flight: Flight) {
        let added = Unowned(flight)
        flight.facts.value.previous = last
        if let last { last.object.facts.value.next = added } else { first = added }
        last = added
        count += 1
        if !flight.facts.value.isAbandoned { index?.add(flight, at: flight.expected) }
    }

    mutating func remove(_ flight: Flight) {
        let (previous, next) = (flight.facts.value.previous, flight.facts.value.next)
        guard previous != nil || first == Unowned(flight) else { return }
        if let previous { previous.object.facts.value.next = next } else { first = next }
        if let next { next.object.facts.value.previous = previous } else { last = previous }
        flight.facts.value.previous = nil
        flight.facts.value.next = nil
        count -= 1
        withdraw(flight)
        if count == 0 { index = nil }
    }

    /// Lets nobody join the load any more.
    func withdraw(_ flight: Flight) { index?.remove(flight) }

    /// What `body` gives for the first load, of those whose instance is expected at `home`, that it gives something for.
    ///
    /// - `last`: What the key's last instance was made from, by which expectations are judged.
    /// - `judge`: Tells where the instance of a load is expected to live; a load that began when less was known is judged
    ///   by what is known now.
    mutating func first<R>(
        expectedAt home: Unowned<Node>, by last: Recipe?, judge: (Flight) -> Unowned<Node>, _ body: (Flight) -> R?
    ) -> R? {
        guard count >= 8 else {
            for flight in self where flight.expected == home || judge(flight) == home {
                if let result = body(flight) { return result }
            }
            return nil
        }
        if index?.isRight(by: last) != true { makeIndex(by: last, judge) }
        for flight in index?[home] ?? [] { if let result = body(flight.object) { return result } }
        return nil
    }

    private mutating func makeIndex(by last: Recipe?, _ judge: (Flight) -> Unowned<Node>) {
        let made = FlightIndex(by: last)
        for flight in self where !flight.facts.value.isAbandoned { made.add(flight, at: judge(flight)) }
        index = made
    }

    func makeIterator() -> Iterator { Iterator(following: first) }

    struct Iterator: IteratorProtocol {
        fileprivate var following: Unowned<Flight>?

        mutating func next() -> Flight? {
            let flight = following?.object
            following = flight?.facts.value.next
            return flight
        }
    }
}

/// The loads that can be joined, by the node where their instance is expected to live.
///
/// Guarded by the lock of the family.
private final class FlightIndex {
    private var flights: [Unowned<Node>: [Unowned<Flight>]] = [:]
    private var last: Recipe?

    init(by last: Recipe?) { self.last = last }

    subscript(home: Unowned<Node>) -> [Unowned<Flight>] { flights[home] ?? [] }

    /// Whether expectations are still what they were: what was loaded meanwhile was made from the same keys.
    func isRight(by newer: Recipe?) -> Bool {
        if last === newer { return true }
        guard let last, let newer, last.predictsLike(newer) else { return false }
        self.last = newer
        return true
    }

    func add(_ flight: Flight, at home: Unowned<Node>) {
        flight.facts.value.indexed = home
        flights[home, default: []].append(Unowned(flight))
    }

    func remove(_ flight: Flight) {
        guard let home = flight.facts.value.indexed else { return }
        flight.facts.value.indexed = nil
        flights[home]?.removeAll { $0 == Unowned(flight) }
        if flights[home]?.isEmpty == true { flights[home] = nil }
    }
}

extension Recipe {
    /// Whether it lets one expect the same homes, as far as can be told without looking at what its inputs were made
    /// from themselves.
    ///
    /// An expectation that is wrong costs a load more and nothing else.
    fileprivate func predictsLike(_ other: Recipe) -> Bool {
        isLocal == other.isLocal && mask == other.mask && inputs.count == other.inputs.count
            && zip(inputs, other.inputs).allSatisfy { $0.key == $1.key }
    }
}
