import Synchronization

/// Whatever runs user code: a load, an update, a `modify`, rules, a round of observers, a closing, a snapshot.
///
/// Frames form chains, from what is needed to what needs it; messages print such a chain.
final class Frame: Sendable {
    enum Kind {
        case load, modify, update, rules, observers, closing, closer, warmUp, snapshot
    }
    let kind: Kind
    let family: Family
    /// The node that was asked, or is being changed.
    let node: Node?
    /// The key that is loaded or modified.
    let key: Key?
    /// Who needs this.
    let parent: Frame?
    /// How many frames there are on the way, this one included.
    let level: Int
    /// The bits of the keys of all loads on the way, by `Key.mask`.
    let mask: UInt64
    /// The outermost frame that runs on the same thread or task, if this is not it.
    ///
    /// Until its end, no change is delivered. This keeps it.
    private let outer: UnmanagedReference<Frame>?
    /// The request that a load answers.
    let load: LoadFacts?
    /// The update through whose handle a load was asked for.
    let draft: Frame?
    let state: FamilyLocked<FrameState>
    private let finished = Atomic(false)

    /// - `own`: The frame that runs on this thread or task, if this one does, too.
    init(
        _ kind: Kind, in family: Family, _ node: Node?, _ key: Key? = nil, under parent: Frame?, within own: Frame?,
        _ load: LoadFacts? = nil, through draft: Frame? = nil
    ) {
        self.kind = kind
        self.family = family
        self.node = node
        self.key = key
        self.parent = parent
        self.load = load
        self.draft = draft
        level = (parent?.level ?? 0) + 1
        mask = (parent?.mask ?? 0) | (kind == .load ? key!.mask : 0)
        outer = own?.outermost
        state = FamilyLocked(FrameState())
    }

    deinit { state.free() }

    var isFinished: Bool { finished.load(ordering: .acquiring) }
    var outermost: UnmanagedReference<Frame> { outer ?? UnmanagedReference(self) }

    /// This and all that need it and have not ended, innermost first.
    var chain: some Sequence<Frame> {
        sequence(first: self) { $0.parent }.lazy.filter { !$0.isFinished }
    }

    /// The keys of the loads of the chain, outermost first.
    var way: [Key] { chain.compactMap { $0.kind == .load ? $0.key : nil }.reversed() }

    /// The innermost frame that the running code is somewhere within, also in tasks started there.
    static var current: Frame? { Scope.bound.flatMap { $0.unfinished } }

    /// The same, if it runs on this very thread or task.
    static var own: Frame? { Scope.bound.flatMap { $0.own } }

    /// Marks the end, for readers of the handle and for chains.
    func markFinished() { finished.store(true, ordering: .releasing) }

    /// Ends it under the lock.
    ///
    /// Who is returned is to be woken outside.
    func finish(_ token: LockToken) -> [Waiter] {
        markFinished()
        return state[token].rare?.waiters.takeAll() ?? []
    }

    /// Outside the lock: ends it, wakes who waits, and tells of the changes that were made within.
    func end() {
        for waiter in family.lock.withLock({ token in finish(token) }) { waiter.wake() }
        deliver()
    }

    /// Adds a thread or task that waits for the end on behalf of another frame, whose wait `Waits.remove` ends.
    ///
    /// Returns `false`, and adds nothing, if that would close a circle of waits.
    func add(_ token: LockToken, _ waiter: Waiter, for frame: Frame?) -> Bool {
        if Waits.add(frame, for: self) != nil { return false }
        state[token].more().waiters.append(waiter)
        return true
    }

    /// Keeps followers until the end.
    func add(_ followers: [Follower]) {
        family.lock.withLock { token in state[token].more().deferred += followers }
    }

    /// Outside the lock: tells of what was changed within, if this is the outermost frame on its thread or task.
    func deliver() {
        guard outer == nil else { return }
        let followers = takeDeferred()
        if let first = followers.first { Follower.deliver(first, Array(followers.dropFirst())) }
    }

    /// Ends a round of observers, and returns the next one, in which those are called who were reached by their changes.
    ///
    /// It ends first: if another thread delivers to one of them, that thread goes on with what waited for the end, or it has
    /// stopped by the time this one looks.
    func nextRound() -> (frame: Frame, followers: [Follower])? {
        markFinished()
        let followers = takeDeferred()
        if followers.isEmpty { return nil }
        let next = Frame(.observers, in: family, nil, under: nil, within: nil)
        family.lock.withLock { token in
            if let attempts = state[token].rare?.attempts, !attempts.isEmpty {
                next.state[token].more().attempts = attempts
            }
        }
        return (next, followers)
    }

    /// Takes what was deferred since the last call.
    private func takeDeferred() -> [Follower] {
        family.lock.withLock { token in
            guard let rare = state[token].rare, !rare.deferred.isEmpty else { return [] }
            defer { rare.deferred = [] }
            return rare.deferred
        }
    }
}

/// The changing part of a frame.
///
/// The lock of the family protects it.
struct FrameState {
    /// The reads of a load.
    var load = LoadRecord()
    /// Rare state.
    var rare: RareFrameState?

    /// Returns the rare state, made if there is none.
    mutating func more() -> RareFrameState { rare.orMade(RareFrameState()) }
}

/// Rare state.
///
/// The lock of the family protects it.
final class RareFrameState {
    var waiters = WaiterList()
    /// Whom to tell at the end, if it is the outermost on its thread or task.
    var deferred: [Follower] = []
    /// How often a delivery has tried to load again for a follower, in this and earlier rounds.
    var attempts: [ObjectIdentifier: Int] = [:]
    /// The writes of an update, or of rules.
    var pending: PendingWrites?
    /// When a transaction began.
    var begun: UInt64 = 0
    /// The reads of an attempt for loads.
    var heldReads: [HeldRead] = []
    /// The last failure of each feature that this needed, and how many there were.
    var failures: [Key: FailedNeed] = [:]
    var failureCount = 0
    /// Features that a warm-up needed and nothing supplies.
    var missingSupplies: [LoadError] = []
    /// The closers that a load has registered.
    var closers: [Closer] = []
    /// What waiters for a load will be given, theirs alone once it has ended: an instance may keep its handle, which
    /// keeps the load.
    var outcome: PendingOutcome?
    /// The async loads that code in this frame has begun and waits for.
    var ownLoads: [ObjectIdentifier: Frame] = [:]
    /// The task of an async load, and its priority, raised by the waiters.
    var task: Task<Void, Never>?
    var priority: UInt8 = 0
    /// Whether the task that began an async load waits for it by now.
    var isLaunched = false
    /// Instances for a closed container, by the loads that need each other.
    var alone: [Key: Payload] = [:]
    /// The name of the load in events.
    var number: UInt64?
}

/// A load that something needed and that has failed.
struct FailedNeed: Sendable {
    /// From the load to the one that threw the error.
    let way: [Key]
    let error: any Error
    /// How many failures came before it.
    let order: Int
}

extension Frame {
    /// Records that a load that this needed has failed; call it outside the lock.
    func needFailed(_ way: [Key], _ error: any Error) {
        let replaced: FailedNeed? = family.lock.withLock { token in
            if isFinished { return nil }
            let rare = state[token].more()
            rare.failureCount += 1
            return rare.failures.updateValue(
                FailedNeed(way: way, error: error, order: rare.failureCount), forKey: way[0])
        }
        withExtendedLifetime(replaced) {}
    }

    /// Returns the way to the load that threw the error, if it came from a load that this needed.
    func way(to error: any Error) -> [Key] {
        let failures = family.lock.withLock { token in state[token].rare?.failures ?? [:] }
        return failures.values.filter { isSame($0.error, error) }.max { $0.order < $1.order }?.way ?? []
    }
}

// MARK: What code runs in

/// The surroundings of running code: its container and its frame.
///
/// One task-local value holds both, since each costs as much as a lock.
struct Scope: Sendable {
    /// The current container, unless none is bound.
    let container: Container?
    let frame: Frame?
    /// Tasks that are started inside inherit the scope: this tells whether it is here.
    let execution: Execution

    @TaskLocal static var bound: Scope?

    var own: Frame? {
        guard let frame, !frame.isFinished, execution.isCurrent else { return nil }
        return frame
    }

    var unfinished: Frame? {
        guard let frame else { return nil }
        return frame.isFinished ? frame.chain.first { _ in true } : frame
    }

    /// Runs `body` as a part of a frame, with a container as the current one, or else the one that is bound.
    @inline(__always)
    @discardableResult
    static func run<R>(_ container: Container?, _ frame: Frame?, _ body: () throws -> R) rethrows -> R {
        try $bound.withValue(Scope(container, frame, .thread), operation: body)
    }

    /// Runs `body` as a part of a frame, on whatever threads its task runs.
    nonisolated(nonsending) static func run<R>(
        _ container: Container?, _ frame: Frame?, _ body: nonisolated(nonsending) () async throws -> R
    ) async rethrows -> R {
        try await $bound.withValue(Scope(container, frame, .taskOrThread)) { try await body() }
    }

    private init(_ container: Container?, _ frame: Frame?, _ execution: Execution) {
        self.container = container ?? Self.bound?.container
        self.frame = frame
        self.execution = execution
    }

    /// The present scope with another container.
    init(binding container: Container) {
        let bound = Self.bound
        self.container = container
        frame = bound?.frame
        execution = bound?.execution ?? .none
    }
}

// MARK: Waiting

/// One who waits: a thread or a task.
enum Waiter {
    case thread(Signal)
    case task(TaskWaiter)

    func wake() {
        switch self {
        case .thread(let signal): signal.raise()
        case .task(let waiter): waiter.wake()
        }
    }
}

/// A task that waits: woken, or released alone when it is cancelled.
final class TaskWaiter: Sendable {
    private enum State {
        case idle
        case suspended(CheckedContinuation<Void, any Error>)
        case released(isCancelled: Bool)
    }
    private let state = Locked(State.idle)

    func wake() { release(isCancelled: false) }

    private func release(isCancelled: Bool) {
        let continuation = state.withLock { state -> CheckedContinuation<Void, any Error>? in
            switch state {
            case .released: return nil
            case .idle:
                state = .released(isCancelled: isCancelled)
                return nil
            case .suspended(let continuation):
                state = .released(isCancelled: isCancelled)
                return continuation
            }
        }
        if isCancelled { continuation?.resume(throwing: CancellationError()) } else { continuation?.resume() }
    }

    /// Returns when woken; throws `CancellationError` when its task is cancelled first, after `onCancel`.
    func wait(onCancel: @escaping @Sendable () -> Void) async throws {
        try await withTaskCancellationHandler {
            try await suspend()
        } onCancel: {
            onCancel()
            release(isCancelled: true)
        }
    }

    /// Returns when woken, whatever happens to its task.
    func wait() async { try? await suspend() }

    private func suspend() async throws {
        try await withCheckedThrowingContinuation { continuation in
            let isCancelled = state.withLock { state -> Bool? in
                if case .released(let isCancelled) = state { return isCancelled }
                state = .suspended(continuation)
                return nil
            }
            switch isCancelled {
            case true?: continuation.resume(throwing: CancellationError())
            case false?: continuation.resume()
            case nil: break
            }
        }
    }
}

/// The waiters for a frame, in the order in which they came.
///
/// Leaving takes the same time however many there are.
struct WaiterList {
    private var slots: [Waiter?] = []
    private var places: [ObjectIdentifier: Int] = [:]
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    mutating func append(_ waiter: Waiter) {
        // Only tasks leave; a thread waits to the end.
        if case .task(let task) = waiter { places[ObjectIdentifier(task)] = slots.count }
        slots.append(waiter)
        count += 1
    }

    mutating func remove(_ task: TaskWaiter) {
        guard let place = places.removeValue(forKey: ObjectIdentifier(task)) else { return }
        slots[place] = nil
        count -= 1
        guard slots.count > 16, slots.count > 2 * count else { return }
        for waiter in takeAll() { append(waiter) }
    }

    mutating func takeAll() -> [Waiter] {
        if count == 0 { return [] }
        let waiting = slots.compactMap { $0 }
        self = WaiterList()
        return waiting
    }
}

/// Who waits for whom, of all families: loads of one may need another's.
enum Waits {
    /// The waits of one frame.
    private struct Edges {
        /// The frames that it waits for itself, and through those that it needs, with how often.
        var targets: [ObjectIdentifier: (frame: Frame, count: Int)] = [:]
        /// The frames that wait for it.
        var waiters: [ObjectIdentifier: (frame: Frame, count: Int)] = [:]
        var isEmpty: Bool { targets.isEmpty && waiters.isEmpty }
    }
    private static let edges = Locked<[ObjectIdentifier: Edges]>([:])

    /// Records that `waiter` is about to wait for `target`, unless that would close a circle of waits.
    ///
    /// Looks from both ends and goes on where there is less to look at, so that many who wait for one, or one who waits
    /// for many, cost no more than themselves.
    ///
    /// - Returns: The circle: each needs the next, and the last, `waiter`, the first, `target`.
    static func add(_ waiter: Frame?, for target: Frame) -> [Frame]? {
        guard let waiter else { return nil }
        let above = waiter.chain.map { ObjectIdentifier($0) }
        return edges.withLock { edges in
            if let circle = findCircle(from: waiter, to: target, Set(above), edges) { return circle }
            for id in above {
                edges[id, default: Edges()].targets[ObjectIdentifier(target), default: (target, 0)].count += 1
            }
            edges[ObjectIdentifier(target), default: Edges()].waiters[ObjectIdentifier(waiter), default: (waiter, 0)]
                .count += 1
            return nil
        }
    }

    private static func findCircle(
        from waiter: Frame, to target: Frame, _ above: Set<ObjectIdentifier>, _ edges: [ObjectIdentifier: Edges]
    ) -> [Frame]? {
        // Who needs the waiter, directly or through others, with what each of them needs.
        var needs: [ObjectIdentifier: Frame] = [:]
        var behind = [waiter]
        // Whom the target waits for; nil once one of them is known to need the waiter.
        var ahead: [Frame]? = [target]
        var seen: Set<ObjectIdentifier> = [ObjectIdentifier(target)]
        while let last = behind.last {
            let waiters = edges[ObjectIdentifier(last)]?.waiters ?? [:]
            if let next = ahead?.last {
                let targets = edges[ObjectIdentifier(next)]?.targets ?? [:]
                if above.contains(ObjectIdentifier(next)) {
                    ahead = nil
                    continue
                } else if targets.count <= waiters.count {
                    ahead!.removeLast()
                    for (id, wait) in targets where seen.insert(id).inserted { ahead!.append(wait.frame) }
                    continue
                }
            } else if ahead != nil {
                return nil
            }
            behind.removeLast()
            if last === target { return circle(from: last, to: waiter, needs) }
            let parent = last.parent?.chain.first { _ in true }
            for next in [parent].compactMap(\.self) + waiters.values.map(\.frame)
            where next !== waiter && !next.isFinished && needs[ObjectIdentifier(next)] == nil {
                needs[ObjectIdentifier(next)] = last
                behind.append(next)
            }
        }
        return nil
    }

    private static func circle(from first: Frame, to last: Frame, _ needs: [ObjectIdentifier: Frame]) -> [Frame] {
        var circle = [first]
        while let frame = circle.last, frame !== last, let next = needs[ObjectIdentifier(frame)] { circle.append(next) }
        return circle
    }

    static func remove(_ waiter: Frame?, for target: Frame) {
        guard let waiter else { return }
        // Released outside the lock.
        var dropped: [Frame] = []
        edges.withLock { edges in
            // One above may have ended meanwhile.
            for frame in sequence(first: waiter, next: { $0.parent }) {
                drop(ObjectIdentifier(frame), \.targets, target, in: &edges, &dropped)
            }
            drop(ObjectIdentifier(target), \.waiters, waiter, in: &edges, &dropped)
        }
    }

    private static func drop(
        _ id: ObjectIdentifier, _ list: WritableKeyPath<Edges, [ObjectIdentifier: (frame: Frame, count: Int)]>,
        _ other: Frame, in edges: inout [ObjectIdentifier: Edges], _ dropped: inout [Frame]
    ) {
        guard let count = edges[id]?[keyPath: list][ObjectIdentifier(other)]?.count else { return }
        if count > 1 {
            edges[id]?[keyPath: list][ObjectIdentifier(other)]?.count -= 1
            return
        }
        dropped.append(other)
        edges[id]?[keyPath: list][ObjectIdentifier(other)] = nil
        if edges[id]?.isEmpty == true { edges[id] = nil }
    }

    /// The frames that a frame waits for, directly or through those that it needs.
    static func targets(of frame: Frame) -> [Frame] {
        edges.withLock { edges in (edges[ObjectIdentifier(frame)]?.targets ?? [:]).values.map(\.frame) }
    }
}
