/// A snapshot of what a container, its ancestors and its descendants hold, and of what each instance was loaded from.
///
/// A graph contains no values, unless you ask for them. Write it as ``mermaid``, ``dot``, ``json``, or as a page for a browser with ``html``:
///
///     print(container.graph)
///     try container.graph.html.write(toFile: "graph.html", atomically: true, encoding: .utf8)
public struct ContainerGraph: Sendable, Codable, Hashable {
    /// The containers in which something is set or loaded, and those around them, in the order of depth and number.
    public internal(set) var containers: [Container]
    /// The entries, in the order of depth, container and name.
    public internal(set) var entries: [Entry]

    /// A container in a graph.
    public struct Container: Sendable, Codable, Hashable, Identifiable {
        /// The number of the container: 0 for the root, and for others the position among all that were made in the family.
        public let id: Int
        /// The number of the parent, or `nil` for the root.
        public let parent: Int?
        /// The number of ancestors.
        public let depth: Int
        /// The path of a scope, or a name made from the number.
        public let name: String
        /// The number of children, whether or not the graph shows them.
        public let childCount: Int
        /// A Boolean value that indicates whether the container is closed.
        public let isClosed: Bool
    }

    /// A value or an instance in a graph, or a load that runs or has failed.
    public struct Entry: Sendable, Codable, Hashable, Identifiable {
        /// What a key names.
        public enum Kind: String, Sendable, Codable {
            case property, feature, throwingFeature, asyncFeature
        }
        /// The way in which an entry got into the container.
        public enum State: String, Sendable, Codable {
            /// Code or a rule set it.
            case set
            /// Code set another loader, which hasn't run yet.
            case replaced
            /// A source supplied it.
            case supplied
            /// It's the default of a property.
            case defaultValue = "default"
            /// A load made it.
            case loaded
            /// A load is making it.
            case loading
            /// The last load threw an error.
            case failed
        }
        /// An identifier, unique in the graph, made from the container's number and the name.
        public let id: String
        /// The name of the type or key, with as much of what is around it as tells it apart.
        public let name: String
        /// What the key names.
        public let kind: Kind
        /// The way in which it got into the container.
        public let state: State
        /// The number of the container in which it lives.
        public let container: Int
        /// The number of ancestors of that container.
        public let depth: Int
        /// A Boolean value that indicates whether an input changed after the instance was loaded.
        public let isStale: Bool
        /// A Boolean value that indicates whether the feature reaches outside the process.
        public let isExternal: Bool
        /// A Boolean value that indicates whether every container loads its own instance.
        public let isLocal: Bool
        /// A Boolean value that indicates whether the value is a secret.
        public let isSecret: Bool
        /// The number of instances that were loaded here.
        public let loadCount: Int
        /// The time that the load of the instance took, in seconds.
        ///
        /// It's `nil` in release builds unless somebody observed events when the load began.
        public internal(set) var duration: Double?
        /// The text of the last error that a load of the key threw, as far as it was asked for in this container.
        ///
        /// Values of secret keys are left out.
        public let lastError: String?
        /// The identifiers of its inputs.
        public internal(set) var inputs: [String]
        /// The identifiers of those inputs that changed since.
        public internal(set) var changedInputs: [String]
        /// The value of a property in words, if ``Fugu/Container/graph(includingValues:)`` was asked for values and the
        /// key isn't secret.
        ///
        /// Long ones are cut, and of values that are no numbers, truth values or strings only the type is told.
        public internal(set) var value: String?
        /// The number of inputs that a filter has left out.
        public internal(set) var hiddenInputs = 0
        /// The number of entries that were made from it and that a filter has left out.
        public internal(set) var hiddenReaders = 0
        /// The names on the way to what is set in the container and makes the instance live there instead of in the root,
        /// which is the last.
        public let anchors: [String]
    }
}

extension ContainerGraph {
    /// The entry with an identifier.
    ///
    /// - Complexity: O(*n*) for *n* entries.
    public subscript(id: Entry.ID) -> Entry? { entries.first { $0.id == id } }

    /// Returns a graph of the entries with a name, what they were made from, and what was made from them.
    ///
    /// - Parameter name: The name of a type or key, such as `Database` or `\.timeout`.
    /// - Returns: The graph. It's empty if no entry has the name.
    public func filtered(by name: String) -> ContainerGraph {
        let wanted = entries.filter { $0.name == name }.map(\.id)
        let inputs = Dictionary(uniqueKeysWithValues: entries.map { ($0.id, $0.inputs) })
        return filtered(to: reached(from: wanted, inputs).union(reached(from: wanted, readers)))
    }

    /// Returns a graph of what a container sees: its own entries and those of its ancestors.
    ///
    /// - Parameter container: The number of the container.
    /// - Returns: The graph. It's empty if the graph doesn't contain the container.
    public func filtered(byContainer container: Container.ID) -> ContainerGraph {
        let parents = Dictionary(uniqueKeysWithValues: containers.map { ($0.id, $0.parent) })
        var seen: Set<Container.ID> = []
        var next: Container.ID? = container
        while let id = next, let parent = parents[id] {
            seen.insert(id)
            next = parent
        }
        return filtered(to: Set(entries.filter { seen.contains($0.container) }.map(\.id)))
    }

    /// Returns a graph of what led to failures: the loads that failed, and what the first of them had read.
    ///
    /// Loads that failed because of another one keep that one only as input, so that the way leads to the cause, which
    /// ``causes`` names.
    ///
    /// - Returns: The graph. It's empty if no load failed.
    public func filteredByFailure() -> ContainerGraph {
        let failed = Set(entries.filter { $0.state == .failed }.map(\.id))
        let causes = Set(self.causes)
        var kept = failed
        for entry in entries where causes.contains(entry.id) { kept.formUnion(entry.inputs) }
        // Edges to what the causes had read are kept, and those from one failure to another.
        return filtered(to: kept) { reader, input in causes.contains(reader) || failed.isSuperset(of: [reader, input]) }
    }

    /// The identifiers of the failed loads that didn't fail because of another one.
    public var causes: [Entry.ID] {
        let failed = Set(entries.filter { $0.state == .failed }.map(\.id))
        return entries.filter { failed.contains($0.id) && failed.isDisjoint(with: $0.inputs) }.map(\.id)
    }

    /// Returns a graph without the times that loads took, which are others in each run.
    ///
    /// - Returns: The graph.
    public func withoutDurations() -> ContainerGraph {
        var graph = self
        for index in graph.entries.indices { graph.entries[index].duration = nil }
        return graph
    }

    /// The identifiers of what was made from each entry.
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
            graph.entries[index].changedInputs.removeAll { !inputs.contains($0) }
            graph.entries[index].hiddenInputs += entry.inputs.count - inputs.count
            let hidden = (readers[entry.id] ?? []).filter { !kept.contains($0) || !isWanted($0, entry.id) }
            graph.entries[index].hiddenReaders += hidden.count
        }
        graph.dropEmptyContainers()
        return graph
    }

    /// Drops containers without entries, unless there are some below.
    mutating func dropEmptyContainers() {
        var kept = Set(entries.map(\.container))
        // Deepest first.
        for container in containers.sorted(by: { $0.depth > $1.depth }) where kept.contains(container.id) {
            if let parent = container.parent { kept.insert(parent) }
        }
        containers.removeAll { !kept.contains($0.id) }
    }
}
