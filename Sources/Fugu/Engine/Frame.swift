import Synchronization

/// A unit of work that runs user code, such as a load, an update, rules, a round of observers, or a closer.
///
/// The parents of a frame form a chain, from what is needed to what needs it, which messages print.
final class Frame: WordIdentifier {
    enum Kind {
        case load, part, update, rules, observers, closer, task, warmUp
    }
    let kind: Kind
    let family: Family
    /// The node that's read, changed, or closed, or in which the instance of a closer or a task lives.
    let node: Node?
    /// The key that's loaded, of which a part is set, or whose closers or task run.
    let key: Key?
    /// The frame that needs this one.
    let parent: Frame?
    /// The number of frames in the chain, including this one.
    let level: Int
    /// The number of frames within one another on this thread, including this one.
    let nesting: Int
    /// The number of frames in which no load begins: without optimization, a stack of 512 KB holds 62 loads of throwing features, and
    /// the code that they call needs some of it.
    static let nestingLimit = 50
    /// The bits of the keys of all loads in the chain, by `Key.mask`.
    let mask: UInt64
    /// The outermost frame on the same thread or task, or `nil` if this is the outermost one.
    ///
    /// No change is delivered before its end. The chain of parents keeps it.
    private let outer: UnmanagedReference<Frame>?
    /// What was known of the load when it began, or `nil` if the frame is no load.
    let facts: LoadFacts?
    let state: FamilyLocked<FrameState>
    private let finished = Atomic(false)
    /// Whether followers wait for the end, so that it takes the lock only then.
    ///
    /// Only the thread or task of the outermost frame postpones, and delivers.
    private let hasDeferred = Atomic(false)

    /// - `own`: The frame that runs on this thread or task, if the new frame runs there, too.
    @inline(never) init(
        _ kind: Kind, in family: Family, _ node: Node?, _ key: Key? = nil, under parent: Frame?, within own: Frame?,
        _ facts: LoadFacts? = nil
    ) {
        self.kind = kind
        self.family = family
        self.node = node
        self.key = key
        self.parent = parent
        self.facts = facts
        level = (parent?.level ?? 0) + 1
        nesting = (own?.nesting ?? 0) + 1
        mask = (parent?.mask ?? 0) | (kind == .load ? key!.mask : 0)
        outer = own?.outermost
        state = FamilyLocked(FrameState())
    }

    deinit { state.free() }

    var isFinished: Bool { finished.load(ordering: .acquiring) }
    var outermost: UnmanagedReference<Frame> { outer ?? UnmanagedReference(self) }

    /// This frame and the frames that need it, innermost first, without those that have ended.
    var chain: some Sequence<Frame> {
        sequence(first: self) { $0.parent }.lazy.filter { !$0.isFinished }
    }

    /// The keys of the loads of the chain, outermost first.
    var way: [Key] { chain.compactMap { $0.kind == .load ? $0.key : nil }.reversed() }

    /// The innermost frame that the running code is part of, including code in tasks started inside the frame.
    static var current: Frame? { Context.bound.flatMap { $0.unfinished } }

    /// The keys of the chain, outermost first, also those that code changes or closes.
    var keys: [Key] { chain.compactMap(\.key).reversed() }

    /// Returns the keys of the loads that run here, outermost first, and the key.
    @inline(never) static func way(to key: Key) -> [Key] { (current?.way ?? []) + [key] }

    /// The current frame, if it runs on this thread or task.
    @inline(never) static var own: Frame? { Context.bound.flatMap { $0.own } }

    /// Marks the frame as ended, for reads through its handle and for chains.
    func markFinished() { finished.store(true, ordering: .releasing) }

    /// Ends the frame under the lock.
    ///
    /// Returns the waiters, which the caller must wake outside the lock.
    func finish(_ token: LockToken) -> [Waiter] {
        markFinished()
        return state[token].rare?.waiters.takeAll() ?? []
    }

    /// Outside the lock: ends the frame, wakes its waiters, and delivers the changes made in it.
    @inline(never) func end() {
        for waiter in family.lock.withLock({ token in finish(token) }) { waiter.wake() }
        deliver()
    }

    /// Returns a waiter for the end of a frame that hasn't ended.
    func addWaiter(_ token: LockToken) -> Waiter {
        let waiter = Waiter()
        state[token].more().waiters.append(waiter)
        return waiter
    }

    /// Defers the delivery to followers until the frame ends.
    func postpone(_ followers: SmallList<Follower>) {
        family.lock.withLock { token in
            let rare = state[token].more()
            followers.forEach { rare.deferred.append($0) }
            hasDeferred.store(true, ordering: .relaxed)
        }
    }

    /// Outside the lock: delivers the changes made in the frame, if it's the outermost one on its thread or task.
    func deliver() {
        if outer == nil { Follower.deliver(takeDeferred()) }
    }

    /// Returns the followers to which something was deferred.
    func takeDeferred() -> SmallList<Follower> {
        guard hasDeferred.load(ordering: .relaxed) else { return SmallList() }
        return SmallList(family.lock.withLock { token in state[token].rare?.deferred.takeAll() ?? [] })
    }
}

/// State that few frames need.
///
/// The family's lock protects it.
final class RareFrameState {
    var waiters = SparseList<Waiter>()
    /// The followers to deliver to at the end, if the frame is the outermost one on its thread or task.
    var deferred = Kept<[Follower]>([])
    /// The pending writes of an update or of rules, and of the nested updates in progress, or empty if none are collected.
    var pending: [PendingWrites] = []
    /// The last failure of each feature that the frame needed.
    var failures = KeyTable<FailedNeed>()
    /// The errors of features that a warm-up needed and nothing supplies.
    var missingSupplies = Kept<[LoadError]>([])
    /// What a load needs.
    var run = LoadRun()

    @inline(never) init() {}
}

/// A failed load that a frame needed: the path from it to the load that threw the error, and when that failed.
typealias FailedNeed = (way: [Key], error: any Error, time: UInt64)

/// A record of a failed load, for graphs, with the text of its error, because the error itself may keep any object.
struct FailedLoad: Sendable {
    let text: String
    /// Whether a feature wasn't set that isn't loaded in tests.
    let isUnset: Bool
    /// The inputs that the load had read.
    let inputs: [Key]
    /// Whether a later load has succeeded.
    var isPast = false

    private static let longestText = 500

    /// Creates a record, outside every lock, because describing the error is user code.
    init(_ error: any Error, inputs: [Key]) {
        let text = "\(error)"
        isUnset = (error as? LoadError)?.code == .notSet
        self.text = text.count > Self.longestText ? text.prefix(Self.longestText) + "…" : text
        self.inputs = inputs
    }
}

extension Frame {
    /// Outside the lock: records that a load that this frame needed has failed.
    func needFailed(_ way: [Key], _ error: any Error) {
        var garbage = Garbage()
        family.lock.withLock { token in
            if isFinished { return }
            let rare = state[token].more()
            if let former = rare.failures[way[0]] { garbage.add(Retained(former)) }
            rare.failures[way[0]] = (way, error, family.state[token].tick())
        }
        garbage.dispose()
    }

    /// Returns the path to the load that threw the error, or an empty array if no load that this frame needed did.
    func way(to error: any Error) -> [Key] {
        // The table keeps the errors, so that none is released under the lock.
        family.lock.withLock { token in
            state[token].rare?.failures.values.filter { isSame($0.error, error) }.max { $0.time < $1.time }?.way
                ?? []
        }
    }

    /// Notifies the warm-up that the load is part of, if it's part of one.
    ///
    /// Instances made from the placeholder aren't kept.
    func noteMissingSupply(_ error: LoadError) -> Bool {
        guard let warmUp = chain.first(where: { $0.kind == .warmUp }) else { return false }
        // Also the loads of other families that led here.
        for frame in chain.prefix(while: { $0 !== warmUp }) where frame.kind == .load {
            frame.family.lock.withLock { token in frame.state[token].isProvisional = true }
        }
        warmUp.family.lock.withLock { token in warmUp.state[token].more().missingSupplies.append(error) }
        return true
    }

    /// The features that a warm-up needed and that nothing supplies.
    var missingSupplies: [LoadError] {
        family.lock.withLock { token in state[token].rare?.missingSupplies.value ?? [] }
    }
}

// MARK: The scope of running code

/// The container and the frame of the running code.
///
/// One task-local value holds both, because reading one costs as much as a lock.
struct Context: Sendable {
    /// The current container, or `nil` if none is bound.
    let container: Container?
    let frame: Frame?
    /// Where the scope was bound, because tasks started inside inherit it but run elsewhere.
    let execution: Execution

    @TaskLocal static var bound: Context?

    var own: Frame? {
        guard let frame, !frame.isFinished, execution.isCurrent else { return nil }
        return frame
    }

    var unfinished: Frame? {
        guard let frame else { return nil }
        return frame.isFinished ? frame.chain.first { _ in true } : frame
    }

    /// Whether a load that doesn't suspend is in progress elsewhere, so that whether this code runs before its end is a race.
    var isBesideLoad: Bool {
        guard case .handle(let load)? = container?.role, !load.isFinished, load.key.kind != .asyncFeature else {
            return false
        }
        return !execution.isCurrent
    }

    /// Runs `body` as part of a frame, with a container as the current one, or with the bound one if it's `nil`.
    @inline(__always)
    @discardableResult
    static func run<R>(_ container: Container?, _ frame: Frame?, _ body: () throws -> R) rethrows -> R {
        try $bound.withValue(Context(container, frame, .thread), operation: body)
    }

    /// Runs `body` as part of a frame, on any thread that its task uses.
    nonisolated(nonsending) static func run<R>(
        _ container: Container?, _ frame: Frame?, _ body: nonisolated(nonsending) () async throws -> R
    ) async rethrows -> R {
        try await $bound.withValue(Context(container, frame, .taskOrThread)) { try await body() }
    }

    /// Runs `body`, whose changes are delivered at once, as part of a frame.
    static func run(apart frame: Frame, _ body: () async -> Void) async {
        await $bound.withValue(Context(nil, frame, .none)) { await body() }
    }

    private init(_ container: Container?, _ frame: Frame?, _ execution: Execution) {
        self.container = container ?? Self.bound?.container
        self.frame = frame
        self.execution = execution
    }

    /// Creates the bound scope with another container.
    init(binding container: Container) {
        let bound = Self.bound
        self.container = container
        frame = bound?.frame
        execution = bound?.execution ?? .none
    }
}

// MARK: Waiting

/// A thread or task that waits, until it's woken or, if it's a task that allows this, canceled.
final class Waiter: WordIdentifier {
    private enum State {
        case idle
        case blocked(Signal)
        case suspended(CheckedContinuation<Void, any Error>)
        case released((any Error)?)
    }
    private let state = Locked(State.idle)
    /// The load that another read has begun, if a read waits for one.
    let load: Load?
    /// The frame that needs that load.
    let reader: Frame?

    @inline(never) init(for load: Load? = nil, by reader: Frame? = nil) {
        self.load = load
        self.reader = reader
    }

    func wake() { release(with: nil) }

    /// Ends the wait, which throws the error if there is one.
    @inline(never) func release(with error: (any Error)?) {
        let former = state.withLock { state in
            let former = state
            if case .released = former { return former }
            state = .released(error)
            return former
        }
        switch former {
        case .idle, .released: return
        case .blocked(let signal): signal.raise()
        case .suspended(let continuation):
            if let error { continuation.resume(throwing: error) } else { continuation.resume() }
        }
    }

    /// Blocks the thread until woken.
    @inline(never) func block() throws {
        let signal = state.withLock { state -> Signal? in
            if case .released = state { return nil }
            let signal = Signal()
            state = .blocked(signal)
            return signal
        }
        signal?.wait()
        if case .released(let error?) = state.withLock({ $0 }) { throw error }
    }

    /// Returns when woken, or throws `CancellationError` if the task is canceled first, after calling `onCancel`.
    func wait(onCancel: @escaping @Sendable () -> Void) async throws {
        try await withTaskCancellationHandler {
            try await suspend()
        } onCancel: {
            onCancel()
            release(with: CancellationError())
        }
    }

    /// Returns when woken, even if the task is canceled.
    func wait() async { try? await suspend() }

    /// Returns when woken, or throws the error with which it was released, even if the task is canceled.
    @inline(never) func suspend() async throws {
        try await withCheckedThrowingContinuation { continuation in
            let (isReleased, error) = state.withLock { state -> (Bool, (any Error)?) in
                if case .released(let error) = state { return (true, error) }
                state = .suspended(continuation)
                return (false, nil)
            }
            if let error { continuation.resume(throwing: error) } else if isReleased { continuation.resume() }
        }
    }
}

/// A list in the order of additions, from which removing an element takes constant time on average.
struct SparseList<Element: WordIdentifier> {
    /// The elements, with holes where some were removed.
    private(set) var slots: [Element?] = []
    /// The indices of the elements, once there are many.
    private var indices = WordTable<UInt, Int>()
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }
    var all: [Element] { slots.compactMap(\.self) }
    var last: Element? { slots.last ?? nil }

    private func index(of element: Element) -> Int? {
        slots.count > 8 ? indices[element.word] : slots.firstIndex { $0?.word == element.word }
    }

    mutating func append(_ element: Element) {
        slots.append(element)
        count += 1
        if slots.count <= 8 { return }
        let first = slots.count == 9 ? 0 : slots.count - 1
        if first == 0 { indices = WordTable() }
        for index in first..<slots.count { if let element = slots[index] { indices[element.word] = index } }
    }

    /// Adds an element that isn't there yet, and returns whether it did.
    mutating func append(unlessThere element: Element) -> Bool {
        if index(of: element) != nil { return false }
        append(element)
        return true
    }

    /// Removes an element, and returns whether it was there.
    @discardableResult
    mutating func remove(_ element: Element) -> Bool {
        guard let index = index(of: element), index < slots.count, slots[index]?.word == element.word else {
            return false
        }
        count -= 1
        if slots.count > 8 { indices[element.word] = nil }
        slots[index] = nil
        while case .some(nil) = slots.last { slots.removeLast() }
        if slots.count > 2 * count, count == 0 || slots.count > 16 { for element in takeAll() { append(element) } }
        return true
    }

    mutating func takeAll() -> [Element] { take().all }

    mutating func take() -> SparseList {
        defer { self = SparseList() }
        return self
    }
}

/// The waits between frames, for all families, because a load of one may need another's.
enum Waits {
    /// The waits of each frame, its own and those of frames that it needs.
    private static let all = Locked<[ObjectIdentifier: SparseList<Waiter>]>([:])

    /// Records a wait that's about to begin, unless it would close a circle of waits.
    ///
    /// - Returns: The circle, or `nil` if there is none. Each frame needs the next one; the last, the waiter's, would wait for the first.
    @inline(never) static func add(_ waiter: Waiter) -> [Frame]? {
        guard let reader = waiter.reader, let target = waiter.load?.frame else { return nil }
        let above = ObjectSet(Array(reader.chain))
        return all.withLock { all in
            // The frames for which the target waits, each with the wait that leads there and the place of the frame that it's for.
            var found: [(frame: Frame, wait: Waiter?, former: Int)] = [(target, nil, 0)]
            var seen = ObjectSet([target])
            var index = 0
            while index < found.count {
                if above.contains(found[index].frame) {
                    var circle = way(from: found[index].frame, to: reader)
                    while let wait = found[index].wait {
                        index = found[index].former
                        circle = way(from: found[index].frame, to: wait.reader!) + circle
                    }
                    return circle
                }
                for wait in all[ObjectIdentifier(found[index].frame)]?.slots ?? [] {
                    guard let wait, seen.insert(wait.load!.frame) else { continue }
                    found.append((wait.load!.frame, wait, index))
                }
                index += 1
            }
            for frame in reader.chain { all[ObjectIdentifier(frame), default: SparseList()].append(waiter) }
            return nil
        }
    }

    /// Returns the frames from one to another that it needs.
    private static func way(from first: Frame, to last: Frame) -> [Frame] {
        [first] + last.chain.prefix { $0 !== first }.reversed()
    }

    @inline(never) static func remove(_ waiter: Waiter) {
        guard let reader = waiter.reader else { return }
        // The caller keeps the waiter, so nothing is released under the lock.
        all.withLock { all in
            // All parents, because one may have ended since `add`.
            for frame in sequence(first: reader, next: { $0.parent }) {
                let id = ObjectIdentifier(frame)
                all[id]?.remove(waiter)
                if all[id]?.count == 0 { all[id] = nil }
            }
        }
    }
}
