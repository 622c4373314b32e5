extension Container {
    /// The names of what was made from what this container sees for a key, each with its container unless that is the root.
    package func readers<Value>(of key: PropertyKey<Value>) -> [String] { readers(of: Key(raw: key._raw)) }

    /// The names of what was made from what this container sees for a property.
    package func readers<P: Property>(of property: P.Type) -> [String] { readers(of: Key(raw: P._raw)) }

    private func readers(of key: Key) -> [String] {
        let node = backing.node
        let snapshot = GraphSnapshot(of: node)
        guard let owner = node.family.lock.withLock({ node.find(key).present?.1.object.number }) else { return [] }
        let (graph, ids) = ContainerGraph.draw(snapshot)
        let place = GraphSnapshot.Place(key: key, container: owner)
        return ids[place].map { GraphExplainer(graph).readers(of: $0) } ?? []
    }
}
