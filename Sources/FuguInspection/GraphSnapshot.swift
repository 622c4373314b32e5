package import Fugu

/// The data for a graph, which is collected before names are looked up.
package struct GraphSnapshot: Sendable {
    /// The place of an entry: a key in a container.
    package struct Place: Hashable, Sendable {
        let key: Key
        let container: Int
    }

    /// A container.
    struct Box: Sendable {
        let id: Int
        let parent: Int?
        let depth: Int
        let name: String
        let childCount: Int
        let isClosed: Bool
    }

    /// The origin of an entry.
    enum State: Sendable { case set, replaced, supplied, defaultValue, loaded, testValue, loading, failed }

    package struct Entry: Sendable {
        let place: Place
        let depth: Int
        var state: State
        var loadCount = 0
        var duration: Duration?
        /// What the load has read.
        fileprivate(set) var reads: [Key] = []
        /// Whether the load has failed since a feature wasn't set that isn't loaded in tests.
        fileprivate(set) var isUnset = false
        package var inputs: [Place] = []
        var changed: [Place] = []
        var anchors: [Key] = []
        var isLocal = false
        /// Whether it's a value for tests if the feature has one.
        fileprivate var isForTest = false
        /// The text of the last error, which can contain a secret.
        var error: String?
        fileprivate var value: Payload?
        /// Whether it's a property whose value must not be printed, since its key is secret, or since it was made from what is.
        fileprivate(set) var isSecret = false

        init(place: Place, depth: Int, state: State) {
            self.place = place
            self.depth = depth
            self.state = state
        }

        /// The value of a secret property that's a string, to be masked in errors.
        var secret: String? { isSecret ? value?.string : nil }

        /// Returns the value of a property that isn't secret as text.
        func value(by teller: any ValueTeller) -> String? {
            isSecret ? nil : value.flatMap { place.key.tell($0, by: teller) }
        }
    }

    /// A load in progress.
    struct Load: Sendable {
        let place: Place
        let depth: Int
        let inputs: [Place]
        let id: ObjectIdentifier
        let neededBy: ObjectIdentifier?
        /// Whether its instance will live in one of the containers.
        let isShown: Bool
    }

    /// The containers, ancestors first.
    private(set) var containers: [Box] = []
    package var entries: [Entry] = []
    private(set) var loads: [Load] = []

    /// - `isAlone`: Whether to leave out descendants.
    package init(of container: Container, isAlone: Bool = false) {
        let receiver = Receiver()
        container.tell(receiver, isAlone: isAlone)
        self = receiver.snapshot
        for index in entries.indices where entries[index].isForTest && entries[index].place.key.hasTestValue {
            entries[index].state = .testValue
        }
        markSecrets()
    }

    /// Marks the properties that are secret, and those that were made from these, by way of features or not.
    private mutating func markSecrets() {
        var readers: [Place: [Place]] = [:]
        for entry in entries { for input in entry.inputs { readers[input, default: []].append(entry.place) } }
        var known = Set((entries.map(\.place) + readers.keys).filter { $0.key.traits.isSecret })
        var open = Array(known)
        while let place = open.popLast() {
            for reader in readers[place] ?? [] where known.insert(reader).inserted { open.append(reader) }
        }
        for index in entries.indices {
            entries[index].isSecret = entries[index].place.key.kind == .property && known.contains(entries[index].place)
        }
    }

    private init() {}

    private final class Receiver: GraphReceiver {
        private(set) var snapshot = GraphSnapshot()

        func add(container: Int, in parent: Int?, depth: Int, name: String, childCount: Int, isClosed: Bool) {
            snapshot.containers.append(
                Box(id: container, parent: parent, depth: depth, name: name, childCount: childCount, isClosed: isClosed)
            )
        }

        func add(
            _ place: GraphPlace, depth: Int, held: HeldBy?, loadCount: Int, duration: Duration?, value: Payload?,
            isLocal: Bool, isForTest: Bool, reads: [Key], inputs: [GraphPlace], changed: [GraphPlace],
            anchors: [Key], error: String?
        ) {
            let state: State =
                switch held {
                case .value?: .set
                case .loader?: .replaced
                case .source?: .supplied
                case nil: place.key.kind == .property ? .defaultValue : .loaded
                }
            var entry = Entry(place: GraphSnapshot.Place(place), depth: depth, state: state)
            (entry.loadCount, entry.duration, entry.value, entry.isLocal) = (loadCount, duration, value, isLocal)
            (entry.reads, entry.inputs) = (reads, inputs.map { .init($0) })
            entry.changed = changed.map { .init($0) }
            (entry.anchors, entry.error, entry.isForTest) = (anchors, error, isForTest)
            snapshot.entries.append(entry)
        }

        func add(
            failed place: GraphPlace, depth: Int, reads: [Key], inputs: [GraphPlace], isUnset: Bool, error: String
        ) {
            var entry = Entry(place: GraphSnapshot.Place(place), depth: depth, state: .failed)
            (entry.reads, entry.inputs, entry.isUnset) = (reads, inputs.map { .init($0) }, isUnset)
            entry.error = error
            snapshot.entries.append(entry)
        }

        func add(
            loading place: GraphPlace, depth: Int, inputs: [GraphPlace], _ id: ObjectIdentifier,
            neededBy: ObjectIdentifier?,
            isShown: Bool
        ) {
            snapshot.loads.append(
                Load(
                    place: GraphSnapshot.Place(place), depth: depth, inputs: inputs.map { .init($0) }, id: id,
                    neededBy: neededBy, isShown: isShown))
        }
    }
}

extension GraphSnapshot.Place {
    fileprivate init(_ place: GraphPlace) { self.init(key: place.key, container: place.container) }
}
