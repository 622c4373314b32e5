/// What `onClose` registers.
struct Closer: Sendable {
    let close: @Sendable () async throws -> Void
}

/// The life of an instance that has closers, kept by its cell and by whatever was made from the instance.
///
/// When the last of them lets go, the instance has left early and its closers run, in a task of their own.
final class InstanceLifetime: Sendable {
    /// What was loaded; nil for the closers that a container has of its own, which only its closing runs.
    let key: Key?
    /// How deep in its family the instance lives.
    let depth: Int
    /// The number of the container that the instance lives in.
    let home: Int
    /// Dependents have higher ones than what they depend on.
    let serial: UInt64
    private let state: Locked<State>
    private let family: Family

    private struct State {
        var closers: [Closer]
        /// What the instance was made from is needed until its closers have run.
        var needs: [InstanceLifetime]
        var isAbandoned = false
    }

    init(_ key: Key?, home: Node, serial: UInt64, closers: [Closer], needs: [InstanceLifetime]) {
        self.key = key
        self.serial = serial
        depth = home.depth
        self.home = home.number
        family = home.family
        state = Locked(State(closers: closers, needs: needs))
    }

    var hasClosers: Bool { state.withLock { !$0.closers.isEmpty } }
    var needs: [InstanceLifetime] { state.withLock { $0.needs } }

    /// Whether it has no closers and needs nothing that lives at `limit` or deeper, so that no closing there is concerned.
    func hasNothingToClose(downTo limit: Int) -> Bool {
        if depth < limit { return true }
        return state.withLock { $0.closers.isEmpty && $0.needs.allSatisfy { $0.depth < limit } }
    }

    /// Hands the closers out, last registered first; nobody else runs them then.
    func takeClosers() -> [Closer] {
        state.withLock { state in
            defer { state.closers = [] }
            return state.closers.reversed()
        }
    }

    /// Takes away the closers of the instance, and of those that left early and are only kept by it: their container
    /// goes without having been closed.
    ///
    /// What is returned is to be released outside the lock.
    func abandon() -> [(key: Key?, closers: [Closer])] {
        var abandoned: [(key: Key?, closers: [Closer])] = []
        var open = [self]
        // What is needed at this depth lives in the same container; what lives above it goes on.
        while let lifetime = open.popLast() {
            let isKnown = lifetime.state.withLock { state in
                defer { state.isAbandoned = true }
                return state.isAbandoned
            }
            if isKnown { continue }
            let closers = lifetime.takeClosers()
            if !closers.isEmpty { abandoned.append((lifetime.key, closers)) }
            open += lifetime.needs.filter { $0.depth == depth }
        }
        return abandoned
    }

    /// Runs the closers without waiting for anybody to let go: of an instance that nobody was given.
    func closeEarly() {
        guard let key else { return }
        let closers = takeClosers()
        guard !closers.isEmpty else { return }
        let needs = state.withLock { state in
            defer { state.needs = [] }
            return state.needs
        }
        family.closings.run(
            EarlyTeardown(
                key: key, home: home, closers: closers, family: family,
                needs: PendingTeardown(needs, family.closings)))
    }

    /// Takes what the instance was made from, if nothing has to run before that may go.
    private func takeNeeds() -> [InstanceLifetime] {
        state.withLock { state in
            guard state.closers.isEmpty else { return [] }
            defer { state.needs = [] }
            return state.needs
        }
    }

    deinit {
        closeEarly()
        // One by one, since a chain may be longer than a stack: the needs of what only this one kept are taken from it
        // before it goes.
        var open = takeNeeds()
        while var lifetime = open.popLast() {
            if isKnownUniquelyReferenced(&lifetime) { open += lifetime.takeNeeds() }
        }
    }

    fileprivate var closings: Closings { family.closings }
}

/// Lifetimes that are about to be let go.
///
/// From the decision under the lock until the release, a closing sees that closers may still have to run.
final class PendingTeardown: Sendable {
    private let lifetimes: Locked<[InstanceLifetime]?>
    private let closings: Closings
    private let isForNobody: Bool

    /// `isForNobody`: Whether nobody was given the instance, so that its closers need not wait.
    convenience init(_ lifetime: InstanceLifetime, isForNobody: Bool) {
        self.init([lifetime], lifetime.closings, isForNobody: isForNobody)
    }

    fileprivate init(_ lifetimes: [InstanceLifetime], _ closings: Closings, isForNobody: Bool = false) {
        self.lifetimes = Locked(lifetimes)
        self.closings = closings
        self.isForNobody = isForNobody
        closings.begin()
    }

    func end() {
        var leaving = lifetimes.withLock { lifetimes in
            defer { lifetimes = nil }
            return lifetimes
        }
        guard leaving != nil else { return }
        if isForNobody { leaving?.forEach { $0.closeEarly() } }
        leaving = nil
        closings.end()
    }

    deinit { end() }
}
