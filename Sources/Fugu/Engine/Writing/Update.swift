import Synchronization

/// An `update` under way: what is written in it waits here until it ends.
final class Update: CallFrame {
    let family: Family
    let parent: (any CallFrame)?
    let nesting: Nesting
    let outermost = Current.outermost
    private let node: Node
    /// Nil once it has ended.
    private let pending = Locked<PendingWrites?>(PendingWrites())

    init(in node: Node, parent: (any CallFrame)?) {
        self.node = node
        family = node.family
        self.parent = parent
        nesting = Nesting(under: parent?.nesting)
    }

    var key: Key? { nil }
    func isOf(_ node: Node) -> Bool { self.node === node }
    var isFinished: Bool { pending.withLock { $0 == nil } }

    /// The last write of the key in the node.
    func write(of key: Key, in node: Node) -> Write? { pending.withLock { $0?[key, node] } }

    /// Puts a write with the others; says whether there was still time.
    func add(_ write: Write) -> Bool {
        // What is dropped is released outside the lock, since that may run user code.
        let (isAdded, dropped): (Bool, Write?) = pending.withLock { pending in
            pending == nil ? (false, nil) : (true, pending!.add(write))
        }
        withExtendedLifetime(dropped) {}
        return isAdded
    }

    /// Ends it: what is written from now on is written at once.
    private func end() -> PendingWrites {
        pending.withLock { pending in
            defer { pending = nil }
            return pending ?? PendingWrites()
        }
    }
}

/// Writes that are not done yet, the last for each key and container, in the order of the first.
struct PendingWrites: Sendable {
    private(set) var all: [Write] = []
    private var places: [Dependent: Int] = [:]
    /// What was replaced at which place, as long as somebody may want it back.
    private var journal: [(place: Int, replaced: Write?)] = []
    private var joined = 0

    subscript(key: Key, node: Node) -> Write? {
        places[Dependent(node: UnmanagedReference(node), key: key)].map { all[$0] }
    }

    /// Returns the write whose place it takes.
    mutating func add(_ write: Write) -> Write? {
        let place = Dependent(node: UnmanagedReference(write.node), key: write.key)
        if let index = places[place] {
            defer { all[index] = write }
            if joined > 0 { journal.append((index, all[index])) }
            return all[index]
        }
        if joined > 0 { journal.append((all.count, nil)) }
        places[place] = all.count
        all.append(write)
        return nil
    }

    /// Returns where the writes begin that may be taken back.
    mutating func join() -> Int {
        joined += 1
        return journal.count
    }

    /// Returns the writes that are dropped, and those that nobody can want back any more.
    mutating func leave(_ start: Int, isTakenBack: Bool) -> [Write] {
        joined -= 1
        var dropped: [Write] = []
        while isTakenBack, journal.count > start, let (place, replaced) = journal.popLast() {
            dropped.append(all[place])
            if let replaced {
                all[place] = replaced
            } else {
                let last = all.removeLast()
                places[Dependent(node: UnmanagedReference(last.node), key: last.key)] = nil
            }
        }
        guard joined == 0 else { return dropped }
        defer { journal = [] }
        return dropped + journal.compactMap(\.replaced)
    }
}

extension Update {
    /// Runs `body` with a handle whose writes are published together at its end, or not at all if it throws.
    static func run<E: Error>(
        in node: Node, of container: Container, _ body: (any FeatureContainer) throws(E) -> Void
    ) throws(E) {
        // One that runs in a task or thread started inside another is none of that one's.
        let outer = Current.ownChain.first { $0 is Update && $0.family === node.family } as? Update
        let update = outer ?? Update(in: node, parent: Current.unfinished)
        let view = Container(view: UpdateView(update, node, container))
        if let outer { return try outer.join(view, body) }
        let result = update.run(view, body)
        let writes = update.end().all
        if case .success = result, !writes.isEmpty { node.family.commit(writes, endOf: update) }
        Deferred.deliver(after: update)
        try result.get()
    }

    /// Runs `body` as a part of this one.
    ///
    /// If it fails, what it wrote is taken back.
    private func join<E: Error>(
        _ view: Container, _ body: (any FeatureContainer) throws(E) -> Void
    ) throws(E) {
        let start = pending.withLock { $0?.join() ?? 0 }
        let result = run(view, body)
        let isTakenBack = if case .failure = result { true } else { false }
        let dropped = pending.withLock { $0?.leave(start, isTakenBack: isTakenBack) }
        withExtendedLifetime(dropped) {}
        try result.get()
    }

    private func run<E: Error>(
        _ view: Container, _ body: (any FeatureContainer) throws(E) -> Void
    ) -> Result<Void, E> {
        Current.run(self) {
            do throws(E) {
                return .success(try body(view))
            } catch {
                return .failure(error)
            }
        }
    }
}

/// The handle inside an `update`: reads see what is pending, writes become pending.
final class UpdateView: Backend {
    let node: Node
    private let update: Update
    private let container: Container

    init(_ update: Update, _ node: Node, _ container: Container) {
        self.update = update
        self.node = node
        self.container = container
    }

    func read(_ request: Request, _: Container, _ loader: (Container) throws -> Payload) throws -> Payload {
        switch update.write(of: request.key, in: node)?.operation {
        case .set(let payload): return payload
        case .reset:
            switch node.answerBeneath(request) {
            case .value(let payload): return payload
            case .failure: return try loader(container)
            case .nothing: break
            }
            guard let parent = node.parent else { return try loader(container) }
            return try parent.read(request, container, loader)
        case .replace(let replacement): return try replacement.load(container)
        case .layer, nil: return try node.read(request, container, loader)
        }
    }

    func readAsync(
        _ request: Request, _: Container, _ loader: @escaping @Sendable (Container) async throws -> Payload
    ) async throws -> Payload {
        if let pending = present(request.key) { return pending }
        return try await node.readAsync(request, container, loader)
    }

    func change(_ key: TypedKey, _ operation: Operation) {
        if !update.add(Write(node, key, operation)) { node.change(key, operation) }
    }

    func present(_ key: Key) -> Payload? {
        if case .set(let payload)? = update.write(of: key, in: node)?.operation { return payload }
        return node.present(key)
    }

    func onClose(_ closer: Closer) { node.onClose(closer) }
    var owner: Container? { container }
}
