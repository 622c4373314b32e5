public import Fugu

/// A snapshot of the entries of a container, its ancestors, and its descendants, with the inputs of each instance.
///
/// A graph contains no values, unless you ask for them. You can print, encode, filter, and explain it, and write it as Mermaid,
/// DOT, JSON, or a page for a browser.
public struct ContainerGraph: Sendable, Codable, Hashable {
    /// The containers in which something is set or loaded, and those around them, in the order of depth and number.
    public internal(set) var containers: [Container]
    /// The entries, in the order of depth, container, and name.
    public internal(set) var entries: [Entry]

    /// A container in a graph.
    public struct Container: Sendable, Codable, Hashable, Identifiable {
        /// The number of the container: 0 for the root, and for others their position among all containers that were
        /// created in the family.
        public let id: Int
        /// The number of the parent, or `nil` for the root.
        public let parent: Int?
        /// The number of ancestors.
        public let depth: Int
        /// The name set as `containerName`, the path of a scope, or a name that contains the number.
        public let name: String
        /// The number of children, whether or not the graph shows them.
        public let childCount: Int
        /// A Boolean value that indicates whether the container is closed.
        public let isClosed: Bool
    }

    /// A value or an instance in a graph, or a load that runs.
    public struct Entry: Sendable, Codable, Hashable, Identifiable {
        /// The kind of a key.
        public enum Kind: String, Sendable, Codable {
            case property, feature, throwingFeature, asyncFeature
        }
        /// The origin of an entry.
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
            /// A strict container made it, the value that the feature declares for tests.
            case testValue
            /// A load is making it.
            case loading
        }
        /// An identifier, unique in the graph, made from the container's number and the name.
        public let id: String
        /// The name of the type or key, with enclosing types and the module if it isn't unique without them.
        public let name: String
        /// The kind of the key.
        public let kind: Kind
        /// The origin of the entry.
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
        /// In debug builds and in tests, every load is timed. In release builds, this is `nil`, since every load would have to look at
        /// the clock twice: take the times from the events of ``Fugu/Container/observeEvents(_:)``.
        public internal(set) var duration: Double?
        /// The identifier of the entry of the same key in the nearest ancestor that has one, if this one was set, replaced or
        /// supplied and so takes its place here and below.
        public internal(set) var overrides: String?
        /// The identifiers of its inputs.
        public internal(set) var inputs: [String]
        /// The identifiers of the inputs that changed after the load.
        public internal(set) var changedInputs: [String]
        /// The text of a property's value, if you asked for values and the key isn't secret.
        ///
        /// Long values are cut. For a value that isn't a number, a Boolean value, or a string, it's only the type.
        public internal(set) var value: String?
        /// The number of inputs that a filter leaves out.
        public internal(set) var hiddenInputs = 0
        /// The number of entries that were loaded from it and that a filter leaves out.
        public internal(set) var hiddenReaders = 0
        /// The names of the keys on the path to the one that is set in the container, which is the last and the reason
        /// why the instance lives there instead of in the root.
        public let anchors: [String]
    }
}

extension ContainerGraph {
    /// Removes containers without entries, unless a descendant has some.
    mutating func dropEmptyContainers() {
        var kept = Set(entries.map(\.container))
        // The deepest containers come first.
        for container in containers.sorted(by: { $0.depth > $1.depth }) where kept.contains(container.id) {
            if let parent = container.parent { kept.insert(parent) }
        }
        containers.removeAll { !kept.contains($0.id) }
    }
}

extension Container {
    /// A snapshot of what this container, its ancestors and its descendants hold, and of what each instance was loaded from.
    ///
    /// - Complexity: O(*n* log *n*) for *n* containers, entries, and inputs of the family.
    public var graph: ContainerGraph { ContainerGraph(GraphSnapshot(drawing: self)) }

    /// Returns a snapshot of the entries of this container, its ancestors, and its descendants, with values.
    ///
    /// - Parameter includingValues: Pass `true` to include the values of properties as text. Those of secret keys, and
    ///   those that were made from them, are always left out.
    /// - Returns: The graph.
    /// - Complexity: O(*n* log *n*) for *n* containers, entries, and inputs.
    public func graph(includingValues: Bool) -> ContainerGraph {
        ContainerGraph(GraphSnapshot(drawing: self), includingValues: includingValues)
    }
}

extension ContainerGraph {
    init(_ snapshot: GraphSnapshot, includingValues: Bool = false) {
        self = Self.draw(snapshot, includingValues: includingValues).graph
    }

    /// Returns the graph of a snapshot, and the identifiers of its entries.
    static func draw(
        _ snapshot: GraphSnapshot, includingValues: Bool
    ) -> (graph: ContainerGraph, ids: [GraphSnapshot.Place: Entry.ID]) {
        let names = GraphNames(
            of: snapshot.entries.flatMap { [$0.place.key] + $0.anchors + $0.inputs.map(\.key) })
        let sorted = snapshot.entries.map { (entry: $0, name: names[$0.place.key]) }.sorted {
            ($0.entry.depth, $0.entry.place.container, $0.name) < ($1.entry.depth, $1.entry.place.container, $1.name)
        }
        let ids = identifiers(of: sorted)
        let parents = Dictionary(uniqueKeysWithValues: snapshot.containers.map { ($0.id, $0.parent) })
        // A load that still runs is nothing that could be overridden.
        let absent = Set(snapshot.entries.filter { $0.state == .loading }.map(\.place))
        let present = absent.isEmpty ? ids : ids.filter { !absent.contains($0.key) }
        let entries = sorted.map { entry, name in
            let traits = entry.place.key.traits
            // A load may have read two instances of a key.
            var seen: Set<String> = []
            return Entry(
                id: ids[entry.place]!, name: name, kind: Entry.Kind(entry.place.key.kind),
                state: Entry.State(entry.state),
                container: entry.place.container, depth: entry.depth, isStale: !entry.changed.isEmpty,
                isExternal: traits.isExternal, isLocal: traits.home.isLocal || entry.isLocal, isSecret: entry.isSecret,
                loadCount: entry.loadCount, duration: entry.duration.map { Double(Float($0 / .seconds(1))) },
                overrides: overridden(by: entry, present, parents),
                inputs: entry.inputs.compactMap { ids[$0] }.filter { seen.insert($0).inserted },
                changedInputs: entry.changed.compactMap { ids[$0] },
                value: includingValues ? entry.value(by: ValueSketch()) : nil,
                anchors: entry.anchors.map { names[$0] })
        }
        let containers = snapshot.containers.sorted { ($0.depth, $0.id) < ($1.depth, $1.id) }.map {
            Container(
                id: $0.id, parent: $0.parent, depth: $0.depth, name: $0.name, childCount: $0.childCount,
                isClosed: $0.isClosed)
        }
        var graph = ContainerGraph(containers: containers, entries: entries)
        graph.dropEmptyContainers()
        return (graph, ids)
    }

    private static func overridden(
        by entry: GraphSnapshot.Entry, _ ids: [GraphSnapshot.Place: Entry.ID], _ parents: [Int: Int?]
    ) -> Entry.ID? {
        guard entry.state == .set || entry.state == .replaced || entry.state == .supplied else { return nil }
        var next = parents[entry.place.container] ?? nil
        while let container = next {
            if let id = ids[GraphSnapshot.Place(key: entry.place.key, container: container)] { return id }
            next = parents[container] ?? nil
        }
        return nil
    }

    private static func identifiers(
        of entries: [(entry: GraphSnapshot.Entry, name: String)]
    ) -> [GraphSnapshot.Place: String] {
        var ids: [GraphSnapshot.Place: String] = [:]
        var counts: [String: Int] = [:]
        for (entry, name) in entries {
            let id = identifier(name, in: entry.place.container)
            counts[id, default: 0] += 1
            // A single underscore before a digit could be part of a name; two can't.
            ids[entry.place] = counts[id]! == 1 ? id : "\(id)__\(counts[id]!)"
        }
        return ids
    }
}

extension ContainerGraph.Entry.State {
    init(_ state: GraphSnapshot.State) {
        self =
            switch state {
            case .set: .set
            case .replaced: .replaced
            case .supplied: .supplied
            case .defaultValue: .defaultValue
            case .loaded: .loaded
            case .testValue: .testValue
            case .loading: .loading
            }
    }
}

extension ContainerGraph.Entry.Kind {
    init(_ kind: KeyKind) {
        self =
            switch kind {
            case .property: .property
            case .feature: .feature
            case .throwingFeature: .throwingFeature
            case .asyncFeature: .asyncFeature
            }
    }
}

extension ContainerGraph {
    /// Returns an identifier of ASCII letters, digits, and underscores that begins with a letter.
    private static func identifier(_ name: String, in container: Int) -> String {
        var text = "c\(container)"
        var isSeparated = false
        for scalar in name.unicodeScalars {
            guard scalar.properties.isAlphabetic || scalar.properties.numericType != nil else {
                isSeparated = false
                continue
            }
            if !isSeparated { text += "_" }
            isSeparated = true
            if scalar.isASCII {
                text.unicodeScalars.append(scalar)
            } else {
                text += "u" + String(scalar.value, radix: 16)
            }
        }
        return text
    }
}

extension GraphSnapshot {
    /// Creates the data for a graph with the loads in progress, at the places where their instances will probably live.
    init(drawing container: Container) {
        self.init(of: container)
        var known = Dictionary(uniqueKeysWithValues: entries.indices.map { (entries[$0].place, $0) })
        let needed = Dictionary(grouping: loads, by: \.neededBy)
        for load in loads where load.isShown {
            let index = known[load.place] ?? entries.count
            if index == entries.count {
                known[load.place] = index
                entries.append(Entry(place: load.place, depth: load.depth, state: .loading))
            }
            entries[index].state = .loading
            let inputs = load.inputs + (needed[load.id] ?? []).map(\.place)
            entries[index].inputs += inputs.filter { !entries[index].inputs.contains($0) }
        }
    }
}

/// A description for debuggers, which contains the names of keys but never values.
extension Container: CustomDebugStringConvertible {
    /// The description with the parent and the names of the keys that are set or were loaded, in one line.
    public var debugDescription: String {
        let snapshot = GraphSnapshot(of: self, isAlone: true)
        let (own, parent) = (snapshot.containers.last, snapshot.containers.dropLast().last)
        func names(_ states: GraphSnapshot.State...) -> [String] {
            snapshot.entries.filter { $0.place.container == own?.id && states.contains($0.state) }.map(\.place.key.name)
                .sorted()
        }
        return Messages.containerInDetail(
            description, parent: parent?.name,
            [
                ("set", names(.set, .replaced, .supplied)), ("loaded", names(.loaded, .testValue, .defaultValue)),
            ])
    }
}

extension Container {
    /// Returns the number of this container, and that of the container whose value of a key it sees.
    private func holder(of key: Key) -> (own: Int, seen: Int?) {
        let node = node
        return node.family.lock.withLock { token in
            if case .found(_, let owner) = node.look(token, key) {
                (node.number, owner.object.number)
            } else {
                (node.number, nil)
            }
        }
    }
}

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

    private func filtered(to kept: Set<Entry.ID>) -> ContainerGraph {
        var graph = self
        let readers = readers
        graph.entries.removeAll { !kept.contains($0.id) }
        for index in graph.entries.indices {
            let entry = graph.entries[index]
            let inputs = entry.inputs.filter { kept.contains($0) }
            graph.entries[index].inputs = inputs
            if let overridden = entry.overrides, !kept.contains(overridden) { graph.entries[index].overrides = nil }
            graph.entries[index].changedInputs.removeAll { !inputs.contains($0) }
            graph.entries[index].hiddenInputs += entry.inputs.count - inputs.count
            graph.entries[index].hiddenReaders += (readers[entry.id] ?? []).filter { !kept.contains($0) }.count
        }
        graph.dropEmptyContainers()
        return graph
    }
}
