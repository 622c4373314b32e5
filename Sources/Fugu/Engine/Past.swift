// What debug builds remember, and the instances that keep an old value.

#if DEBUG
/// What's known of a family's past.
struct FamilyPast {
    private var reported: Set<Report> = []
    /// The number of the node below the root in which each feature was loaded last.
    var loadedBelow = KeyTable<Int>()
    /// The hashes of the last values by which each feature was to live below a node, and the numbers of its homes and of that node.
    var homeValues = KeyTable<[(hash: Int, home: Int, parent: Int)]>()

    /// Records a report about a feature and a key, and returns whether it's the first one of its topic.
    mutating func isNew(_ topic: Report.Topic, _ feature: Key, _ key: Key) -> Bool {
        reported.insert(Report(topic: topic, feature: feature, key: key)).inserted
    }

    struct Report: Hashable {
        enum Topic { case kept, home, again }
        let topic: Topic
        let feature: Key
        let key: Key
    }
}
#endif

// MARK: Instances that keep an old value

/// What the nodes of some writes see of the keys before the writes.
///
/// After them, an instance that stays, though its load has read such a key, has an old value, and is reported.
struct OldValues {
    #if DEBUG
    /// One for each write, or none if nothing can have an old value.
    private var values: [(payload: Payload, time: UInt64)?] = []
    #endif

    @inline(__always)
    init(_ token: LockToken, _ writes: [Write]) {
        #if DEBUG
        var index = 0
        // Quicker than a loop over the elements where nothing is optimized.
        while index < writes.count {
            if writes[index].node.mayBeRead(token, writes[index].key) {
                note(token, writes)
                break
            }
            index += 1
        }
        #endif
    }

    @inline(__always)
    func reportKept(_ token: LockToken, _ writes: [Write], _ effects: inout Effects) {
        #if DEBUG
        if values.count > 0 { report(token, writes, &effects) }
        #endif
    }

    #if DEBUG
    private mutating func note(_ token: LockToken, _ writes: [Write]) {
        values = writes.map { write in
            guard case .found(let cell, _) = write.node.look(token, write.key) else { return nil }
            return (cell.payload!, cell.time)
        }
    }
    #endif

    #if DEBUG
    /// What a write has changed: the former value, and the new one if that's known.
    private typealias Change = (write: Write, old: Payload, new: Payload?)

    private func report(_ token: LockToken, _ writes: [Write], _ effects: inout Effects) {
        var changes: [ObjectIdentifier: [Key: Change]] = [:]
        for (write, old) in zip(writes, values) {
            guard let old, !write.node.isEnded(token), write.node.mayBeRead(token, write.key) else { continue }
            let seen: CellReference? =
                if case .found(let cell, _) = write.node.look(token, write.key) { cell } else { nil }
            // A default may give an equal value, which isn't known before it's read.
            if seen?.time == old.time || seen == nil && write.key.kind == .property { continue }
            changes[ObjectIdentifier(write.node), default: [:]][write.key] = (write, old.payload, seen?.payload)
        }
        for changed in changes.values { report(token, changed, by: changed.values.first!.write.node, &effects) }
    }

    /// Reports the instances that live in a node or below and have read one of the keys that were changed there.
    private func report(
        _ token: LockToken, _ changed: [Key: Change], by writer: Node, _ effects: inout Effects
    ) {
        let (sought, family) = (Set(changed.keys), writer.family)
        let mask = sought.reduce(0) { $0 | $1.mask }
        for node in writer.subtree(token) where node.storage[token].readMask & mask != 0 {
            // What's held in between hides the change.
            let seen = sought.filter { key in !node.path(below: writer).contains { $0.holds(token, key) } }
            for way in node.kept(token, madeFrom: seen, { _, _ in true }) {
                // What a default gives now isn't known, either.
                if way.dropFirst().dropLast().contains(where: { $0.kind == .property }) { continue }
                let (write, old, new) = changed[way.last!]!
                let isReplaced = node.path.contains { $0.holds(token, way[0]) }
                let (place, isHere) = (node.within(token), node === writer)
                effects.report(in: family) {
                    // Comparing is user code.
                    if let new, write.equal(old, new) { return nil }
                    let isNew = family.lock.withLock { token in
                        family.state[token].past.isNew(.kept, way[0], write.key)
                    }
                    if !isNew { return nil }
                    return write.origin == .source
                        ? Messages.keptAtReload(way, place)
                        : Messages.kept(way, place, by: write.words, isHere: isHere, isReplaced: isReplaced)
                }
            }
        }
    }
    #endif
}
