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
    struct Comparison {
        let isEqual: Bool
        let stamp: UInt32
    }

    /// What keeps a write from being done at once.
    enum Obstacle {
        case ended
        case compare(Payload, Payload, UInt32)
        case wait(Exclusion, Signal)
        case circle(Exclusion)
    }
}

extension Write {
    /// Under the lock: what is to be done first, if there is something.
    fileprivate func obstacle(_ comparison: inout Comparison?, _ activity: (any Activity)?) -> Obstacle? {
        if node.isEnded { return .ended }
        let cell = node.storage.existingCell(key)
        if let exclusion = cell?.info?.value.exclusion { return exclusion.waitForEnd(activity) }
        guard let new = value, let (old, stamp) = node.concerningValue(key, cell), stamp != comparison?.stamp
        else { return nil }
        guard let isEqual = equal.known(old, new) else { return .compare(old, new, stamp) }
        comparison = Comparison(isEqual: isEqual, stamp: stamp)
        return nil
    }

    /// Outside the lock: does that. Returns false if there is nothing to write to any more.
    fileprivate func overcome(
        _ obstacle: Obstacle, _ comparison: inout Comparison?, _ activity: (any Activity)?
    ) -> Bool {
        switch obstacle {
        case .ended:
            node.family.reports.report(Messages.changeAfterEnd(of: key))
            return false
        case .wait(let exclusion, let signal): exclusion.wait(signal, activity)
        case .circle(let exclusion): fatalError(Messages.circleOfWaits(exclusion.modified, activity))
        case .compare(let old, let new, let stamp):
            // `==` is user code, so it sees a snapshot; if the value moves meanwhile, it is asked again.
            comparison = Comparison(isEqual: equal(old, new), stamp: stamp)
        }
        return true
    }

    /// Under the lock: does it.
    fileprivate func apply(
        _ comparison: Comparison?, isOpen: Bool, holder: (any Activity)?, _ effects: inout Effects
    ) {
        node.apply(
            operation, to: key, isSilent: comparison?.isEqual == true, isOpen: isOpen, holder: holder, &effects)
    }
}

extension Node {
    /// Under the lock: what code, and neither rules nor sources, set here, each as it can be set elsewhere.
    var settings: [(cell: CellReference, operation: Operation)] {
        storage.cells.compactMap { cell in
            guard cell.standing == CellState.held else { return nil }
            if let replacement = cell.info?.value.replacement { return (cell, .replace(replacement)) }
            return cell.payload.map { (cell, .set($0)) }
        }
    }
}

extension Family {
    /// Performs a write, when no `modify` of its key is under way, and tells observers if it is not equal to what was there.
    func commit(_ write: Write) {
        let activity = Current.unfinished
        var comparison: Write.Comparison?
        var effects = Effects(beginsAtOnce: true)
        while true {
            let obstacle: Write.Obstacle? = lock.withLock {
                if let obstacle = write.obstacle(&comparison, activity) { return obstacle }
                write.apply(comparison, isOpen: true, holder: activity, &effects)
                return nil
            }
            guard let obstacle else { return effects.perform(in: self) }
            guard write.overcome(obstacle, &comparison, activity) else { return }
        }
    }

    /// Performs all writes at once, when no `modify` of their keys is under way, and tells observers of what is not equal
    /// to what was there.
    ///
    /// - Parameters:
    ///   - isOutdated: Asked under the lock; if so, nothing is done.
    ///   - alongside: Done under the lock with the writes.
    /// - Returns: Whether it was done.
    @discardableResult
    func commit(
        _ writes: [Write], unless isOutdated: () -> Bool = { false }, alongside: () -> Void = {}
    ) -> Bool {
        let activity = Current.unfinished
        var comparisons: [Write.Comparison?] = Array(repeating: nil, count: writes.count)
        var effects = Effects()
        while true {
            var isDone = false
            let obstacle: (index: Int, Write.Obstacle)? = lock.withLock {
                if isOutdated() { return nil }
                for (index, write) in writes.enumerated() {
                    if let obstacle = write.obstacle(&comparisons[index], activity) { return (index, obstacle) }
                }
                isDone = true
                // Readers must never see an old value after a new one: all are sent to the lock before the first is
                // changed.
                for write in writes { write.node.storage.cell(write.key).close() }
                for (write, comparison) in zip(writes, comparisons) {
                    write.apply(comparison, isOpen: false, holder: activity, &effects)
                }
                alongside()
                for write in writes { write.node.storage.existingCell(write.key)?.openIfPresent() }
                return nil
            }
            guard let (index, obstacle) = obstacle else {
                effects.perform(in: self)
                return isDone
            }
            guard writes[index].overcome(obstacle, &comparisons[index], activity) else { return true }
        }
    }
}
