/// The data for a graph.
///
/// It's collected in one turn of the lock, which looks up no names.
package struct GraphSnapshot: Sendable {
    /// The place of an entry: a key in a container.
    package struct Place: Hashable, Sendable {
        package let key: Key
        package let container: Int

        package init(key: Key, container: Int) {
            self.key = key
            self.container = container
        }
    }

    /// A container.
    package struct Box: Sendable {
        package let id: Int
        package let parent: Int?
        package let depth: Int
        package let name: String
        package let childCount: Int
        package let isClosed: Bool
    }

    /// The origin of an entry.
    package enum State: Sendable { case set, replaced, supplied, defaultValue, loaded, testValue, loading, failed }

    package struct Entry: Sendable {
        package let place: Place
        package let depth: Int
        package var state: State
        package internal(set) var loadCount: UInt32 = 0
        package internal(set) var seconds: Float = -1
        package var inputs: [Place] = []
        package internal(set) var changed: [Place] = []
        package internal(set) var anchors: [Key] = []
        package internal(set) var isLocal = false
        /// Whether it's a value for tests if the feature has one.
        fileprivate var isForTest = false
        var failure: FailedLoad?
        var value: Payload?

        package init(place: Place, depth: Int, state: State) {
            self.place = place
            self.depth = depth
            self.state = state
        }

        /// The text of the last error, which can contain a secret.
        package var error: String? { failure?.text }
        /// The value of a secret property that's a string, to be masked in errors.
        package var secret: String? { place.key.traits.isSecret ? value?.string : nil }

        /// Returns the value of a property that isn't secret as text.
        package func value(by teller: any ValueTeller) -> String? {
            place.key.traits.isSecret ? nil : value.flatMap { place.key.tell($0, by: teller) }
        }
    }

    /// A load in progress.
    package struct Load: Sendable {
        package let place: Place
        package let depth: Int
        package let inputs: [Place]
        package let id: ObjectIdentifier
        package let neededBy: ObjectIdentifier?
        /// Whether its instance will live in one of the containers.
        package let isShown: Bool
    }

    /// The containers, ancestors first.
    package private(set) var containers: [Box] = []
    package var entries: [Entry] = []
    package private(set) var loads: [Load] = []

    /// - `isAlone`: Whether to leave out descendants.
    package init(of container: Container, isAlone: Bool = false) {
        let node = container.node
        node.family.lock.withLock { token in
            if node.isEnded(token) { return }
            let nodes = node.path.dropFirst().reversed() + (isAlone ? [node] : node.subtree(token))
            for node in nodes { add(token, node) }
            if !isAlone { addLoads(token, in: node.family, seenFrom: node) }
        }
        for index in entries.indices where entries[index].isForTest && entries[index].place.key.hasTestValue {
            entries[index].state = .testValue
        }
    }

    private mutating func add(_ token: LockToken, _ node: Node) {
        let rare = node.storage[token].rare
        containers.append(
            Box(
                id: node.number, parent: node.parent?.number, depth: node.depth,
                name: node.displayName(token),
                childCount: node.childCount(token), isClosed: node.storage[token].isClosed))
        let failures = rare?.failures ?? KeyTable()
        for cell in node.storage.cells(token) {
            guard cell.key != Key.containerName, var entry = Entry(token, cell, in: node) else { continue }
            // A replaced feature whose load has failed is added once, as failed.
            if let failure = failures[cell.key], !failure.isPast, !cell.has(CellFlags.hasWord) { continue }
            entry.failure = failures[cell.key]
            entries.append(entry)
        }
        for (key, failure) in failures.entries where !failure.isPast {
            if case .found = node.look(token, key) { continue }
            var entry = Entry(place: Place(key: key, container: node.number), depth: node.depth, state: .failed)
            entry.inputs = failure.inputs.compactMap { Place(token, of: $0, seenFrom: node) }
            // One of its inputs may have failed for the same container.
            if failure.way.count > 1 { entry.inputs.append(Place(key: failure.way[1], container: node.number)) }
            entry.failure = failure
            entries.append(entry)
        }
    }

    /// Adds the loads in progress, at the places where their instances will probably live.
    private mutating func addLoads(_ token: LockToken, in family: Family, seenFrom node: Node) {
        for load in family.loads(token) {
            let home = load.load!.expected.object
            loads.append(
                Load(
                    place: Place(key: load.key!.known(at: home.depth), container: home.number), depth: home.depth,
                    inputs: load.state[token].load.inputs.compactMap { Place(token, of: $0.key, seenFrom: load.node!) },
                    id: ObjectIdentifier(load), neededBy: load.parent.map { ObjectIdentifier($0) },
                    isShown: load.key!.kind != .property && (home.isWithin(node) || node.isWithin(home))))
        }
    }
}

extension GraphSnapshot.Entry {
    /// Creates the entry for a cell, or returns `nil` for a link or an empty cell.
    fileprivate init?(_ token: LockToken, _ cell: CellReference, in node: Node) {
        let known = cell.place
        let state: GraphSnapshot.State
        switch (cell.has(CellFlags.held), cell.has(CellFlags.loaded)) {
        case (true, false) where cell.has(CellFlags.layered):
            state = known?[token].rare?.rule.value == nil ? .supplied : .set
        case (true, false): state = known?[token].rare?.replacement.value == nil ? .set : .replaced
        case (_, true) where cell.key.kind == .property: state = .defaultValue
        case (_, true): state = .loaded
        case (false, false): return nil
        }
        self.init(place: GraphSnapshot.Place(key: cell.key, container: node.number), depth: node.depth, state: state)
        isForTest = state == .loaded && node.loadsTestValue(token, cell.key)
        loadCount = UInt32(known?[token].loadCount ?? 0)
        if cell.key.kind == .property { value = cell.payload }
        guard let known, let provenance = known[token].provenance else { return }
        isLocal = provenance.isLocal
        #if DEBUG
        seconds = known[token].duration.map { Float($0 / .seconds(1)) } ?? -1
        #endif
        for input in provenance.direct {
            guard case .found(let read, let owner) = node.look(token, input) else {
                // It was replaced or reset after the load, and hasn't been loaded again.
                if let owner = node.lost(token, input, after: cell.time) {
                    changed.append(GraphSnapshot.Place(key: input.known(at: owner.depth), container: owner.number))
                }
                continue
            }
            let place = GraphSnapshot.Place(key: read.key, container: owner.object.number)
            inputs.append(place)
            if read.time > cell.time || known[token].isOutdated { changed.append(place) }
        }
        if !node.isRoot, !provenance.isLocal {
            anchors = node.family.way(token, from: cell.key) { node.holds(token, $0) }
        }
        if anchors.first == cell.key { anchors.removeFirst() }
    }
}

extension Node {
    /// Whether an instance that was loaded here is a value for tests if the feature has one.
    fileprivate func loadsTestValue(_ token: LockToken, _ key: Key) -> Bool {
        storage[token].strictness != nil
            && path.firstResult { node in
                let cell = node.storage.existingCell(token, key)
                return cell?.place?[token].rare?.replacement.value == nil ? nil : true
            } == nil
    }

    /// Returns the nearest node, here or above, in which a key has lost its value since a time.
    fileprivate func lost(_ token: LockToken, _ key: Key, after time: UInt64) -> Node? {
        path.firstResult { node in
            let cell = node.storage.existingCell(token, key.known(at: node.depth))
            return cell.map { !$0.has(CellFlags.link) && $0.time > time } == true ? UnmanagedReference(node) : nil
        }?.object
    }
}

extension GraphSnapshot.Place {
    /// Creates the place of a key as it is seen from a node, or returns `nil` if nothing is seen.
    fileprivate init?(_ token: LockToken, of key: Key, seenFrom node: Node) {
        guard case .found(let cell, let owner) = node.look(token, key) else { return nil }
        self.init(key: cell.key, container: owner.object.number)
    }
}

extension Payload {
    /// The value if it's a string.
    var string: String? {
        if box is Box<String> { return value(as: String.self) }
        return box is Box<String?> ? value(as: String?.self) : nil
    }
}

/// A record of a failed load, for graphs, with the text of its error, because the error itself may keep any object.
struct FailedLoad: Sendable {
    let text: String
    /// The path from the key to the one whose load threw the error.
    let way: [Key]
    /// The inputs that the load had read.
    let inputs: [Key]
    var count = 1
    /// Whether a later load has succeeded.
    var isPast = false

    private static let longestText = 500

    /// Creates a record, outside every lock, because describing the error is user code.
    init(_ error: any Error, way: [Key], inputs: [Key]) {
        let text = "\(error)"
        self.text = text.count > Self.longestText ? text.prefix(Self.longestText) + "…" : text
        self.way = way
        self.inputs = inputs
    }
}

extension Frame {
    /// Outside the lock: remembers that the load has failed.
    func remember(_ error: any Error, _ way: [Key], _ inputs: [Key]) {
        if error is CancellationError { return }
        var failure = FailedLoad(error, way: way, inputs: inputs)
        family.lock.withLock { token in
            guard let node, !node.isEnded(token) else { return }
            let rare = node.storage[token].more()
            failure.count += rare.failures[key!]?.count ?? 0
            rare.failures[key!] = failure
        }
    }
}
