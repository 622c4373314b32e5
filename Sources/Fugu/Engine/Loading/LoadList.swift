/// The loads of one key that are under way, in the order in which they began.
///
/// Whoever runs a load keeps it until it has left the list.
///
/// Most lists have one element or none. Once there are many, an index tells which of them can be joined by those who
/// expect the instance in a given container, so that nobody looks at the loads of strangers.
struct LoadList: Sequence {
    private var first: UnmanagedReference<Load>?
    private var last: UnmanagedReference<Load>?
    private var count = 0
    private var index: LoadIndex?

    var isEmpty: Bool { first == nil }

    mutating func append(_ load: Load) {
        let added = UnmanagedReference(load)
        load.state.unshared.previous = last
        if let last { last.object.state.unshared.next = added } else { first = added }
        last = added
        count += 1
        if !load.state.unshared.isAbandoned { index?.add(load, at: load.expected) }
    }

    mutating func remove(_ load: Load) {
        let (previous, next) = (load.state.unshared.previous, load.state.unshared.next)
        guard previous != nil || first == UnmanagedReference(load) else { return }
        if let previous { previous.object.state.unshared.next = next } else { first = next }
        if let next { next.object.state.unshared.previous = previous } else { last = previous }
        load.state.unshared.previous = nil
        load.state.unshared.next = nil
        count -= 1
        withdraw(load)
        if count == 0 { index = nil }
    }

    /// Lets nobody join the load any more.
    func withdraw(_ load: Load) { index?.remove(load) }

    /// Returns the first result of `body` that isn't nil, asked of the loads whose instance is expected at `home`.
    ///
    /// - `last`: What the key's last instance was made from, by which expectations are judged.
    /// - `judge`: Tells where the instance of a load is expected to live; a load that began when less was known is judged
    ///   by what is known now.
    mutating func first<R>(
        expectedAt home: UnmanagedReference<Node>, by last: Provenance?, judge: (Load) -> UnmanagedReference<Node>,
        _ body: (Load) -> R?
    ) -> R? {
        guard count >= 8 else {
            for load in self where load.expected == home || judge(load) == home {
                if let result = body(load) { return result }
            }
            return nil
        }
        if index?.isRight(by: last) != true { makeIndex(by: last, judge) }
        for load in index?[home] ?? [] { if let result = body(load.object) { return result } }
        return nil
    }

    private mutating func makeIndex(by last: Provenance?, _ judge: (Load) -> UnmanagedReference<Node>) {
        let made = LoadIndex(by: last)
        for load in self where !load.state.unshared.isAbandoned { made.add(load, at: judge(load)) }
        index = made
    }

    // The next one is looked for before a load is given, which may leave the list meanwhile.
    func makeIterator() -> UnfoldSequence<Load, UnmanagedReference<Load>?> {
        sequence(state: first) { following in
            let load = following?.object
            following = load?.state.unshared.next
            return load
        }
    }
}

/// The loads that can be joined, by the node where their instance is expected to live.
///
/// The lock of the family protects it.
private final class LoadIndex {
    private var loads: [UnmanagedReference<Node>: [UnmanagedReference<Load>]] = [:]
    private var last: Provenance?

    init(by last: Provenance?) { self.last = last }

    subscript(home: UnmanagedReference<Node>) -> [UnmanagedReference<Load>] { loads[home] ?? [] }

    /// Whether expectations are still what they were: what was loaded meanwhile was made from the same keys.
    func isRight(by newer: Provenance?) -> Bool {
        if last === newer { return true }
        guard let last, let newer, last.predictsLike(newer) else { return false }
        self.last = newer
        return true
    }

    func add(_ load: Load, at home: UnmanagedReference<Node>) {
        load.state.unshared.indexed = home
        loads[home, default: []].append(UnmanagedReference(load))
    }

    func remove(_ load: Load) {
        guard let home = load.state.unshared.indexed else { return }
        load.state.unshared.indexed = nil
        loads[home]?.removeAll { $0 == UnmanagedReference(load) }
        if loads[home]?.isEmpty == true { loads[home] = nil }
    }
}

extension Provenance {
    /// Whether it lets one expect the same homes, as far as can be told without looking at what its inputs were made
    /// from themselves.
    ///
    /// An expectation that is wrong costs a load more and nothing else.
    fileprivate func predictsLike(_ other: Provenance) -> Bool {
        isLocal == other.isLocal && mask == other.mask && inputs.count == other.inputs.count
            && zip(inputs, other.inputs).allSatisfy { $0.key == $1.key }
    }
}

/// One who waits for a load.
enum Waiter: Sendable {
    case thread(Signal)
    case task(TaskWaiter)

    func wake() {
        switch self {
        case .thread(let signal): signal.raise()
        case .task(let waiter): waiter.wake()
        }
    }
}

/// A task that waits for a load: woken by its end, or released alone when it is cancelled.
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

/// Those who wait for a load, in the order in which they came.
///
/// Leaving takes the same time however many there are.
struct WaiterQueue {
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
        if slots.count > 16, slots.count > 2 * count { compact() }
    }

    private mutating func compact() {
        let waiting = takeAll()
        for waiter in waiting { append(waiter) }
    }

    mutating func takeAll() -> [Waiter] {
        let waiting = slots.compactMap { $0 }
        self = WaiterQueue()
        return waiting
    }
}

// What a closing waits for before it runs closers.
extension Family {
    /// A load that was asked for in a node, or a read that waits there for one, begins.
    ///
    /// Until its end no closing of that node, or of one above it, goes on.
    func beginUnderWay(_ token: LockToken, in node: Node) { node.storage[token].underWay += 1 }

    /// It has ended.
    ///
    /// What is returned is to be woken outside the lock.
    func endUnderWay(_ token: LockToken, in node: Node) -> [Waiter] {
        node.storage[token].underWay -= 1
        guard node.storage[token].underWay == 0, !state[token].drains.isEmpty else { return [] }
        return state[token].drains.removeValue(forKey: UnmanagedReference(node))?.map { .task($0) } ?? []
    }

    /// For each of the nodes where something is under way: what tells that nothing is any more.
    func drains(_ token: LockToken, of nodes: [Node]) -> [TaskWaiter] {
        nodes.compactMap { node in
            guard node.storage[token].underWay > 0 else { return nil }
            let waiter = TaskWaiter()
            state[token].drains[UnmanagedReference(node), default: []].append(waiter)
            return waiter
        }
    }
}
