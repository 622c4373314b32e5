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
    /// Whether this concerns the container of `node`.
    func isOf(_ node: Node) -> Bool
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
    /// The outermost activity that runs on the same thread or task, if the activity itself is not it: until its end nobody
    /// is told of changes.
    let outermost: (any Activity)?
    /// The stack that deep ways run on: it is asked for once on each way, since that takes long.
    private let stack: PlatformStack?

    /// How many loads may stand within one another where each has a stack of its own.
    static let deepest = 2_000

    /// - Parameters:
    ///   - above: How far down the activity stands that needs this one.
    ///   - outermost: See ``outermost``.
    init(under above: Standing?, loading key: Key? = nil, within outermost: (any Activity)? = nil) {
        level = (above?.level ?? 0) + 1
        mask = (above?.mask ?? 0) | (key?.mask ?? 0)
        self.outermost = outermost
        stack = level < 100 ? nil : above?.stack.flatMap { $0.isCurrent ? $0 : nil } ?? .current
    }

    /// Whether the running thread has no stack left for more loads.
    var hasNoStackLeft: Bool { (stack.flatMap { $0.isCurrent ? $0 : nil } ?? .current).isNearlyUsedUp }
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
    private static let waiting = Guarded<[ObjectIdentifier: [Followers]]>([:])

    /// - Parameter holder: An activity that runs on this thread or task, and so does not end meanwhile.
    static func add(_ followers: Followers, until holder: any Activity) {
        waiting.withLock { waiting in
            guard waiting[ObjectIdentifier(holder)]?.append(followers) == nil else { return }
            waiting[ObjectIdentifier(holder)] = [followers]
            count.add(1, ordering: .sequentiallyConsistent)
        }
    }

    /// After an activity has ended: delivers what waited for it.
    static func deliver(after activity: any Activity) {
        guard count.load(ordering: .sequentiallyConsistent) > 0 else { return }
        let followers = waiting.withLock { waiting in
            let followers = waiting.removeValue(forKey: ObjectIdentifier(activity))
            if followers != nil { count.subtract(1, ordering: .sequentiallyConsistent) }
            return followers ?? []
        }
        for followers in followers { followers.deliver() }
    }
}

/// What the running thread or task is in the middle of.
enum Current {
    /// Tasks that are started inside an activity inherit this: it says "somewhere within", and the execution tells whether
    /// it is here.
    private struct Running: Sendable {
        let activity: any Activity
        let execution: Execution
    }
    @TaskLocal private static var running: Running?

    /// The running activity, if it has not ended meanwhile (a task started inside a load may outlive it).
    static var unfinished: (any Activity)? {
        guard let activity = running?.activity else { return nil }
        if !activity.isFinished { return activity }
        var chain = activity.chain
        return chain.next()
    }

    /// The running activity, if it runs on this very thread and task and not in one that started this.
    static var own: (any Activity)? {
        guard let running, !running.activity.isFinished, running.execution == .current else { return nil }
        return running.activity
    }

    /// The running activity and those that need it, as far as they run on this very thread and task, innermost first.
    static var ownChain: [any Activity] {
        guard let own else { return [] }
        var result: [any Activity] = []
        for activity in own.chain {
            result.append(activity)
            if activity === own.standing.outermost ?? own { break }
        }
        return result
    }

    /// The outermost activity on this thread or task: who is told of changes waits for its end.
    static var outermost: (any Activity)? { own.map { $0.standing.outermost ?? $0 } }

    /// Runs `body` as a part of an activity.
    @inline(__always)
    static func run<R>(_ activity: any Activity, _ body: () throws -> R) rethrows -> R {
        try $running.withValue(Running(activity: activity, execution: .current), operation: body)
    }

    /// Runs `body` as a part of an activity, on whatever threads its task runs.
    @inline(__always)
    static func run<R>(_ activity: any Activity, _ body: () async throws -> R) async rethrows -> R {
        try await $running.withValue(Running(activity: activity, execution: .currentTask), operation: body)
    }

    /// Runs what observers do: in nobody's load, with their own container at hand, whoever calls them.
    static func observing(_ container: Container, _ body: () -> Void) {
        func bind() {
            if Container.current === container { return body() }
            Container.$current.withValue(container, operation: body)
        }
        if running == nil { bind() } else { $running.withValue(nil, operation: bind) }
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
    ///
    /// - Returns: The circle: each needs the next, and the last, `waiter`, the first, `target`.
    static func add(_ waiter: (any Activity)?, waitingFor target: any Activity) -> [any Activity]? {
        guard let waiter else { return nil }
        return waits.withLock { waits in
            var open: [any Activity] = [waiter]
            /// What each needs.
            var needs: [ObjectIdentifier: any Activity] = [:]
            func add(_ activity: any Activity, needing next: any Activity) {
                guard activity !== waiter, needs[ObjectIdentifier(activity)] == nil else { return }
                needs[ObjectIdentifier(activity)] = next
                open.append(activity)
            }
            while let next = open.popLast() {
                if next === target { return circle(from: next, needs) }
                if let parent = next.parent, !parent.isFinished { add(parent, needing: next) }
                for wait in (waits[ObjectIdentifier(next)] ?? [:]).values { add(wait.waiter, needing: next) }
            }
            let (target, id) = (ObjectIdentifier(target), ObjectIdentifier(waiter))
            let isKnown: Void? = waits[target]?[id]?.count += 1
            if isKnown == nil { waits[target, default: [:]][id] = Wait(waiter: waiter) }
            return nil
        }
    }

    private static func circle(
        from first: any Activity, _ needs: [ObjectIdentifier: any Activity]
    ) -> [any Activity] {
        var circle = [first]
        while let next = needs[ObjectIdentifier(circle[circle.count - 1])] { circle.append(next) }
        return circle
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
