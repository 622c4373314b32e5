import Fugu

extension ContainerGraph {
    /// The entry with an identifier.
    ///
    /// - Parameter id: The identifier of an entry.
    /// - Complexity: O(*n*) for *n* entries.
    public subscript(id: Entry.ID) -> Entry? { entries.first { $0.id == id } }

    /// Returns a graph of the entries with a name, their inputs, and their readers.
    ///
    /// - Parameter name: The name of a type or key, such as `Database` or `\.timeout`.
    /// - Returns: The graph. It's empty if no entry has the name.
    /// - Complexity: O(*n*) for *n* containers, entries, and inputs.
    public func filtered(by name: String) -> ContainerGraph {
        let wanted = entries.filter { $0.name == name }.map(\.id)
        let inputs = Dictionary(uniqueKeysWithValues: entries.map { ($0.id, $0.inputs) })
        return filtered(to: reached(from: wanted, inputs).union(reached(from: wanted, readers)))
    }

    /// Returns a graph of the entries that a container sees: its own and those of its ancestors.
    ///
    /// - Parameter container: The number of the container.
    /// - Returns: The graph. It's empty if the graph doesn't contain the container.
    /// - Complexity: O(*n*) for *n* containers, entries, and inputs.
    public func filtered(byContainer container: ContainerGraph.Container.ID) -> ContainerGraph {
        let parents = Dictionary(uniqueKeysWithValues: containers.map { ($0.id, $0.parent) })
        var seen: Set<ContainerGraph.Container.ID> = []
        var next: ContainerGraph.Container.ID? = container
        while let id = next, let parent = parents[id] {
            seen.insert(id)
            next = parent
        }
        return filtered(to: Set(entries.filter { seen.contains($0.container) }.map(\.id)))
    }

    /// Returns a graph of the causes of failures: the loads that failed, and the inputs of the first of them.
    ///
    /// A load that failed because of another one keeps only that one as its input, so that the path leads to the cause,
    /// which ``causes`` names.
    ///
    /// - Returns: The graph. It's empty if no load failed.
    /// - Complexity: O(*n*) for *n* containers, entries, and inputs.
    public func filteredByFailure() -> ContainerGraph {
        let failed = Set(entries.filter { $0.state == .failed }.map(\.id))
        let causes = Set(self.causes)
        var kept = failed
        for entry in entries where causes.contains(entry.id) { kept.formUnion(entry.inputs) }
        // Keep the edges from causes to their inputs, and those from one failure to another.
        return filtered(to: kept) { reader, input in causes.contains(reader) || failed.isSuperset(of: [reader, input]) }
    }

    /// The identifiers of the failed loads that didn't fail because of another one.
    ///
    /// - Complexity: O(*n*) for *n* containers, entries, and inputs.
    public var causes: [Entry.ID] {
        let failed = Set(entries.filter { $0.state == .failed }.map(\.id))
        return entries.filter { failed.contains($0.id) && failed.isDisjoint(with: $0.inputs) }.map(\.id)
    }

    /// Returns a graph without the durations of loads, which differ in each run.
    ///
    /// - Returns: The graph.
    /// - Complexity: O(*n*) for *n* containers, entries, and inputs.
    public func withoutDurations() -> ContainerGraph {
        var graph = self
        for index in graph.entries.indices { graph.entries[index].duration = nil }
        return graph
    }

    /// The identifiers of the entries that were loaded from each entry.
    var readers: [Entry.ID: [Entry.ID]] {
        var readers: [Entry.ID: [Entry.ID]] = [:]
        for entry in entries { for input in entry.inputs { readers[input, default: []].append(entry.id) } }
        return readers
    }

    private func reached(from start: [Entry.ID], _ next: [Entry.ID: [Entry.ID]]) -> Set<Entry.ID> {
        var reached = Set(start)
        var open = start
        while let id = open.popLast() {
            for id in next[id] ?? [] where reached.insert(id).inserted { open.append(id) }
        }
        return reached
    }

    private func filtered(
        to kept: Set<Entry.ID>, where isWanted: (_ reader: Entry.ID, _ input: Entry.ID) -> Bool = { _, _ in true }
    ) -> ContainerGraph {
        var graph = self
        let readers = readers
        graph.entries.removeAll { !kept.contains($0.id) }
        for index in graph.entries.indices {
            let entry = graph.entries[index]
            let inputs = entry.inputs.filter { kept.contains($0) && isWanted(entry.id, $0) }
            graph.entries[index].inputs = inputs
            if let overridden = entry.overrides, !kept.contains(overridden) { graph.entries[index].overrides = nil }
            graph.entries[index].changedInputs.removeAll { !inputs.contains($0) }
            graph.entries[index].hiddenInputs += entry.inputs.count - inputs.count
            let hidden = (readers[entry.id] ?? []).filter { !kept.contains($0) || !isWanted($0, entry.id) }
            graph.entries[index].hiddenReaders += hidden.count
        }
        graph.dropEmptyContainers()
        return graph
    }
}
