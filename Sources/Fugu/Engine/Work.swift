import Synchronization

/// Work that runs user code.
///
/// The parents of work form a chain, from what is needed to what needs it, which messages print.
package final class Work: WordIdentifier {
    /// What the work does, with what only such work has.
    enum Role: Sendable {
        case load(FamilyLocked<LoadState>)
        /// Reads a feature of which a part is about to be set in a node.
        case part(of: Key, in: Node)
        case update(FamilyLocked<[PendingWrites]>)
        /// Finds out what rules set in the node of a scope.
        case rules(FamilyLocked<[PendingWrites]>, in: Node)
        /// Calls observers.
        case observers
        /// Runs the closers of an instance that lives in a node or, without a key, of the node.
        case closers(of: Key?, in: Node)
        case warmUp(FamilyLocked<Needs>)
    }
    let role: Role
    let family: Family
    /// The work that needs this.
    let parent: Work?
    /// The number of works in the chain, including this one.
    let level: Int
    /// The number of works within one another on this thread, including this one.
    let nesting: Int
    /// The number of works in which no load begins: without optimization, a stack of 512 KB holds 62 loads of throwing features, and
    /// the code that they call needs some of it.
    static let nestingLimit = 50
    /// The bits of the keys of all loads in the chain, by `Key.mask`.
    let mask: UInt64
    /// The outermost work on the same thread or task, or `nil` if this is the outermost one.
    ///
    /// No change is delivered before its end. The chain of parents keeps it.
    private let outer: UnmanagedReference<Work>?
    private let finished = Atomic(false)
    /// The followers to deliver to at the end, if this is the outermost work on its thread or task.
    private let deferred = LazyReference<Locked<[Follower]>>()

    /// - `own`: The work that runs on this thread or task, if the new work runs there, too.
    @inline(never) init(_ role: Role, in family: Family, under parent: Work?, within own: Work?) {
        self.role = role
        self.family = family
        self.parent = parent
        level = (parent?.level ?? 0) + 1
        nesting = (own?.nesting ?? 0) + 1
        let above = parent?.mask ?? 0
        mask = if case .load(let state) = role { above | state.unshared.facts.key.mask } else { above }
        outer = own?.outermost
    }

    deinit {
        switch role {
        case .load(let state): state.free()
        case .update(let pending), .rules(let pending, _): pending.free()
        case .warmUp(let needs): needs.free()
        case .part, .observers, .closers: break
        }
    }

    var isFinished: Bool { finished.load(ordering: .acquiring) }
    var outermost: UnmanagedReference<Work> { outer ?? UnmanagedReference(self) }

    /// The load, if that's what the work is.
    package var load: Load? { if case .load(let state) = role { Load(work: self, state: state) } else { nil } }

    /// The key of which a part is about to be set, and where, if that's what the work does.
    package var part: (key: Key, node: Node)? { if case .part(let key, let node) = role { (key, node) } else { nil } }

    /// The key that's loaded, of which a part is set, or whose closers run.
    var key: Key? {
        switch role {
        case .load(let state): state.unshared.facts.key
        case .part(let key, _): key
        case .closers(let key, _): key
        case .update, .rules, .observers, .warmUp: nil
        }
    }

    /// Whether the work runs closers.
    var isOfClosers: Bool { if case .closers = role { true } else { false } }

    /// This work and the works that need it, innermost first, without those that have ended.
    package var chain: some Sequence<Work> {
        sequence(first: self) { $0.parent }.lazy.filter { !$0.isFinished }
    }

    /// The keys of the loads of the chain, outermost first.
    package var way: [Key] { chain.compactMap { $0.load?.key }.reversed() }

    /// The innermost work that the running code is part of, including code in tasks started inside the work.
    static var current: Work? { Context.bound.flatMap { $0.unfinished } }

    /// Returns the keys of the loads that run here, outermost first, and the key.
    @inline(never) static func way(to key: Key) -> [Key] { (current?.way ?? []) + [key] }

    /// The current work, if it runs on this thread or task.
    @inline(never) static var own: Work? { Context.bound.flatMap { $0.own } }

    /// Marks the work as ended, for reads through its handle and for chains.
    func markFinished() { finished.store(true, ordering: .releasing) }

    /// Outside the lock: ends the work, and delivers the changes made in it.
    @inline(never) func end() {
        markFinished()
        deliver()
    }

    /// Defers the delivery to followers until the work ends.
    func postpone(_ followers: [Follower]) { deferred.orMade(Locked([])).withLock { $0 += followers } }

    /// Outside the lock: delivers the changes made in the work, if it's the outermost one on its thread or task.
    func deliver() {
        if outer == nil { Follower.deliver(takeDeferred()) }
    }

    /// Returns the followers to which something was deferred.
    func takeDeferred() -> [Follower] {
        deferred.object?.withLock { all in
            defer { all = [] }
            return all
        } ?? []
    }
}

/// What a load or a warm-up has needed in vain.
struct Needs {
    /// The path from a feature to the load that threw the error, and when that failed.
    typealias Failure = (way: [Key], error: any Error, time: UInt64)

    /// The last failure of each feature.
    fileprivate var failures = KeyTable<Failure>()
    /// The errors of features that a warm-up needed and nothing supplies.
    fileprivate var missingSupplies = Kept<[LoadError]>([])

    fileprivate mutating func add(_ failure: Failure, _ garbage: inout Garbage) {
        if let former = failures[failure.way[0]] { garbage.add(Retained(former)) }
        failures[failure.way[0]] = failure
    }
}

extension Work {
    /// What was needed in vain, if this is a load or a warm-up.
    private func needs(_ token: LockToken) -> Needs? {
        switch role {
        case .load(let state): state[token].rare?.needs
        case .warmUp(let needs): needs[token]
        case .part, .update, .rules, .observers, .closers: nil
        }
    }

    /// Outside the lock: records that a load that this work needed has failed.
    func needFailed(_ way: [Key], _ error: any Error) {
        var garbage = Garbage()
        family.lock.withLock { token in
            if isFinished { return }
            let need = (way, error, family.state[token].tick())
            switch role {
            case .load(let state): state[token].more().needs.add(need, &garbage)
            case .warmUp(let needs): needs[token].add(need, &garbage)
            case .part, .update, .rules, .observers, .closers: break
            }
        }
        garbage.dispose()
    }

    /// Returns the path to the load that threw the error, or an empty array if no load that this work needed did.
    func way(to error: any Error) -> [Key] {
        // The table keeps the errors, so that none is released under the lock.
        family.lock.withLock { token in
            needs(token)?.failures.values.filter { isSame($0.error, error) }.max { $0.time < $1.time }?.way ?? []
        }
    }

    /// Notifies the warm-up that the load is part of, if it's part of one.
    ///
    /// Instances made from the placeholder aren't kept.
    func noteMissingSupply(_ error: LoadError) -> Bool {
        // Also the loads of other families that led here.
        var loads: [Load] = []
        for work in chain {
            if let load = work.load { loads.append(load) }
            guard case .warmUp(let needs) = work.role else { continue }
            for load in loads { load.family.lock.withLock { token in load.state[token].isProvisional = true } }
            work.family.lock.withLock { token in needs[token].missingSupplies.append(error) }
            return true
        }
        return false
    }

    /// The features that a warm-up needed and that nothing supplies.
    var missingSupplies: [LoadError] {
        family.lock.withLock { token in needs(token)?.missingSupplies.value ?? [] }
    }
}

// MARK: The scope of running code

/// The container and the work of the running code.
///
/// One task-local value holds both, because reading one costs as much as a lock.
package struct Context: Sendable {
    /// The current container, or `nil` if none is bound.
    let container: Container?
    let work: Work?
    /// Where the scope was bound, because tasks started inside inherit it but run elsewhere.
    let execution: Execution

    @TaskLocal static var bound: Context?

    var own: Work? {
        guard let work, !work.isFinished, execution.isCurrent else { return nil }
        return work
    }

    var unfinished: Work? {
        guard let work else { return nil }
        return work.isFinished ? work.chain.first { _ in true } : work
    }

    /// Whether a load that doesn't suspend is in progress elsewhere, so that whether this code runs before its end is a race.
    var isBesideLoad: Bool {
        guard case .handle(let load)? = container?.role, !load.isFinished, load.key.kind != .asyncFeature else {
            return false
        }
        return !execution.isCurrent
    }

    /// Runs `body` as part of a work, with a container as the current one, or with the bound one if it's `nil`.
    @inline(__always)
    @discardableResult
    package static func run<R>(_ container: Container?, _ work: Work?, _ body: () throws -> R) rethrows -> R {
        try $bound.withValue(Context(container, work, .thread), operation: body)
    }

    /// Runs `body` as part of a work, on any thread that its task uses.
    nonisolated(nonsending) static func run<R>(
        _ container: Container?, _ work: Work?, _ body: nonisolated(nonsending) () async throws -> R
    ) async rethrows -> R {
        try await $bound.withValue(Context(container, work, .taskOrThread)) { try await body() }
    }

    private init(_ container: Container?, _ work: Work?, _ execution: Execution) {
        self.container = container ?? Self.bound?.container
        self.work = work
        self.execution = execution
    }

    /// Creates the bound scope with another container.
    init(binding container: Container) {
        let bound = Self.bound
        self.container = container
        work = bound?.work
        execution = bound?.execution ?? .none
    }
}
