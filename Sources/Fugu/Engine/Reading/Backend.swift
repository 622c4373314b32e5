/// What answers for a ``Container`` when a value cannot be read at once: its node, or a view of a node, such as the handle
/// of a load.
protocol Backend: AnyObject, Sendable {
    /// The node that is read and written in the end.
    var node: Node { get }
    /// Gives a value, loading it if need be by `loader`, which is called in place and at most once.
    func read(_ request: Request, _ container: Container, _ loader: (Container) throws -> Payload) throws
        -> Payload
    /// The same for an async key.
    func readAsync(
        _ request: Request, _ container: Container,
        _ loader: @escaping @Sendable (Container) async throws -> Payload
    ) async throws -> Payload
    func change(_ key: TypedKey, _ operation: Operation)
    /// Stops the program where nothing may be changed: in a load, through its handle.
    func checkMayChange(_ key: Key?)
    /// What is there, without loading.
    func present(_ key: Key) -> Payload?
    func onClose(_ closer: Closer)
    /// The load that records what is read here.
    var recorder: Load? { get }
    /// The container that children made from here belong to, where it is another one.
    var owner: Container? { get }
    /// A child of `container`, which this backs.
    func makeChild(of container: Container) -> Container
    /// Sets a value for the first time, if that concerns nobody; says whether it did.
    func setAlone(_ key: Key, _ payload: Payload) -> Bool
    /// The container that this backs goes away.
    func end()
}

extension Backend {
    func readAsync(
        _ request: Request, _ container: Container,
        _ loader: @escaping @Sendable (Container) async throws -> Payload
    ) async throws -> Payload {
        let recorder = recorder
        let resolution = Resolution(request, in: recorder?.asker ?? node, for: container, recorder, isTask: true)
        return try await resolution.readAsync(loader)
    }

    var recorder: Load? { nil }
    var owner: Container? { nil }
    func checkMayChange(_ key: Key?) {}
    func setAlone(_ key: Key, _ payload: Payload) -> Bool { false }
    func end() {}

    func makeChild(of container: Container) -> Container {
        Container(Node(parent: node, recorder: recorder), childOf: owner ?? container)
    }
}

extension Node: Backend {
    var node: Node { self }
    var recorder: Load? { nil }

    func makeChild(of container: Container) -> Container {
        Container(Node(parent: self, recorder: nil), childOf: container)
    }

    func read(_ request: Request, _ container: Container, _ loader: (Container) throws -> Payload) throws
        -> Payload
    {
        try Resolution(request, in: self, for: container, nil).read(loader)
    }

    func present(_ key: Key) -> Payload? {
        prepareScopes()
        return presentAfterAsking(key)
    }

    func onClose(_ closer: Closer) {
        family.lock.withLock { token in storage[token].more()[token].closers.append(closer) }
    }

    func end() {
        let garbage = family.lock.withLock { token in giveUp(token) }
        garbage.dispose()
        #if DEBUG
        if !garbage.abandoned.isEmpty { family.reports.report(Messages.neverClosed(garbage.abandoned)) }
        #endif
    }
}

/// The handle of a load: it records while the load runs, and afterwards answers from where the instance lives.
extension Load: Backend {
    var node: Node { family.lock.withLock { token in state[token].home?.object } ?? asker }
    var recorder: Load? { isFinished ? nil : self }
    var owner: Container? {
        guard let asked = family.lock.withLock({ token in state[token].container?.object }) else { return nil }
        // In a nested load that is the handle of another one.
        return asked.backend.owner ?? asked
    }

    func read(_ request: Request, _ container: Container, _ loader: (Container) throws -> Payload) throws
        -> Payload
    {
        if isFinished { return try readLate(request, container, loader) }
        return try Resolution(request, in: asker, for: container, self).read(loader)
    }

    private func readLate(_ request: Request, _ container: Container, _ loader: (Container) throws -> Payload) throws
        -> Payload
    {
        reportLateRead(of: request.key)
        return try node.read(request, container, loader)
    }

    /// Tells, in debug builds, of a read through a kept handle where the code that runs has something else for the key.
    private func reportLateRead(of key: Key) {
        #if DEBUG
        let (home, caller) = (node, Container.current.backend.node)
        guard caller !== home, caller.isWithin(home) else { return }
        let isOther = family.lock.withLock { token in
            let isOverridden = caller.path.prefix { $0 !== home }.contains { $0.holds(token, key) }
            return isOverridden && family.state[token].isNew(requested, key)
        }
        if isOther { family.reports.report(Messages.lateRead(of: key, by: requested)) }
        #endif
    }

    func change(_ key: TypedKey, _ operation: Operation) {
        checkMayChange(key.key)
        node.change(key, operation)
    }

    func checkMayChange(_ key: Key?) {
        guard isFinished else { fatalError(Messages.writeInLoad(of: requested, key)) }
    }

    func present(_ key: Key) -> Payload? {
        guard isFinished else { return asker.presentAfterAsking(key, self) }
        return node.present(key)
    }

    func onClose(_ closer: Closer) {
        // Looked at under the lock, where loads end: what comes a moment too late must not be lost.
        let isLate = family.lock.withLock { token in
            if !isFinished { state[token].more().closers.append(closer) }
            return isFinished
        }
        if isLate { node.onClose(closer) }
    }
}
