import Synchronization

/// Something under way that may need something else: a load, a `modify`, an `update`. Activities form chains, from what
/// is needed to what needs it; a chain is the way that messages tell.
protocol Activity: AnyObject, Sendable {
    var family: Family { get }
    /// What is loaded or modified; nil for an update.
    var key: Key? { get }
    /// Who needs this.
    var parent: (any Activity)? { get }
    var standing: Standing { get }
    /// Whether it has ended, so that nobody waits for it any more.
    var isFinished: Bool { get }
    /// A load that this needed has failed; `way` leads from it to the one that threw the error.
    func needFailed(_ way: [Key], _ error: any Error)
}

/// How far down its way an activity stands.
struct Standing: Sendable {
    /// How many there are on the way, itself included.
    let level: Int
    /// The bits of the keys of all loads on the way, by `Key.mask`.
    let mask: UInt64

    init(under above: Standing?, loading key: Key? = nil) {
        level = (above?.level ?? 0) + 1
        mask = (above?.mask ?? 0) | (key?.mask ?? 0)
    }
}

/// A load that something needed and that has failed.
struct FailedNeed: Sendable {
    let way: [Key]
    let error: any Error
}

extension [FailedNeed] {
    /// Replaces what is known of the same way. Returns what it replaced, to be released outside of locks.
    mutating func note(_ way: [Key], _ error: any Error) -> [FailedNeed] {
        let known = filter { $0.way == way }
        removeAll { $0.way == way }
        append(FailedNeed(way: way, error: error))
        return known
    }

    /// The way to the load that threw `error`, if it came from one of these: not if who needed them has swallowed their
    /// errors, or thrown one of its own. May run user code.
    func way(to error: any Error) -> [Key] {
        let text = String(reflecting: error)
        return last { type(of: $0.error) == type(of: error) && String(reflecting: $0.error) == text }?.way ?? []
    }
}

extension Activity {
    func needFailed(_ way: [Key], _ error: any Error) {}

    /// This and all that need it and have not ended, innermost first.
    var chain: Chain { Chain(following: self) }

    /// The keys of the loads of the chain, outermost first.
    var way: [Key] { chain.compactMap { $0 is Flight ? $0.key : nil }.reversed() }

    /// The last of the chain.
    var outermost: any Activity {
        var result: any Activity = self
        for activity in chain { result = activity }
        return result
    }
}

/// An activity and all that need it and have not ended, innermost first.
struct Chain: Sequence, IteratorProtocol {
    fileprivate var following: (any Activity)?

    mutating func next() -> (any Activity)? {
        while let activity = following {
            following = activity.parent
            if !activity.isFinished { return activity }
        }
        return nil
    }
}

/// Events that wait for the end of the outermost activity they were made in.
enum Deferred {
    private static let count = Atomic(0)
    private static let records = Guarded<[ObjectIdentifier: [(KeyRecord, Family)]]>([:])

    static func add(_ record: KeyRecord, of family: Family, until holder: any Activity) {
        let dropped = records.withLock { records -> [(KeyRecord, Family)]? in
            guard records[ObjectIdentifier(holder)]?.append((record, family)) == nil else { return nil }
            records[ObjectIdentifier(holder)] = [(record, family)]
            count.add(1, ordering: .sequentiallyConsistent)
            // Has it ended meanwhile, and looked here before? Then whoever made the event delivers it.
            guard holder.isFinished else { return nil }
            count.subtract(1, ordering: .sequentiallyConsistent)
            return records.removeValue(forKey: ObjectIdentifier(holder))
        }
        withExtendedLifetime(dropped) {}
    }

    /// After an activity has ended: delivers what waited for it.
    static func deliver(after activity: any Activity) {
        guard count.load(ordering: .sequentiallyConsistent) > 0 else { return }
        let waiting = records.withLock { records in
            let waiting = records.removeValue(forKey: ObjectIdentifier(activity))
            if waiting != nil { count.subtract(1, ordering: .sequentiallyConsistent) }
            return waiting ?? []
        }
        for (record, family) in waiting { family.deliver(record) }
    }
}

/// What the running thread or task is in the middle of.
enum Current {
    @TaskLocal static var activity: (any Activity)?

    /// The running activity, if it has not ended meanwhile (a task started inside a load may outlive it).
    static var unfinished: (any Activity)? {
        guard let activity = activity else { return nil }
        if !activity.isFinished { return activity }
        var chain = activity.chain
        return chain.next()
    }
}

/// Who waits for whom, of all families: loads of one may need another's.
enum WaitGraph {
    private struct Wait {
        let waiter: any Activity
        /// How often: tasks started by one load may wait for the same.
        var count = 1
    }

    /// Under each activity, those that wait for it.
    private static let waits = Guarded<[ObjectIdentifier: [ObjectIdentifier: Wait]]>([:])

    /// Notes that `waiter` is about to wait for `target`, unless that would close a circle of waits.
    static func add(_ waiter: (any Activity)?, waitingFor target: any Activity) -> Bool {
        guard let waiter else { return true }
        return waits.withLock { waits in
            var open: [any Activity] = [waiter]
            var seen: Set<ObjectIdentifier> = []
            while let next = open.popLast() {
                if next === target { return false }
                guard seen.insert(ObjectIdentifier(next)).inserted else { continue }
                if let parent = next.parent, !parent.isFinished { open.append(parent) }
                if let waits = waits[ObjectIdentifier(next)] { open += waits.values.map(\.waiter) }
            }
            let (target, id) = (ObjectIdentifier(target), ObjectIdentifier(waiter))
            let isKnown: Void? = waits[target]?[id]?.count += 1
            if isKnown == nil { waits[target, default: [:]][id] = Wait(waiter: waiter) }
            return true
        }
    }

    static func remove(_ waiter: (any Activity)?, waitingFor target: any Activity) {
        guard let waiter else { return }
        // Released outside the lock.
        let removed: Wait? = waits.withLock { waits in
            let (target, id) = (ObjectIdentifier(target), ObjectIdentifier(waiter))
            waits[target]?[id]?.count -= 1
            guard waits[target]?[id]?.count == 0 else { return nil }
            defer { if waits[target]?.isEmpty == true { waits[target] = nil } }
            return waits[target]?.removeValue(forKey: id)
        }
        withExtendedLifetime(removed) {}
    }
}
