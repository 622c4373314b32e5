extension Container {
    /// Returns the names of the instances that were loaded from a key's value as this container sees it.
    ///
    /// A name includes the container unless that is the root.
    package func readers<Value>(of key: PropertyKey<Value>) -> [String] { readers(of: key._raw) }

    /// Returns the names of the instances that were loaded from a property's value as this container sees it.
    package func readers<P: Property>(of property: P.Type) -> [String] { readers(of: P._raw) }

    private func readers(of raw: UInt) -> [String] {
        let status = status(of: raw)
        guard let id = status.entries.first?.id else { return [] }
        let names = Dictionary(uniqueKeysWithValues: status.graph.containers.map { ($0.id, $0.name) })
        return status.graph.entries.filter { $0.inputs.contains(id) }.map { entry in
            entry.container == 0 ? entry.name : "\(entry.name) (\(names[entry.container] ?? ""))"
        }
    }
}
