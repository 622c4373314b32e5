/// Answers of containers that are closed or have gone away.
extension Node {
    /// Says that the container is closed.
    func refusal(of key: Key, _ parent: (any Activity)?) -> LoadError { .closed((parent?.way ?? []) + [key]) }

    /// Answers one who cannot fail after the container has been closed: what is needed is loaded for its reader alone.
    func answerClosed(
        _ request: Request, _ container: Container, _ recorder: Flight?, _ need: Need?,
        _ load: (Container) throws -> Payload
    ) throws -> Payload {
        let parent = need?.activity
        let (flight, replacement, strictness) = family.lock.withLock {
            let limit = find(request.key).limit
            let replacement = limit.flatMap { $0.use { $0.replacement(of: request.key) } }
            let flight = Flight(
                request, asker: self, container: container, expected: Unowned(self), limit: limit,
                need: need ?? Need())
            return (flight, replacement, request.isExternal && replacement == nil ? storage.facts.strictness : nil)
        }
        if let strictness { return try refuse(request, by: strictness, recorder, parent) }
        return try flight.runForReaderAlone { view in try replacement.map { try $0.load(view) } ?? load(view) }
    }

    /// Answers one who cannot fail after the container has gone away.
    func answerEnded(_ request: Request, _ load: (Container) throws -> Payload) throws -> Payload {
        guard request.key.kind == .property else { fatalError(LoadError.ended(request.key).description) }
        family.reports.report(Messages.readAfterEnd(of: request.key))
        return try load(Container.ended)
    }
}

extension Flight {
    /// Runs the load on this thread, for a container that is closed: nothing is kept, and what it needs is loaded for it
    /// alone.
    fileprivate func runForReaderAlone(_ load: (Container) throws -> Payload) throws -> Payload {
        let view = Container(view: self)
        family.lock.withLock {
            facts.value.isForReaderAlone = true
            facts.value.isAbandoned = true
            // Where cycles are looked for.
            family.loads(of: requested).value.flights.append(self)
        }
        let result = Result {
            try Current.run(self) { try Container.$current.withValue(view) { try load(view) } }
        }
        let way = way
        let (inputs, rare) = family.lock.withLock {
            defer {
                facts.value.inputs = []
                facts.value.rare = nil
            }
            facts.value.home = Unowned(asker)
            facts.value.container = nil
            finish()
            family.existingLoads(of: requested)?.value.flights.remove(self)
            return (facts.value.inputs, facts.value.rare)
        }
        let closers = rare?.closers.count ?? 0
        for input in inputs { _ = input.recipe?.take() }
        view.answers(from: asker)
        Deferred.deliver(after: self)
        family.reports.report(Messages.loadedAfterClosing(way, closers: closers))
        return try result.get()
    }
}
