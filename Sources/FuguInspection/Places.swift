import Fugu

extension Container {
    /// Returns the places of a key in a snapshot: the one that this container sees, or a load that failed for it, and then
    /// those that it hides, nearest first.
    func places(of key: Key, in snapshot: GraphSnapshot) -> [GraphSnapshot.Place] {
        let (number, seen) = holder(of: key)
        let path = snapshot.containers.prefix { $0.id != number }.map(\.id) + [number]
        let known = Set(snapshot.entries.map(\.place))
        let own = path.reversed().map { GraphSnapshot.Place(key: key, container: $0) }.filter(known.contains)
        return seen.map { seen in Array(own.drop { $0.container != seen }) } ?? own
    }
}
