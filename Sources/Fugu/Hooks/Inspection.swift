/// A type that describes values as text.
package protocol ValueTeller {
    func text<Value>(of value: Value) -> String
}

extension Container {
    /// Returns the places of a key in a snapshot: the one that this container sees, or a load that failed for it, and then
    /// those that it hides, nearest first.
    ///
    /// Also returns whether the container is closed.
    package func places(
        of key: Key, in snapshot: GraphSnapshot
    ) -> (places: [GraphSnapshot.Place], isClosed: Bool) {
        let node = node
        let (seen, isClosed) = node.family.lock.withLock { token -> (Int?, Bool) in
            let look = node.look(token, key)
            let seen: Int? = if case .found(_, let owner) = look { owner.object.number } else { nil }
            return (seen, node.storage[token].isClosed)
        }
        let path = snapshot.containers.prefix { $0.id != node.number }.map(\.id) + [node.number]
        let known = Set(snapshot.entries.map(\.place))
        let own = path.reversed().map { GraphSnapshot.Place(key: key, container: $0) }.filter(known.contains)
        return (seen.map { seen in Array(own.drop { $0.container != seen }) } ?? own, isClosed)
    }
}

extension Container {
    /// Returns the names of the instances that were loaded from a key's value as this container sees it.
    ///
    /// A name includes the container unless that is the root.
    package func readers(of definition: KeyDefinition) -> [String] {
        let snapshot = GraphSnapshot(of: node)
        guard let place = places(of: Key(raw: definition.raw), in: snapshot).places.first else { return [] }
        let readers = snapshot.entries.filter { $0.inputs.contains(place) }
        let names = GraphNames(of: snapshot.entries.map(\.place.key))
        let boxes = Dictionary(uniqueKeysWithValues: snapshot.containers.map { ($0.id, $0.name) })
        return readers.map { ($0.depth, $0.place.container, names[$0.place.key]) }.sorted(by: <).map { _, box, name in
            box == 0 ? name : "\(name) (\(boxes[box] ?? ""))"
        }
    }
}

extension Key {
    /// Returns a property's value as text.
    func tell(_ payload: Payload, by teller: any ValueTeller) -> String? {
        guard let type else { return ValueKeys.descriptor(of: self).tell(payload, by: teller) }
        return (type as? any Property.Type)?.tell(payload, by: teller)
    }
}

extension Property {
    fileprivate static func tell(_ payload: Payload, by teller: any ValueTeller) -> String {
        teller.text(of: payload.value(as: Value.self))
    }
}

extension PropertyDescriptor {
    func tell(_ payload: Payload, by teller: any ValueTeller) -> String? {
        teller.text(of: payload.value(as: Value.self))
    }
}
