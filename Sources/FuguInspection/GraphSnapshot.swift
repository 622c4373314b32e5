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
    enum State: Sendable { case set, replaced, supplied, defaultValue, loaded, testValue, loading }

    package struct Entry: Sendable {
        let place: Place
        let depth: Int
        var state: State
        var loadCount = 0
        var duration: Duration?
        /// What the load has read.
        fileprivate(set) var reads: [Key] = []
        package var inputs: [Place] = []
        var changed: [Place] = []
        var anchors: [Key] = []
        var isLocal = false
        /// Whether it's a value for tests if the feature has one.
        fileprivate var isForTest = false
        fileprivate var value: Payload?
        /// Whether it's a property whose value must not be printed, since its key is secret, or since it was made from what is.
        fileprivate(set) var isSecret = false

        init(place: Place, depth: Int, state: State) {
            self.place = place
            self.depth = depth
            self.state = state
        }

        /// Whether it's an instance.
        var isLoaded: Bool { state == .loaded || state == .testValue }

        /// Tells the value if it's that of a secret property.
        func tellSecret(to teller: any ValueTeller) { if isSecret, let value { _ = place.key.tell(value, by: teller) } }

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
        let node = container.node
        node.family.lock.withLock { token in
            if node.isEnded(token) { return }
            let nodes = node.path.dropFirst().reversed() + (isAlone ? [node] : node.subtree(token))
            for node in nodes { add(token, node) }
            if !isAlone { addLoads(token, around: node) }
        }
        // Names and traits are user code.
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
}

// What the containers hold, which is collected in one turn of the lock.
extension GraphSnapshot {
    /// Adds what a node holds.
    private mutating func add(_ token: LockToken, _ node: Node) {
        containers.append(
            Box(
                id: node.number, parent: node.parent?.number, depth: node.depth, name: node.displayName(token),
                childCount: node.childCount(token), isClosed: node.isClosed(token)))
        for cell in node.storage.cells(token) where cell.key != Key.containerName { add(token, node, cell) }
    }

    private mutating func add(_ token: LockToken, _ node: Node, _ cell: CellReference) {
        let key = cell.key
        var state: State = key.kind == .property ? .defaultValue : .loaded
        if !cell.has(CellFlags.loaded) {
            switch cell.origin(token) {
            case .code: state = cell.loader(token) == nil ? .set : .replaced
            case .rule: state = .set
            case .source: state = .supplied
            case nil: return
            }
        }
        var entry = Entry(place: Place(key: key, container: node.number), depth: node.depth, state: state)
        let provenance = cell.provenance(token)
        var reads: Set<Key> = []
        entry.reads = (provenance?.direct ?? []).filter { reads.insert($0).inserted }
        for input in entry.reads {
            guard case .found(let read, let owner) = node.look(token, input) else {
                // It was replaced or reset after the load, and hasn't been loaded again.
                if let owner = node.lost(token, input, after: cell.time) {
                    entry.changed.append(Place(key: input, container: owner.number))
                }
                continue
            }
            let place = Place(key: read.key, container: owner.object.number)
            entry.inputs.append(place)
            // What reloads has asked about later changes.
            if provenance?.reloads != true, read.time > cell.time { entry.changed.append(place) }
        }
        if !node.isRoot, let homeKey = provenance?.homeKeys.first(where: { node.holds(token, $0) }) {
            entry.anchors = [homeKey]
        } else if let provenance, !node.isRoot, !provenance.isLocal {
            entry.anchors = node.family.way(token, from: key) { node.holds(token, $0) }
        }
        if entry.anchors.first == key { entry.anchors.removeFirst() }
        if cell.has(CellFlags.loaded) {
            entry.duration = node.duration(token, of: key)
            entry.isForTest =
                node.policy(token) != nil
                && !node.path.contains { $0.cell(token, key)?.loader(token) != nil }
        }
        if key.kind == .property { entry.value = cell.payload }
        (entry.loadCount, entry.isLocal) = (cell.loadCount(token), provenance?.isLocal ?? false)
        entries.append(entry)
    }

    /// Adds the loads in progress that concern a node, and says which do.
    ///
    /// A load counts where its instance is expected.
    private mutating func addLoads(_ token: LockToken, around node: Node) {
        for load in node.family.loads(token) {
            let home = load.expected.object
            loads.append(
                Load(
                    place: Place(key: load.key, container: home.number), depth: home.depth,
                    inputs: load.inputs(token).compactMap { Self.seen(token, $0.key, by: load.node) },
                    id: ObjectIdentifier(load.work), neededBy: load.parent.map { ObjectIdentifier($0) },
                    isShown: load.key.kind != .property && (home.isWithin(node) || node.isWithin(home))))
        }
    }

    /// Returns the place of the value of a key that a node sees.
    private static func seen(_ token: LockToken, _ key: Key, by node: Node) -> Place? {
        guard case .found(let cell, let owner) = node.look(token, key) else { return nil }
        return Place(key: cell.key, container: owner.object.number)
    }
}
