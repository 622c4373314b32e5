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
        let (load, replacement, strictness) = family.lock.withLock { token in
            let limit = find(token, request.key).limit
            let replacement = limit.flatMap { $0.use { $0.replacement(token, of: request.key) } }
            let load = Load(
                token, request, asker: self, container: container, expected: UnmanagedReference(self), limit: limit,
                need: need ?? Need())
            return (load, replacement, request.isExternal && replacement == nil ? storage[token].strictness : nil)
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
        family.lock.withLock { token in
            state[token].isForReaderAlone = true
            state[token].isAbandoned = true
            // Where cycles are looked for.
            family.rootState(token, of: requested)[token].loads.append(self)
        }
        let result = Result {
            try Current.run(self) { try Container.$current.withValue(view) { try loader(view) } }
        }
        let way = way
        let (inputs, rare) = family.lock.withLock { token in
            defer {
                state[token].inputs = []
                state[token].rare = nil
            }
            state[token].home = UnmanagedReference(asker)
            state[token].container = nil
            finish()
            family.existingRootState(token, of: requested)?[token].loads.remove(self)
            return (state[token].inputs, state[token].rare)
        }
        let closers = rare?.closers.count ?? 0
        for input in inputs { _ = input.provenance?.take() }
        view.answers(from: asker)
        Deferred.deliver(after: self)
        family.reports.report(Messages.loadedAfterClosing(way, closers: closers))
        return try result.get()
    }
}
