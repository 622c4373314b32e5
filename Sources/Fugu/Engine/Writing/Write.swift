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

    /// Whether the new value equals the present one, and the state of the key for which that was found.
    struct Comparison {
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
    private let transaction: (any CallFrame)?
    /// The frame that they are done in.
    private let frame = Current.unfinished

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

    /// Returns what is to be done first.
    ///
    /// Everything that is to be compared is compared at once.
    mutating func obstacles(_ token: LockToken, _ found: inout [(Int, Write.Obstacle)]) {
        if let obstacle = first.obstacle(token, &firstComparison, frame) { found.append((0, obstacle)) }
        for index in others.indices {
            if case .wait? = found.last?.1 { return }
            guard let obstacle = others[index].write.obstacle(token, &others[index].comparison, frame) else { continue }
            found.append((index + 1, obstacle))
        }
    }

    /// Outside the lock: deals with the obstacles.
    ///
    /// Returns false if there is nothing to write to any more.
    mutating func overcome(_ obstacles: [(Int, Write.Obstacle)]) -> Bool {
        for (index, obstacle) in obstacles {
            let isThere =
                index == 0
                ? first.overcome(obstacle, &firstComparison, frame)
                : others[index - 1].write.overcome(obstacle, &others[index - 1].comparison, frame)
            if !isThere { return false }
        }
        return true
    }

    /// Performs the writes.
    ///
    /// Readers must never see an old value after a new one: if there are many, all are sent to the lock before the
    /// first is changed.
    borrowing func apply(_ token: LockToken, _ effects: inout Effects) {
        if frame != nil { effects.holder = Current.outermost }
        if isAlone { return first.apply(token, firstComparison, endOf: transaction, &effects) }
        first.node.storage.cell(token, first.key).close()
        for (write, _) in others { write.node.storage.cell(token, write.key).close() }
        first.apply(token, firstComparison, endOf: transaction, isOpen: false, &effects)
        for (write, comparison) in others {
            write.apply(token, comparison, endOf: transaction, isOpen: false, &effects)
        }
        first.node.storage.existingCell(token, first.key)?.openIfPresent()
        for (write, _) in others { write.node.storage.existingCell(token, write.key)?.openIfPresent() }
    }
}

extension Write {
    /// Returns what is to be done first, if there is something.
    fileprivate func obstacle(_ token: LockToken, _ comparison: inout Comparison?, _ frame: (any CallFrame)?)
        -> Obstacle?
    {
        if node.isEnded(token) { return .ended }
        let cell = node.storage.existingCell(token, key)
        if let exclusion = cell?.state?[token].exclusion { return exclusion.waitForEnd(token, frame) }
        guard let new = value, let (old, stamp) = concern(token, cell), stamp != comparison?.stamp
        else { return nil }
        guard let isEqual = equal.known(old, new) else { return .compare(old, new, stamp) }
        comparison = Comparison(isEqual: isEqual, stamp: stamp)
        return nil
    }

    /// Outside the lock: deals with the obstacle.
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

    /// Returns the present value and its state, if its change would concern somebody: an observer, one who reloads
    /// or one who becomes stale.
    ///
    /// - `cell`: The cell of the key in the node, if there is one.
    func concern(_ token: LockToken, _ cell: CellReference?) -> (Payload, Stamp)? {
        if let cell, cell.has(CellFlags.held), let payload = cell.payload {
            guard let cellState = cell.state, cellState[token].isInput || cellState.isFollowed(token) else {
                return nil
            }
            return (payload, Stamp(token, of: cell))
        }
        // What is set here for the first time hides what was inherited.
        let isConcerned = cell?.state.map { $0[token].isInput || $0.isFollowed(token) } ?? false
        guard isConcerned || !node.isRoot && node.storage[token].activeCount > 0,
            let (payload, cell) = Lookup(token, key, for: node).read(token)
        else { return nil }
        return (payload, Stamp(token, of: cell))
    }

    /// Performs the write.
    ///
    /// - `transaction`: What ends with it.
    func apply(
        _ token: LockToken, _ comparison: Comparison?, endOf transaction: (any CallFrame)?, isOpen: Bool = true,
        _ effects: inout Effects
    ) {
        let announcement = Announcement(isSilent: comparison?.isEqual == true, transaction: transaction)
        let change = Change(node: node, cell: node.storage.cell(token, key))
        change.apply(token, operation, as: announcement, isOpen: isOpen, &effects)
    }
}

extension CellReference {
    /// What code or a rule set, but not what sources gave, as it can be set elsewhere.
    func setting(_ token: LockToken) -> Operation? {
        guard heldFlags == CellFlags.held else { return nil }
        return state?[token].replacement.map { .replace($0) } ?? payload.map { .set($0) }
    }
}

extension Family {
    /// Resets every key that was set or loaded in a node.
    func resetAll(in node: Node) {
        let keys = lock.withLock { token in
            let present = node.storage.cells(token).filter { $0.has(CellFlags.held | CellFlags.loaded) }.map(\.key)
            let loading = loads(token).filter { $0.asker.isWithin(node) && !present.contains($0.requested) }
            return present + loading.map(\.requested)
        }
        for key in keys { commit(Write(node, TypedKey(resetting: key), .reset)) }
    }

    /// Performs a write, when no `modify` of its key is under way, and tells observers if it is not equal to what was there.
    func commit(_ write: consuming Write) {
        var batch = Batch(write)
        _ = commit(&batch, unless: { _ in false }, alongside: { _ in })
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
        _ writes: [Write], endOf transaction: (any CallFrame)? = nil,
        unless isOutdated: (LockToken) -> Bool = { _ in false },
        alongside: (LockToken) -> Void = { _ in }
    ) -> Bool {
        guard !writes.isEmpty else {
            return lock.withLock { token in
                if isOutdated(token) { return false }
                alongside(token)
                return true
            }
        }
        var batch = Batch(writes, transaction)
        return commit(&batch, unless: isOutdated, alongside: alongside)
    }

    private func commit(_ batch: inout Batch, unless isOutdated: (LockToken) -> Bool, alongside: (LockToken) -> Void)
        -> Bool
    {
        var effects = Effects(beginsAtOnce: batch.isAlone)
        while true {
            var isDone = false
            var obstacles: [(Int, Write.Obstacle)] = []
            lock.withLock { token in
                if isOutdated(token) { return }
                batch.obstacles(token, &obstacles)
                guard obstacles.isEmpty else { return }
                batch.apply(token, &effects)
                alongside(token)
                isDone = true
            }
            if obstacles.isEmpty {
                effects.perform()
                return isDone
            }
            guard batch.overcome(obstacles) else { return true }
        }
    }
}
