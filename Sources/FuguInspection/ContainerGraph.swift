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

    /// A value or an instance in a graph, or a load that runs or has failed.
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
            /// A load is making it.
            case loading
            /// The last load threw an error.
            case failed
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
        /// In debug builds, every load is timed. In release builds, this is `nil` unless somebody observed events when the load
        /// began, since every load would have to look at the clock twice. To have the times of a whole run, call
        /// ``Fugu/Container/observeEvents(_:)`` with an empty handler before the first load.
        public internal(set) var duration: Double?
        /// The text of the last error that a load of the key for this container threw.
        ///
        /// Values of secret keys are left out.
        public let lastError: String?
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
    /// - Parameter includingValues: Pass `true` to include the values of properties as text. Those of secret keys are
    ///   always left out.
    /// - Returns: The graph.
    /// - Complexity: O(*n* log *n*) for *n* containers, entries, and inputs.
    public func graph(includingValues: Bool) -> ContainerGraph {
        ContainerGraph(GraphSnapshot(drawing: self), includingValues: includingValues)
    }
}
