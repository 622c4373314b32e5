/// A type that describes values as text.
package protocol ValueTeller {
    func text<Value>(of value: Value) -> String
}

/// The entries that a container has for a key.
package struct KeyStatus {
    package let name: String
    package let kind: ContainerGraph.Entry.Kind
    package let graph: ContainerGraph
    /// The entry that this container sees, or the load that failed for it, followed by the entries that it hides,
    /// nearest first.
    package let entries: [ContainerGraph.Entry]
    package let isClosed: Bool
}

extension Container {
    /// Returns a graph that includes the values of properties that aren't secret.
    package func graph(telling teller: any ValueTeller) -> ContainerGraph {
        ContainerGraph.draw(GraphSnapshot(of: node), telling: teller).graph
    }

    /// Returns what this container has for a key, without loading anything.
    package func status(of raw: UInt, telling teller: (any ValueTeller)? = nil) -> KeyStatus {
        let (key, node) = (Key(raw: raw), node)
        let snapshot = GraphSnapshot(of: node)
        let (graph, ids) = ContainerGraph.draw(snapshot, telling: teller)
        let (seen, isClosed) = node.family.lock.withLock { token -> (Int?, Bool) in
            let look = node.look(token, key)
            let seen: Int? = if case .found(_, let owner) = look { owner.object.number } else { nil }
            return (seen, node.storage[token].isClosed)
        }
        let path = snapshot.containers.prefix { $0.id != node.number }.map(\.id) + [node.number]
        let own = path.reversed().compactMap { ids[GraphSnapshot.Place(key: key, container: $0)] }
            .compactMap { id in graph.entries.first { $0.id == id } }
        let entries = seen.map { seen in Array(own.drop { $0.container != seen }) } ?? own
        return KeyStatus(
            name: key.name, kind: ContainerGraph.Entry.Kind(key.kind), graph: graph, entries: entries,
            isClosed: isClosed)
    }
}

extension Container {
    /// Returns the names of the instances that were loaded from a key's value as this container sees it.
    ///
    /// A name includes the container unless that is the root.
    package func readers<Value>(of key: PropertyKey<Value>) -> [String] { readers(of: key.raw) }

    /// Returns the names of the instances that were loaded from a property's value as this container sees it.
    package func readers<P: Property>(of property: P.Type) -> [String] { readers(of: Key.property(P.self)) }

    private func readers(of raw: UInt) -> [String] {
        let status = status(of: raw)
        guard let id = status.entries.first?.id else { return [] }
        let names = Dictionary(uniqueKeysWithValues: status.graph.containers.map { ($0.id, $0.name) })
        return status.graph.entries.filter { $0.inputs.contains(id) }.map { entry in
            entry.container == 0 ? entry.name : "\(entry.name) (\(names[entry.container] ?? ""))"
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

extension FeatureDescriptor {
    func tell(_ payload: Payload, by teller: any ValueTeller) -> String? { nil }
}
