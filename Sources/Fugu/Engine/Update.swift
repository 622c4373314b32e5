import Synchronization

/// An `update` under way: what is written in it waits here until it ends.
final class Update: Activity {
    let family: Family
    let parent: (any Activity)?
    let standing: Standing
    private let pending = Guarded<[Write]>([])
    private let finished = Atomic(false)

    init(of family: Family, parent: (any Activity)?) {
        self.family = family
        self.parent = parent
        standing = Standing(under: parent?.standing)
    }

    var key: Key? { nil }
    var isFinished: Bool { finished.load(ordering: .sequentiallyConsistent) }
    func finish() { finished.store(true, ordering: .sequentiallyConsistent) }

    var writes: [Write] { pending.withLock { $0 } }

    /// The last write of the key in the node.
    func write(of key: Key, in node: Node) -> Write? {
        pending.withLock { $0.first { $0.node === node && $0.key == key } }
    }

    func add(_ write: Write) {
        // What is dropped is released outside the lock, since that may run user code.
        let dropped: Write? = pending.withLock { writes in
            guard let same = writes.firstIndex(where: { $0.node === write.node && $0.key == write.key }) else {
                writes.append(write)
                return nil
            }
            defer { writes[same] = write }
            return writes[same]
        }
        withExtendedLifetime(dropped) {}
    }

    /// Goes back to what was pending when a nested update began that has failed.
    func restore(_ writes: [Write]) {
        let dropped = pending.withLock { pending in
            defer { pending = writes }
            return pending
        }
        withExtendedLifetime(dropped) {}
    }
}

extension Node {
    /// Runs `body` with a handle whose writes are published together at its end, or not at all if it throws.
    func update<E: Error>(
        _ container: Container, _ body: (any FeatureContainer) throws(E) -> Void
    ) throws(E) {
        let current = Current.unfinished
        let outer = current?.chain.first { $0 is Update && $0.family === family } as? Update
        let update = outer ?? Update(of: family, parent: current)
        let before = update.writes
        let result = run(update, container, body)
        if outer != nil {
            if case .failure = result { update.restore(before) }
            return try result.get()
        }
        let writes = update.writes
        if case .success = result {
            for write in writes {
                guard case .set(let new) = write.operation else { continue }
                write.node.forgetEvents(of: write.key, of: update, replacedBy: new, write.equal)
            }
        }
        update.finish()
        if case .success = result, !writes.isEmpty { family.commit(writes) }
        Deferred.deliver(after: update)
        try result.get()
    }

    private func run<E: Error>(
        _ update: Update, _ container: Container, _ body: (any FeatureContainer) throws(E) -> Void
    ) -> Result<Void, E> {
        let view = Container(view: UpdateView(update, self, container))
        return Current.$activity.withValue(update) {
            do throws(E) {
                return .success(try body(view))
            } catch {
                return .failure(error)
            }
        }
    }
}

/// The handle inside an `update`: reads see what is pending, writes become pending.
final class UpdateView: Backing {
    let node: Node
    private let update: Update
    private let container: Container

    init(_ update: Update, _ node: Node, _ container: Container) {
        self.update = update
        self.node = node
        self.container = container
    }

    func read(_ request: Request, _: Container, _ load: (Container) throws -> Payload) throws -> Payload {
        switch update.isFinished ? nil : update.write(of: request.key, in: node)?.operation {
        case .set(let payload): return payload
        case .reset:
            switch node.answerBeneath(request) {
            case .value(let payload): return payload
            case .failure: return try load(container)
            case .nothing: break
            }
            guard let parent = node.parent else { return try load(container) }
            return try parent.resolve(request, for: container, recorder: nil, load: load)
        case .replace(let replacement): return try replacement.load(container)
        case .layer, nil: return try node.resolve(request, for: container, recorder: nil, load: load)
        }
    }

    func readAsync(
        _ request: Request, _: Container, _ load: @escaping @Sendable (Container) async throws -> Payload
    ) async throws -> Payload {
        if let pending = present(request.key) { return pending }
        return try await node.resolveAsync(request, for: container, recorder: nil, load: load)
    }

    func change(_ key: TypedKey, _ operation: Operation) {
        guard !update.isFinished else { return node.change(key, operation) }
        update.add(Write(node, key, operation))
    }

    func present(_ key: Key) -> Payload? {
        if !update.isFinished, case .set(let payload)? = update.write(of: key, in: node)?.operation { return payload }
        return node.present(key)
    }

    func onClose(_ closer: Closer) { node.onClose(closer) }
    var owner: Container? { container }
}
