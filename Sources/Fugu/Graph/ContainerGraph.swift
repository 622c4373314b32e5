/// A snapshot of what a container, its ancestors and its descendants hold, and of what each instance was loaded from.
///
/// A graph contains no values, unless you ask for them. Print it, or write it as ``mermaid`` or ``dot``. With FuguInspection, it
/// can be filtered and explained, and becomes JSON or a page for a browser.
public struct ContainerGraph: Sendable, Codable, Hashable {
    /// The containers in which something is set or loaded, and those around them, in the order of depth and number.
    public package(set) var containers: [Container]
    /// The entries, in the order of depth, container and name.
    public package(set) var entries: [Entry]

    /// A container in a graph.
    public struct Container: Sendable, Codable, Hashable, Identifiable {
        /// The number of the container: 0 for the root, and for others the position among all that were made in the family.
        public let id: Int
        /// The number of the parent, or `nil` for the root.
        public let parent: Int?
        /// The number of ancestors.
        public let depth: Int
        /// The name that was set as ``ContainerKeys/containerName``, the path of a scope, or a name made from the number.
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
        /// In debug builds, every load is timed. In release builds, this is `nil` unless somebody observed events when the load
        /// began, since every load would have to look at the clock twice. To have the times of a whole run, call
        /// ``Fugu/Container/observeEvents(_:)`` with an empty handler before the first load.
        public package(set) var duration: Double?
        /// The text of the last error that a load of the key threw, as far as it was asked for in this container.
        ///
        /// Values of secret keys are left out.
        public let lastError: String?
        /// The identifier of the entry of the same key in the nearest ancestor that has one, if this one was set, replaced or
        /// supplied and so takes its place here and below.
        public package(set) var overrides: String?
        /// The identifiers of its inputs.
        public package(set) var inputs: [String]
        /// The identifiers of those inputs that changed since.
        public package(set) var changedInputs: [String]
        /// The value of a property in words, if FuguInspection was asked for values and the
        /// key isn't secret.
        ///
        /// Long ones are cut, and of values that are no numbers, truth values or strings only the type is told.
        public package(set) var value: String?
        /// The number of inputs that a filter has left out.
        public package(set) var hiddenInputs = 0
        /// The number of entries that were made from it and that a filter has left out.
        public package(set) var hiddenReaders = 0
        /// The names on the way to what is set in the container and makes the instance live there instead of in the root,
        /// which is the last.
        public let anchors: [String]
    }
}

extension ContainerGraph {
    /// Drops containers without entries, unless there are some below.
    package mutating func dropEmptyContainers() {
        var kept = Set(entries.map(\.container))
        // Deepest first.
        for container in containers.sorted(by: { $0.depth > $1.depth }) where kept.contains(container.id) {
            if let parent = container.parent { kept.insert(parent) }
        }
        containers.removeAll { !kept.contains($0.id) }
    }
}
