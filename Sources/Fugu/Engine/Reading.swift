// A read that couldn't be answered at once.

/// A read that looks again until it has an answer, or has to load or wait, which threads and tasks do differently.
struct Reading: ~Copyable {
    /// The next step, decided by a look under the lock.
    private enum Decision {
        case found(Payload)
        case load(Load, Replacement?)
        case wait(Load, Waiter)
        case external(any LoadRefuser)
        case cycle([Key])
        case tooDeep([Key])
        /// The reader doesn't see what lives in the declared home, because it overrides the last key, or because that is local.
        case hidden([Key], byLocal: Bool)
        case closed([Key])
        case failed(any Error, [Key])
        case cancelled
        /// The container was released.
        case ended
    }

    /// The load whose end this read looks at.
    private enum Need {
        /// None, or one that this read runs for its own container, so that what it gives is the answer.
        case none
        /// One that this read has begun in another container, or in a task.
        case own(PendingOutcome)
        /// One that another read has begun.
        case joined(PendingOutcome)

        var isNone: Bool { if case .none = self { true } else { false } }
    }

    /// What the policy has said of an external feature that nothing gives.
    private enum Refusal {
        case none
        /// It's loaded all the same, and maybe not kept.
        case overruled(isProvisional: Bool)
    }

    let request: Request
    let node: Node
    /// The load that reads through its handle.
    private let recorder: Load?
    /// The container that was asked.
    ///
    /// The reader keeps it.
    let container: UnmanagedReference<Container>
    /// Whether the reader is a task that may suspend; otherwise its thread waits.
    private var isTask = false

    // The work that needs the value, and the work that runs on this thread or task.
    private let work: Work?
    private let own: Work?
    private var need = Need.none
    /// Whether the declared home doesn't count, because the reader doesn't see what lives there.
    private var isUndeclared = false
    /// The number of outcomes that weren't valid for this reader.
    private var misses = 0
    /// The time at which the wait began, if somebody listens.
    private var waitStart: Duration?
    /// Whether nobody reads, so that no error stops the program.
    private let hasNoReader: Bool
    private var refusal = Refusal.none

    private var key: Key { request.key }

    init(
        _ request: Request, in node: Node, for container: Container, _ recorder: Load?,
        hasNoReader: Bool = false
    ) {
        self.hasNoReader = hasNoReader
        self.request = request
        self.node = node
        self.container = UnmanagedReference(container)
        self.recorder = recorder
        let scope = Context.bound
        own = scope?.own
        work = own ?? scope?.unfinished ?? recorder?.work
    }

    // MARK: Threads and tasks

    /// Returns the value, loading it on this thread if necessary.
    ///
    /// - `loader`: Loads the value, on this thread. It's called at most once for a container.
    consuming func read(_ loader: (Container) throws -> Payload) throws -> Payload {
        while true {
            switch nextStep() {
            case .found(let payload): return payload
            case .load(let load, let replacement):
                if need.isNone { return try run(load, replacement, loader) }
                // What's loaded elsewhere is looked at again, also an error, which is an input like a value.
                _ = try? run(load, replacement, loader)
            case .wait(let load, let waiter):
                waiter.block()
                endWait(waiter, for: load)
            case .external(let refuser): if let instead = try refuse(by: refuser) { return instead }
            case .hidden(let way, let byLocal) where !key.kind.throws:
                // A read that can't throw gives the reader an instance of its own, neither another's nor none.
                _ = overridden(way, byLocal: byLocal)
                isUndeclared = true
            case .ended where key.kind == .property:
                node.family.reports.report(Messages.readAfterEnd(Work.way(to: key)))
                return try loader(Container.ended)
            case let decision: return try refuse(decision)
            }
        }
    }

    // A separate function, to keep the stack frames of nested loads small.
    private func run(
        _ load: Load, _ replacement: Replacement?, _ loader: (Container) throws -> Payload
    ) throws -> Payload {
        // What is looked at again is recorded then: until then, another load may have taken its place.
        let (container, recorder) = (asked(by: load), need.isNone ? recorder : nil)
        if let replacement { return try load.run(for: container, recorder, replacement.load) }
        return try load.run(for: container, recorder, loader)
    }

    /// Returns the container that's asked for a load: the one of the reader, or its ancestor to which the feature belongs.
    @inline(__always)
    private func asked(by load: Load) -> Container {
        let container = container.object
        return need.isNone || load.node === node ? container : load.asks(container.ancestor(load.node))
    }

    /// Returns the value of an async key, loading it in a separate task if necessary.
    consuming func readAsync(_ loader: @escaping @Sendable (Container) async throws -> Payload) async throws -> Payload
    {
        isTask = true
        // A load must not block its reader's actor.
        let hasActor = Task.isOnActor(#isolation)
        while true {
            let (load, waiter): (Load, Waiter)
            switch nextStep() {
            case .found(let payload): return payload
            case .load(let own, let replacement):
                guard let joined = start(own, replacement?.loadAsync ?? loader, hasActor) else { continue }
                (load, waiter) = (own, joined)
            case .wait(let other, let joined):
                (load, waiter) = (other, joined)
            case .external(let refuser):
                if let instead = try refuse(by: refuser) { return instead }
                continue
            case let decision: return try refuse(decision)
            }
            let wait: Result<Void, any Error>
            do { wait = .success(try await load.await(waiter)) } catch { wait = .failure(error) }
            if case .joined = need { endWait(waiter, for: load) }
            try wait.get()
        }
    }

    /// The keys of the loads that need the value, outermost first, and the key.
    private var way: [Key] { (work?.way ?? []) + [key] }

    /// Starts the task of a load, and returns the waiter for its end, or `nil` if it has ended.
    @inline(__always)
    private func start(
        _ load: Load, _ loader: @escaping @Sendable (Container) async throws -> Payload, _ hasActor: Bool
    ) -> Waiter? {
        let mayRunHere = !hasActor && !load.work.level.isMultiple(of: 16)
        return load.start(for: asked(by: load), mayRunHere: mayRunHere, loader)
    }

    private func endWait(_ waiter: Waiter, for load: Load) {
        Waits.remove(waiter)
        if let waitStart { node.family.emit(.waited(load, by: work, since: waitStart)) }
    }

    @inline(never)
    private func refuse(_ decision: consuming Decision) throws -> Payload { throw error(decision) }

    /// Returns the error for a decision, or stops the program if reads of this kind of key can't throw.
    private func error(_ decision: consuming Decision) -> any Error {
        let error: LoadError
        switch decision {
        case .cycle(let way): error = isOwnReplacement ? .ownReplacement(way) : .cycle(way)
        case .tooDeep(let way): error = .tooDeep(way)
        case .hidden(let way, let byLocal): error = overridden(way, byLocal: byLocal)
        case .closed(let way): error = .closed(way)
        case .failed(let other, let way):
            if !way.isEmpty { work?.needFailed(way, other) }
            return other
        case .cancelled: return CancellationError()
        default: error = .ended(Work.way(to: key))
        }
        guard key.kind.throws || hasNoReader else { node.stop(error.read(at: request.readPlace)) }
        return error
    }

    /// Whether the load that reads is a replaced loader of the same key.
    private var isOwnReplacement: Bool { work?.load.map { $0.key == key && $0.isReplaced } ?? false }

    // MARK: Deciding

    /// Decides the next step, under the lock.
    @inline(never)
    private mutating func nextStep() -> Decision {
        // The former outcome is released outside the lock.
        let former = need
        defer { withExtendedLifetime(former) {} }
        return node.family.lock.withLock { token in decide(token) }
    }

    /// Returns what's there, joins a load in progress, or begins one.
    private mutating func decide(_ token: LockToken) -> Decision {
        if node.isEnded(token) { return .ended }
        let limit: UnmanagedReference<Node>?
        switch node.lookInline(token, key) {
        case .found(let cell, let owner):
            recorder?.record(token, cell, of: owner, as: key)
            node.link(token, key, to: cell, of: owner)
            return .found(cell.payload!)
        case .missing(let holder): limit = holder
        }
        let replacement = limit?.use { $0.cell(token, key)?.loader(token) }
        let site = site(token, limit)
        if site.node != UnmanagedReference(node), case .found = site.node.use({ $0.look(token, key) }) {
            return hidden(token, below: site.node)
        }
        if let decision = accept(token, site) ?? refuseNesting(token) { return decision }
        if key.kind.throws, site.node.use({ $0.refuses(token, work) }) { return .closed(way) }
        if isTask, Task.isCancelled { return .cancelled }
        let record = node.ancestor(at: 0).place(token, key)[token].moreRecord()
        let expected = site.node.use { expectedHome(token, of: $0, site, record.last) }
        // A reader that repeatedly got instances that are valid only for others loads in parallel.
        if misses < 4, !record.loads.isEmpty, let decision = join(token, record, site, expected) { return decision }
        return begin(token, record, site, expected, replacement)
    }

    /// Begins a load, unless the policy refuses it.
    @inline(__always)
    private mutating func begin(
        _ token: LockToken, _ record: KeyRecord, _ site: Site, _ expected: UnmanagedReference<Node>,
        _ replacement: Replacement?
    ) -> Decision {
        var loader = replacement
        var (isExternal, isStandIn) = (request.traits.isExternal, false)
        if isExternal, case .none = refusal, let policy = node.storage[token].policy {
            if replacement == nil {
                switch policy.answer(to: request, under: work) {
                case .refuse(let refuser): return .external(refuser)
                case .standIn(let standIn): (isStandIn, loader) = (true, standIn)
                case .load: break
                }
            }
            isExternal = !policy.substitutes(request)
        }
        let facts = LoadFacts(
            key: key, node: site.node.object, home: site.home, floor: site.floor, isReplaced: replacement != nil,
            reloads: request.traits.reloads, isExternal: isExternal, isStandIn: isStandIn, expected: expected,
            begun: node.family.state[token].now, undeclared: isUndeclared ? request.traits.home.keys : nil)
        let load = Load(facts, asking: container, under: work, within: isTask ? nil : own)
        load.begin(token, in: record)
        if case .overruled(isProvisional: true) = refusal { load.state[token].isProvisional = true }
        if facts.reloads, let former = expected.use({ $0.cell(token, key)?.place?.former(token) }) {
            load.state[token].more().former = former
        }
        // What is loaded elsewhere may be hidden from here.
        need = isTask || load.node !== node ? .own(load.pendingOutcome(token)) : .none
        return .load(load, loader)
    }

    /// Where the key's next load runs, and where its instance lives.
    private struct Site {
        /// The node for which it's loaded: that of the reader, or the one to which the feature declares to belong.
        let node: UnmanagedReference<Node>
        let home: Home
        /// The instance lives here or deeper.
        let floor: UnmanagedReference<Node>?
    }

    /// Returns where the next load runs.
    ///
    /// What a loader that was replaced below the declared home gives, or what's read in a container above which declared homes don't
    /// count, lives where its inputs live.
    ///
    /// - `limit`: The nearest node that holds the key without a value.
    @inline(__always)
    private func site(_ token: LockToken, _ limit: UnmanagedReference<Node>?) -> Site {
        if isUndeclared { return Site(node: UnmanagedReference(node), home: .inferred, floor: limit) }
        if !request.traits.home.isFixed {
            return Site(node: UnmanagedReference(node), home: request.traits.home, floor: limit)
        }
        let declared = node.declaredHome(token, with: request.traits.home.keys)
        let home = node.homeRoot(token, below: declared) ?? declared
        let isInferred = home !== declared
        if limit?.depth ?? 0 > home.depth {
            return Site(
                node: UnmanagedReference(node), home: isInferred ? .inferred : request.traits.home, floor: limit)
        }
        let floor = UnmanagedReference(home)
        return Site(node: floor, home: isInferred ? .inferred : request.traits.home, floor: isInferred ? limit : floor)
    }

    /// Refuses a load that needs itself, or that's nested so deeply that it probably does.
    private func refuseNesting(_ token: LockToken) -> Decision? {
        guard let work else { return nil }
        func needsItself(_ work: Work) -> Bool {
            work.mask & key.mask != 0
                && work.chain.contains { $0.load.map { $0.key == key && $0.family === node.family } ?? false }
        }
        if needsItself(work) { return .cycle(way) }
        // Another load lent the handle. This code waits in its own work, but that load must not need itself, either.
        if let recorder = recorder?.work, recorder !== work, needsItself(recorder),
            !work.chain.contains(where: { $0 === recorder })
        {
            return .cycle(recorder.way + [key])
        }
        // A chain of tasks needs no stack.
        let isTooDeep = work.level >= 2_000 || own?.nesting ?? 0 >= Work.nestingLimit
        return isTooDeep ? .tooDeep(way) : nil
    }

    /// Joins a load in progress whose instance is expected to live where this reader's would.
    private mutating func join(
        _ token: LockToken, _ record: KeyRecord, _ site: Site, _ mine: UnmanagedReference<Node>
    ) -> Decision? {
        guard let load = joinable(token, record, site, mine) else { return nil }
        let waiter = Waiter(for: load, by: work)
        if let circle = Waits.add(waiter) {
            // A load may wait for an instance that proves not to be valid for it, so load in parallel to find out.
            let isOfOneNode = circle.allSatisfy { $0.load?.node === site.node.object }
            return isOfOneNode ? .cycle(circle.compactMap(\.key) + [key]) : nil
        }
        waitStart = node.family.isHeard ? ProcessTime.now : nil
        need = .joined(load.join(token, waiter))
        return .wait(load, waiter)
    }

    /// Returns the last load whose instance was expected to live where this reader's would, or above, since the end of another load
    /// may have changed the expectation.
    private func joinable(
        _ token: LockToken, _ record: KeyRecord, _ site: Site, _ mine: UnmanagedReference<Node>
    ) -> Load? {
        site.node.object.path.firstResult { node in
            guard let load = node.cell(token, key)?.place?[token].load?.object.load else { return nil }
            let isJoinable =
                load.floor == site.floor
                && (load.expected == mine || expectedHome(token, of: load.node, site, record.last) == mine)
                && !load.hasOldInputs(token) && !mine.use { $0.wasReset(token, key, since: load.begun) }
            return isJoinable ? load : nil
        }
    }

    /// Returns the node in which the key's next instance for `asker` will probably live, judging by the last one.
    ///
    private func expectedHome(
        _ token: LockToken, of asker: Node, _ site: Site, _ last: Provenance?
    ) -> UnmanagedReference<Node> {
        if site.home.isLocal || asker.isRoot || last?.isLocal == true {
            return UnmanagedReference(asker)
        }
        return asker.path.firstResult { node in
            let isHome =
                node.isRoot || UnmanagedReference(node) == site.floor
                || last.map { node.holdsAny(token, of: $0.keys, $0.mask) } ?? false
            return isHome ? UnmanagedReference(node) : nil
        }!
    }

    /// Returns the decision that the outcome of the awaited load means for this reader, or `nil` if there's none that is valid here.
    @inline(__always)
    private mutating func accept(_ token: LockToken, _ site: Site) -> Decision? {
        let (pending, isOwn): (PendingOutcome, Bool)
        switch need {
        case .none: return nil
        case .own(let outcome): (pending, isOwn) = (outcome, true)
        case .joined(let outcome): (pending, isOwn) = (outcome, false)
        }
        misses += 1
        guard let (outcome, result) = pending.withLock({ $0 }), node.isWithin(outcome.home),
            site.floor?.depth ?? 0 <= outcome.home.depth
        else { return nil }
        let isValid = outcome.provenance.isValid(token, for: node, from: outcome.home)
        if !isOwn, !isValid || outcome.mustBeRetried || outcome.isProvisional { return nil }
        if isOwn, !isValid, !outcome.hasFailed, case let home = UnmanagedReference(outcome.load.node),
            home != UnmanagedReference(node)
        {
            return home == site.node ? hidden(token, below: home) : nil
        }
        recorder?.record(token, outcome, of: key)
        switch result {
        case .failure(let error): return .failed(error, isOwn ? [] : outcome.failedWay)
        case .success(let payload):
            if let lifetime = outcome.lifetime { node.hold(token, lifetime, of: UnmanagedReference(outcome.home)) }
            return .found(payload)
        }
    }

    /// Returns the way to the key held below a home, or the local input, that hides the home's instance from this reader.
    @inline(never)
    private func hidden(_ token: LockToken, below home: UnmanagedReference<Node>) -> Decision {
        var isLocal = false
        var way = node.family.way(token, from: key) { input in
            if node.path(below: home.object).contains(where: { $0.holds(token, input) }) { return true }
            isLocal = node.family.isLocal(token, input)
            return isLocal
        }
        // What was loaded elsewhere since may have other inputs.
        if way.count == 1, let input = node.override(token, hiding: key) { way.append(input) }
        return .hidden(way, byLocal: isLocal)
    }

    /// Outside the lock: returns the error of a reader that doesn't see what lives in the declared home, which is reported once for each
    /// feature.
    ///
    /// If it's thrown, a load that catches it was made from what hides the instance.
    @inline(never)
    private func overridden(_ way: [Key], byLocal: Bool) -> LoadError {
        let error = LoadError.overridden((work?.way ?? []) + way, of: key, home: request.traits.home, byLocal: byLocal)
            .read(at: request.readPlace)
        let (isNew, policy) = node.family.lock.withLock { token in
            let record = node.ancestor(at: 0).place(token, key)[token].moreRecord()
            if key.kind.throws {
                recorder?.recordUnseen(token, key)
                if byLocal { recorder?.noteLocal(token) } else { recorder?.recordHeld(token, way.last!) }
            }
            defer { record.isOverridden = true }
            return (!record.isOverridden, node.storage[token].policy)
        }
        if isNew {
            node.family.reports.report(error.description)
            policy?.willGoOn(error)
        }
        return error
    }

    /// Returns what a reader gets instead of an external feature that wasn't set, or `nil` if it's loaded all the same, or throws; stops
    /// the program if that's nothing and the read can't throw.
    ///
    /// The feature counts as read from the root, so that a child that sets it has its own instances of what was made with it.
    @inline(never)
    private mutating func refuse(by refuser: any LoadRefuser) throws -> Payload? {
        let refusal = refuser.refusal(of: request, in: node, under: work)
        if refusal.goesOn {
            self.refusal = .overruled(isProvisional: refusal.isProvisional)
            return nil
        }
        node.family.lock.withLock { token in
            recorder?.recordMissing(token, of: key, isProvisional: refusal.isProvisional)
        }
        do {
            return try refusal.answer(container.object)
        } catch let error as LoadError where !key.kind.throws && !hasNoReader {
            node.stop(error)
        }
    }
}

extension Container {
    /// Returns what loads in place of what a feature declares, within the load that has this handle and replaces that, or `nil` if the
    /// declared load may run; stops the program if there's nothing to give and the feature can't throw.
    ///
    /// The inputs of a stand-in don't count.
    func substitute(for request: Request) throws -> (loader: Replacement?, isStandIn: Bool) {
        guard request.traits.isExternal, case .handle(let load) = role else { return (nil, false) }
        let (node, parent) = (load.node, load.parent)
        switch node.family.lock.withLock({ node.storage[$0].policy?.answer(to: request, under: parent) }) {
        case .load?, nil: return (nil, false)
        case .standIn(let standIn)?: return (standIn, true)
        case .refuse(let refuser)?:
            let refusal = refuser.refusal(of: request, in: node, under: parent)
            if refusal.isProvisional { node.family.lock.withLock { load.state[$0].isProvisional = true } }
            if refusal.goesOn { return (nil, false) }
            do {
                return (Replacement(try refusal.answer(self)), false)
            } catch let error as LoadError where !request.key.kind.throws {
                node.stop(error)
            }
        }
    }

    /// Lets nothing that the load has read so far be its input, nor kept open for the instance.
    func forgetInputs() {
        guard case .handle(let load) = role else { return }
        var garbage = Garbage()
        load.family.lock.withLock { token in load.state[token].inputs.forget(&garbage) }
        garbage.dispose()
    }
}

/// What decides whether external features load in a container.
package protocol LoadPolicy: AnyObject, Sendable {
    /// Returns what becomes of the load of a feature that reaches outside the process; called under the lock.
    ///
    /// - `work`: The work that needs it.
    func answer(to request: Request, under work: Work?) -> LoadAnswer
    /// Whether what is loaded then doesn't reach outside; called under the lock.
    func substitutes(_ request: borrowing Request) -> Bool
    /// Called before the program stops, since a read that can't throw has no value to give; it may not return.
    func willStop(_ error: LoadError)
    /// Called when a reader doesn't see what lives in a declared home.
    func willGoOn(_ error: LoadError)
    /// Called with what the load of a key that isn't external has made.
    func check(_ value: Any, madeBy load: Load)
    /// Returns whether nothing was reported of a feature yet, and notes that something is.
    func isNew(_ key: Key) -> Bool
    /// Called before a closure configures a container.
    func beginConfiguration(of node: Node)
    /// Called when the closure has ended.
    func endConfiguration(of node: Node)
}

extension LoadPolicy {
    /// Does nothing: nobody can go on without what runs there.
    package func willStop(_ error: LoadError) {}
    /// Does nothing: it's reported.
    package func willGoOn(_ error: LoadError) {}
    package func check(_ value: Any, madeBy load: Load) {}
    package func isNew(_ key: Key) -> Bool { true }
    package func beginConfiguration(of node: Node) {}
    package func endConfiguration(of node: Node) {}
}

/// What answers readers of external features that aren't loaded.
package protocol LoadRefuser: AnyObject, Sendable {
    /// Returns what a reader gets instead, and whether what's made from that isn't kept; or whether it's loaded all the same.
    ///
    /// - `work`: The work that needs it.
    func refusal(of request: Request, in node: Node, under work: Work?) -> LoadRefusal
}

/// What a reader gets instead of a feature that was refused.
package typealias LoadRefusal = (isProvisional: Bool, goesOn: Bool, answer: (Container) throws -> Payload)

/// What becomes of the load of a feature that reaches outside the process.
package enum LoadAnswer {
    case load
    case refuse(any LoadRefuser)
    /// Something else is loaded, and lives where the feature would if it read nothing: by a loader, or by the feature's own, which gives
    /// its value for tests.
    case standIn(Replacement?)
}

extension KeyKind {
    /// Whether a read of the kind can throw.
    package var `throws`: Bool { self == .throwingFeature || self == .asyncFeature }
}
