/// What can be done to a key in a node.
enum Operation: Sendable {
    case set(Payload)
    case replace(Replacement)
    case reset
    /// What the sources have now: it never takes the place of what code set.
    case layer(SourceAnswer<Payload>)
}

/// A loader that takes the place of a feature's own.
final class Replacement: Sendable {
    let load: @Sendable (Container) throws -> Payload
    let loadAsync: (@Sendable (Container) async throws -> Payload)?

    init(
        load: @escaping @Sendable (Container) throws -> Payload,
        loadAsync: (@Sendable (Container) async throws -> Payload)? = nil
    ) {
        self.load = load
        self.loadAsync = loadAsync
    }
}

/// One operation of a commit.
struct Write: Sendable {
    let node: Node
    let key: Key
    let equal: Equality
    let operation: Operation
    /// The value that it puts in place, if it does: taken out once, since each look into the operation copies it.
    private let value: Payload?

    init(_ node: Node, _ key: TypedKey, _ operation: Operation) {
        self.init(node: node, key: key.key, equal: key.equal, operation: operation)
    }

    init(node: Node, key: Key, equal: Equality, operation: Operation) {
        self.node = node
        self.key = key
        self.equal = equal
        self.operation = operation
        value =
            switch operation {
            case .set(let payload), .layer(.value(let payload)): payload
            default: nil
            }
    }

    /// Whether the value is what was there already, as far as somebody cares, and the state in which that was so.
    fileprivate struct Comparison {
        let isEqual: Bool
        let stamp: Stamp
    }

    /// What keeps a write from being done at once.
    enum Obstacle {
        case ended
        case compare(Payload, Payload, Stamp)
        case wait(Exclusion, Signal)
        case circle(Exclusion)
    }
}

/// Writes that are done together: nearly always one, which needs no list.
private struct Batch: ~Copyable {
    // Not a pair, since changing one half of it would copy the other.
    private let first: Write
    private var firstComparison: Write.Comparison?
    private var others: [(write: Write, comparison: Write.Comparison?)] = []
    /// The transaction that publishes them.
    let transaction: (any CallFrame)?

    init(_ write: consuming Write) {
        first = write
        transaction = nil
    }

    /// `writes`: At least one.
    init(_ writes: [Write], _ transaction: (any CallFrame)?) {
        first = writes[0]
        others = writes.dropFirst().map { ($0, nil) }
        self.transaction = transaction
    }

    var isAlone: Bool { others.isEmpty }

    /// Under the lock: what is to be done first.
    ///
    /// Everything that is to be compared is compared at once.
    mutating func obstacles(_ frame: (any CallFrame)?, _ found: inout [(Int, Write.Obstacle)]) {
        if let obstacle = first.obstacle(&firstComparison, frame) { found.append((0, obstacle)) }
        for index in others.indices {
            if case .wait? = found.last?.1 { return }
            guard let obstacle = others[index].write.obstacle(&others[index].comparison, frame) else { continue }
            found.append((index + 1, obstacle))
        }
    }

    /// Outside the lock: does that.
    ///
    /// Returns false if there is nothing to write to any more.
    mutating func overcome(_ obstacles: [(Int, Write.Obstacle)], _ frame: (any CallFrame)?) -> Bool {
        for (index, obstacle) in obstacles {
            let isThere =
                index == 0
                ? first.overcome(obstacle, &firstComparison, frame)
                : others[index - 1].write.overcome(obstacle, &others[index - 1].comparison, frame)
            if !isThere { return false }
        }
        return true
    }

    /// Under the lock: does them.
    ///
    /// Readers must never see an old value after a new one: if there are many, all are sent to the lock before the
    /// first is changed.
    borrowing func apply(_ holder: (any CallFrame)?, _ effects: inout Effects) {
        if isAlone { return apply(first, firstComparison, holder, &effects) }
        first.node.storage.cell(first.key).close()
        for (write, _) in others { write.node.storage.cell(write.key).close() }
        apply(first, firstComparison, holder, &effects)
        for (write, comparison) in others { apply(write, comparison, holder, &effects) }
        first.node.storage.existingCell(first.key)?.openIfPresent()
        for (write, _) in others { write.node.storage.existingCell(write.key)?.openIfPresent() }
    }

    private borrowing func apply(
        _ write: borrowing Write, _ comparison: Write.Comparison?, _ holder: (any CallFrame)?, _ effects: inout Effects
    ) {
        let announcement = Node.Announcement(isSilent: comparison?.isEqual == true, transaction: transaction)
        write.node.apply(write.operation, to: write.key, announcement, isOpen: isAlone, holder: holder, &effects)
    }
}

extension Write {
    /// Under the lock: what is to be done first, if there is something.
    fileprivate func obstacle(_ comparison: inout Comparison?, _ frame: (any CallFrame)?) -> Obstacle? {
        if node.isEnded { return .ended }
        let cell = node.storage.existingCell(key)
        if let exclusion = cell?.info?.value.exclusion { return exclusion.waitForEnd(frame) }
        guard let new = value, let (old, stamp) = node.concerningValue(key, cell), stamp != comparison?.stamp
        else { return nil }
        guard let isEqual = equal.known(old, new) else { return .compare(old, new, stamp) }
        comparison = Comparison(isEqual: isEqual, stamp: stamp)
        return nil
    }

    /// Outside the lock: does that.
    ///
    /// Returns false if there is nothing to write to any more.
    fileprivate func overcome(
        _ obstacle: Obstacle, _ comparison: inout Comparison?, _ frame: (any CallFrame)?
    ) -> Bool {
        switch obstacle {
        case .ended:
            node.family.reports.report(Messages.changeAfterEnd(of: key))
            return false
        case .wait(let exclusion, let signal): exclusion.wait(signal, frame)
        case .circle(let exclusion): fatalError(Messages.circleOfWaits(exclusion.modified, frame))
        case .compare(let old, let new, let stamp):
            // `==` is user code, so it sees a snapshot; if the value moves meanwhile, it is asked again.
            comparison = Comparison(isEqual: equal(old, new), stamp: stamp)
        }
        return true
    }
}

extension Node {
    /// Under the lock: the present value and its state, if its change would concern somebody: an observer, one who reloads
    /// or one who becomes stale.
    func concerningValue(_ key: Key, _ cell: CellReference?) -> (Payload, Stamp)? {
        if let cell, cell.has(CellFlags.held), let payload = cell.payload {
            guard let info = cell.info, info.value.isInput || info.isFollowed else { return nil }
            return (payload, Stamp(of: cell))
        }
        // What is set here for the first time hides what was inherited.
        let isConcerned = cell?.info.map { $0.value.isInput || $0.isFollowed } ?? false
        guard isConcerned || !isRoot && storage.state.activeCount > 0, let (payload, cell) = present(key) else {
            return nil
        }
        return (payload, Stamp(of: cell))
    }

    /// Under the lock: what code, and neither rules nor sources, set here, each as it can be set elsewhere.
    var settings: [(cell: CellReference, operation: Operation)] {
        storage.cells.compactMap { cell in
            guard cell.heldFlags == CellFlags.held else { return nil }
            if let replacement = cell.info?.value.replacement { return (cell, .replace(replacement)) }
            return cell.payload.map { (cell, .set($0)) }
        }
    }
}

extension Family {
    /// Performs a write, when no `modify` of its key is under way, and tells observers if it is not equal to what was there.
    func commit(_ write: consuming Write) {
        var batch = Batch(write)
        _ = commit(&batch, unless: { false }, alongside: {})
    }

    /// Performs all writes at once, when no `modify` of their keys is under way, and tells observers of what is not equal
    /// to what was there.
    ///
    /// - `transaction`: The update that ends with this.
    /// - `isOutdated`: Asked under the lock; if so, nothing is done.
    /// - `alongside`: Done under the lock with the writes.
    ///
    /// Returns whether it was done.
    @discardableResult
    func commit(
        _ writes: [Write], endOf transaction: (any CallFrame)? = nil, unless isOutdated: () -> Bool = { false },
        alongside: () -> Void = {}
    ) -> Bool {
        guard !writes.isEmpty else {
            return lock.withLock {
                if isOutdated() { return false }
                alongside()
                return true
            }
        }
        var batch = Batch(writes, transaction)
        return commit(&batch, unless: isOutdated, alongside: alongside)
    }

    private func commit(_ batch: inout Batch, unless isOutdated: () -> Bool, alongside: () -> Void) -> Bool {
        let frame = Current.unfinished
        var effects = Effects(beginsAtOnce: batch.isAlone)
        while true {
            var isDone = false
            var obstacles: [(Int, Write.Obstacle)] = []
            lock.withLock {
                if isOutdated() { return }
                batch.obstacles(frame, &obstacles)
                guard obstacles.isEmpty else { return }
                batch.apply(frame == nil ? nil : Current.outermost, &effects)
                alongside()
                isDone = true
            }
            if obstacles.isEmpty {
                effects.perform()
                return isDone
            }
            guard batch.overcome(obstacles, frame) else { return true }
        }
    }
}
