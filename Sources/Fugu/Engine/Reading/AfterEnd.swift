/// Answers of containers that are closed or have gone away.
extension Node {
    /// Says that the container is closed.
    func refusal(of key: Key, _ parent: (any CallFrame)?) -> LoadError { .closed((parent?.way ?? []) + [key]) }

    /// Answers one who cannot fail after the container has been closed: what is needed is loaded for its reader alone.
    func answerClosed(
        _ request: Request, _ container: Container, _ recorder: Load?, _ need: Need?,
        _ loader: (Container) throws -> Payload
    ) throws -> Payload {
        let parent = need?.frame
        let (load, replacement, strictness) = family.lock.withLock {
            let limit = find(request.key).limit
            let replacement = limit.flatMap { $0.use { $0.replacement(of: request.key) } }
            let load = Load(
                request, asker: self, container: container, expected: UnmanagedReference(self), limit: limit,
                need: need ?? Need())
            return (load, replacement, request.isExternal && replacement == nil ? storage.state.strictness : nil)
        }
        if let strictness { return try refuse(request, by: strictness, recorder, parent) }
        return try load.runForReaderAlone { view in try replacement.map { try $0.load(view) } ?? loader(view) }
    }

    /// Answers one who cannot fail after the container has gone away.
    func answerEnded(_ request: Request, _ loader: (Container) throws -> Payload) throws -> Payload {
        guard request.key.kind == .property else { fatalError(LoadError.ended(request.key).description) }
        family.reports.report(Messages.readAfterEnd(of: request.key))
        return try loader(Container.ended)
    }
}

extension Load {
    /// Runs the load on this thread, for a container that is closed: nothing is kept, and what it needs is loaded for it
    /// alone.
    fileprivate func runForReaderAlone(_ loader: (Container) throws -> Payload) throws -> Payload {
        let view = Container(view: self)
        family.lock.withLock {
            state.value.isForReaderAlone = true
            state.value.isAbandoned = true
            // Where cycles are looked for.
            family.loads(of: requested).value.loads.append(self)
        }
        let result = Result {
            try Current.run(self) { try Container.$current.withValue(view) { try loader(view) } }
        }
        let way = way
        let (inputs, rare) = family.lock.withLock {
            defer {
                state.value.inputs = []
                state.value.rare = nil
            }
            state.value.home = UnmanagedReference(asker)
            state.value.container = nil
            finish()
            family.existingLoads(of: requested)?.value.loads.remove(self)
            return (state.value.inputs, state.value.rare)
        }
        let closers = rare?.closers.count ?? 0
        for input in inputs { _ = input.provenance?.take() }
        view.answers(from: asker)
        Deferred.deliver(after: self)
        family.reports.report(Messages.loadedAfterClosing(way, closers: closers))
        return try result.get()
    }
}
