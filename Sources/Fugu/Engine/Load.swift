// A load, from its handle to its end.

/// The request that a load answers.
struct LoadFacts: Sendable {
    /// The home that the feature declares, or `inferred` for a decoration.
    let home: Home
    /// Whether the instance lives in the node that the declaration names, and not where the inputs of a loader live that was
    /// replaced below that node.
    let isFixed: Bool
    let reloads: Bool
    let isExternal: Bool
    /// Whether a layer loads, which reads first what it wraps.
    let wraps: Bool
    /// The nearest node that holds the key without a value: the instance lives there or deeper.
    let limit: UnmanagedReference<Node>?
    /// The node in which the instance is expected to live.
    let expected: UnmanagedReference<Node>
    /// The time at which the load began.
    let begun: UInt64
    /// Whether the instance is for its reader alone and isn't kept, because the container is closed.
    let isPrivate: Bool
}

/// A key that a load has read.
struct Input {
    let key: Key
    /// The time of what was seen, by `Node.time`, or `neverKept`.
    let time: UInt64
    /// Whether it was read from a cell; otherwise, its value wasn't kept, or its load failed.
    let isKept: Bool

    /// The time of a value that wasn't kept, which always counts as changed.
    static let neverKept = UInt64.max

    let provenance: Provenance?
    let lifetime: Lifetime?

    /// The identity of an input: another instance of the same key is another input.
    var identity: KeyOfObject { KeyOfObject(key: key, object: lifetime.map { ObjectIdentifier($0) }) }

    /// Whether the input is kept, and all of its own inputs are among the keys.
    fileprivate func isWithin(_ keys: [Key]) -> Bool {
        isKept && provenance?.keys.allSatisfy { keys.contains($0) } ?? true
    }
}

/// The mutable part of a frame, most of which is that of a load.
///
/// The family's lock protects it.
struct FrameState {
    fileprivate var firstInput: Input?
    fileprivate var moreInputs: [Input] = []
    /// The identities of the inputs, once there are many.
    private var seen: [KeyOfObject: Int]?
    private(set) var mask: UInt64 = 0
    /// The depth of the deepest node that a value was read from.
    fileprivate(set) var depth = 0
    fileprivate(set) var isLocal = false
    /// Whether the load read a placeholder for a refused feature.
    ///
    /// Its instance is then neither kept nor given to waiters, so that each of them meets the failure.
    var isProvisional = false
    /// Whether all waiters have left, so that the load is canceled.
    fileprivate(set) var isAbandoned = false
    /// The container that asked, while the load runs, for children made from the handle.
    ///
    /// The code that runs the load keeps it.
    fileprivate(set) var container: UnmanagedReference<Container>?
    /// The node that the handle reads after the load.
    fileprivate(set) var home: UnmanagedReference<Node>?

    var rare: RareFrameState?

    /// Returns the rare state, creating it if necessary.
    mutating func more() -> RareFrameState { rare.orMade(RareFrameState()) }

    var inputs: [Input] { firstInput.map { [$0] + moreInputs } ?? [] }

    mutating func append(_ input: consuming Input) {
        if mask & input.key.mask == 0 {
            seen?[input.identity] = 0
        } else if contains(input) {
            return
        }
        mask |= input.key.mask
        if firstInput == nil { firstInput = input } else { moreInputs.append(input) }
    }

    /// Returns whether the same input was recorded before.
    ///
    /// A key that's read again may have another instance, which is another input.
    private mutating func contains(_ input: Input) -> Bool {
        if moreInputs.count < 8 {
            return firstInput?.identity == input.identity || moreInputs.contains { $0.identity == input.identity }
        }
        if seen == nil {
            seen = [:]
            for input in inputs { seen![input.identity] = 0 }
        }
        return seen!.updateValue(0, forKey: input.identity) != nil
    }

    /// Whether the inputs match a short provenance: a quick check that avoids creating an equal one.
    fileprivate func isMadeFrom(_ provenance: Provenance) -> Bool {
        let keys = provenance.keys
        guard let first = firstInput, keys.count <= 16, provenance.direct.count == 1 + moreInputs.count,
            provenance.direct[0] == first.key,
            first.isWithin(keys)
        else { return false }
        for (index, input) in moreInputs.enumerated() {
            guard provenance.direct[index + 1] == input.key, input.isWithin(keys) else { return false }
        }
        return keys.allSatisfy { key in
            key == first.key || first.provenance?.keys.contains(key) == true
                || moreInputs.contains { $0.key == key || $0.provenance?.keys.contains(key) == true }
        }
    }

    /// Moves the inputs into the garbage.
    fileprivate mutating func forgetInputs(_ garbage: inout Garbage) {
        guard let first = firstInput.take() else { return }
        garbage.add(first.provenance)
        garbage.add(first.lifetime)
        if moreInputs.isEmpty { return }
        garbage.add(Retained(moreInputs))
        (moreInputs, seen) = ([], nil)
    }
}

/// How a load ended.
struct LoadOutcome {
    let result: Result<Payload, any Error>
    /// The path from the load to the one that threw the error, if it failed.
    var way: [Key] = []
    let home: Node
    let provenance: Provenance
    let lifetime: Lifetime?
    /// Whether an input changed during the load.
    let hasOldInputs: Bool
    /// Whether the instance isn't kept for that reason, so that waiters ask again.
    let mustBeRetried: Bool
    /// Whether the outcome is only for the reader that began the load.
    let isProvisional: Bool
}

/// The outcome of a load, for its waiters; the family's lock protects it.
final class PendingOutcome: Sendable {
    let state = FamilyLocked<LoadOutcome?>(nil)
    deinit { state.free() }
}

/// A family's loads of one key that are in progress.
///
/// The code that runs a load keeps it until it has left the list.
struct LoadList {
    private var list = SparseList<Frame>()
    /// The loads that readers may join, by the node in which the instance is expected to live, once there are many.
    private var homes: [UnmanagedReference<Node>: SparseList<Frame>]?

    var all: [Frame] { list.all }
    var isEmpty: Bool { list.isEmpty }

    mutating func append(_ load: Frame) {
        list.append(load)
        guard homes != nil || list.count >= 8 else { return }
        let added = homes == nil ? list.all : [load]
        homes = homes ?? [:]
        for load in added { homes![load.load!.expected, default: SparseList()].append(load) }
    }

    mutating func remove(_ load: Frame) {
        list.remove(load)
        if list.isEmpty { homes = nil } else { refuse(load) }
    }

    /// Takes a load out of those that readers may join.
    mutating func refuse(_ load: Frame) {
        guard homes != nil else { return }
        let expected = load.load!.expected
        homes![expected]?.remove(load)
        if homes![expected]?.isEmpty == true { homes![expected] = nil }
    }

    /// The loads that a reader may join if it expects the instance to live in a node.
    func candidates(at home: UnmanagedReference<Node>) -> [Frame?] {
        homes.map { $0[home]?.slots ?? [] } ?? list.slots
    }
}

// MARK: Inputs

extension Frame {
    /// Records that the load read a key from a cell of a node.
    @inline(__always)
    func record(_ token: LockToken, _ cell: CellReference, of owner: UnmanagedReference<Node>, as key: Key) {
        let depth = owner.depth
        guard !isFinished, depth <= node!.depth else { return }
        if !cell.has(CellFlags.input) { cell.mark(CellFlags.input) }
        let place = cell.place
        let provenance = place?[token].provenance
        add(
            token,
            Input(
                key: key, time: cell.has(CellFlags.hasWord) ? cell.time : node!.time(token, of: key),
                isKept: true, provenance: provenance,
                lifetime: provenance == nil ? nil : place?[token].lifetime.value), depth)
        guard let outer = outerRecorder(token) else { return }
        outer.record(token, cell, of: owner, as: key.known(at: outer.node!.depth))
    }

    /// Returns the load whose handle made the container that asked, if it needs this load, whose reads are then its inputs, too.
    func outerRecorder(_ token: LockToken) -> Frame? {
        guard let outer = node!.storage[token].rare?.recorder, outer !== self, !outer.isFinished,
            chain.contains(where: { $0 === outer })
        else { return nil }
        return outer
    }

    /// Records an input whose value was given to the load but not kept.
    func record(_ token: LockToken, _ outcome: LoadOutcome, of key: Key, hasFailed: Bool = false) {
        guard !isFinished, outcome.home.depth <= node!.depth else { return }
        if outcome.isProvisional { state[token].isProvisional = true }
        let time = hasFailed && !outcome.hasOldInputs ? node!.time(token, of: key) : Input.neverKept
        add(
            token,
            Input(key: key, time: time, isKept: false, provenance: outcome.provenance, lifetime: outcome.lifetime),
            outcome.home.depth)
        guard let outer = outerRecorder(token) else { return }
        outer.record(token, outcome, of: key.known(at: outer.node!.depth), hasFailed: hasFailed)
    }

    /// Records a key that has no value: an external feature that was refused, or a setting that is missing or wrong.
    ///
    /// It counts as read from the root.
    func recordMissing(_ token: LockToken, of key: Key, isProvisional: Bool = false) {
        guard !isFinished else { return }
        if isProvisional { state[token].isProvisional = true }
        let root = node!.ancestor(at: 0)
        record(token, root.storage.cell(token, key.known(at: 0)), of: UnmanagedReference(root), as: key)
    }

    func add(_ token: LockToken, _ input: Input, _ depth: Int) {
        if holdBack(token, input, depth) { return }
        if depth > state[token].depth { state[token].depth = depth }
        if input.provenance?.isLocal == true { state[token].isLocal = true }
        state[token].append(input)
    }

    /// Whether any input has changed since it was read.
    func hasOldInputs(_ token: LockToken) -> Bool {
        if family.state[token].now == load!.begun { return false }
        guard let first = state[token].firstInput else { return false }
        return isOld(token, first) || state[token].moreInputs.contains { isOld(token, $0) }
    }

    /// Whether an input has changed since it was read, so that the instance isn't kept.
    func mustBeRetried(_ token: LockToken) -> Bool {
        if load!.reloads { return hasOldInputs(token) }
        return load!.wraps && state[token].firstInput.map { isOld(token, $0) } ?? false
    }

    /// Whether an input has changed since it was read.
    func isOld(_ token: LockToken, _ input: Input) -> Bool { node!.time(token, of: input.key) != input.time }

    /// Adds a closer, and returns whether the load was still running.
    func add(_ closer: Closer) -> Bool {
        family.lock.withLock { token in
            // Checked under the lock, where loads end, so that a closer that comes too late isn't lost.
            if isFinished { return false }
            state[token].more().closers.append(closer)
            return true
        }
    }

    /// The node that the handle reads and writes after the load.
    var homeNode: Node { family.lock.withLock { token in state[token].home?.object } ?? node! }
    /// The container that asked, while the load runs.
    var askedContainer: Container? { family.lock.withLock { token in state[token].container?.object } }
}

// MARK: The run

extension Frame {
    /// Runs the load on this thread.
    ///
    /// Returns the result for the reader that began the load.
    func run(
        for container: Container, _ recorder: Frame?, _ loader: (Container) throws -> Payload
    ) throws -> Payload {
        // A default reads nothing through a handle.
        let view = key!.kind == .property ? container : Container(handle: self)
        let bound = view === container ? nil : view
        let span = LoadSpan.begin(self)
        var closerCount = 0
        let result: Result<Payload, any Error>
        do {
            result = .success(try Context.run(bound, self) { try loader(view) })
        } catch {
            result = .failure(error)
        }
        if load!.isPrivate {
            closerCount = family.lock.withLock { token in state[token].rare?.closers.value.count ?? 0 }
        }
        let given = endLoad(with: result, recorder, span)
        if view !== container { view.answers(from: homeNode) }
        deliver()
        if load!.isPrivate {
            family.reports.report(Messages.loadedAfterClosing(way + [key!], closers: closerCount))
        }
        return try given.get()
    }

    /// Begins the load in a separate task, which keeps the container that was asked.
    ///
    /// - `mayRunHere`: Whether the load may run on this thread until it first suspends.
    func start(
        for container: Container, _ recorder: Frame?, mayRunHere: Bool,
        _ loader: @escaping @Sendable (Container) async throws -> Payload
    ) {
        let priority = Task.currentPriority
        let task = Task<Void, Never>.start(atOnce: mayRunHere) { [self] in
            let view = Container(handle: self)
            let span = LoadSpan.begin(self)
            let result: Result<Payload, any Error>
            do {
                // A load that every waiter left before it began doesn't begin, because another one may already be in progress.
                try Task.checkCancellation()
                result = .success(try await Context.run(view, self) { try await loader(view) })
            } catch {
                result = .failure(error)
                // Close what the load opened before waiters are woken.
                await closeFailed()
            }
            _ = endLoad(with: result, recorder, span)
            view.answers(from: homeNode)
            deliver()
            withExtendedLifetime(container) {}
        }
        let raised: UInt8 = family.lock.withLock { token in
            if isFinished { return 0 }
            let rare = state[token].more()
            rare.task = task
            // A more urgent task may already wait.
            if rare.priority > priority.rawValue { return rare.priority }
            rare.priority = priority.rawValue
            return 0
        }
        guard raised > 0, #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
        task.escalatePriority(to: TaskPriority(rawValue: raised))
    }

    /// Runs the closers of a failed or canceled load.
    private func closeFailed() async {
        @inline(never) func takeLast() -> Closer? {
            family.lock.withLock { token in state[token].rare?.closers.takeLast() }
        }
        // A child task of the load, or a closer, may register another one meanwhile.
        while let closer = takeLast() {
            let error = await Task { await closer.run(in: self, nil) }.value
            if let error { family.reports.report(Messages.closerFailed(of: key!, error)) }
        }
    }

    /// Ends the load: keeps the instance, unless the key has another value, and wakes the waiters.
    ///
    /// Returns the result for the reader that began the load.
    private func endLoad(
        with result: Result<Payload, any Error>, _ recorder: Frame?, _ span: LoadSpan?
    ) -> Result<Payload, any Error> {
        var effects = Effects(in: self)
        var given = result
        var inputs: [Key] = []
        let failedWay: [Key] = if case .failure(let error) = result { [key!] + way(to: error) } else { [] }
        let report = family.lock.withLock { token -> String? in
            let end = LoadEnd(token, of: self, recorder, failedWay, span?.duration)
            state[token].home = UnmanagedReference(end.home)
            // Finish first: as soon as the instance is in its cell, other threads may read through the handle that it kept.
            effects.wake(finish(token))
            let report = end.settle(token, &given, &effects)
            if !failedWay.isEmpty { inputs = state[token].inputs.map(\.key) }
            end.removeFromLists(token, &effects)
            span?.end(token, end.kind(token, result), of: self, end.home, result, &effects)
            return report
        }
        effects.perform()
        if let report { family.reports.report(report) }
        if case .failure(let error) = result {
            remember(error, failedWay, inputs)
            if case .failure = given { parent?.needFailed(failedWay, error) }
        }
        return given
    }
}

/// The end of a load, under the lock: finds the instance's home, and keeps or drops the instance.
private struct LoadEnd {
    let load: Frame
    /// The load that reads the instance through its handle.
    let recorder: Frame?
    let home: Node
    let provenance: Provenance
    let lifetime: Lifetime?
    let hasOldInputs: Bool
    let mustBeRetried: Bool
    let duration: Duration?
    /// The path from the load to the one that threw the error, if it failed.
    private let failedWay: [Key]
    /// The key's place in the root.
    private let place: Place

    private var key: Key { load.key! }
    /// The key by which the home knows the instance, not that of its declared home.
    private var knownKey: Key { key.known(at: home.depth) }
    private var asker: Node { load.node! }
    private var facts: LoadFacts { load.load! }

    init(_ token: LockToken, of load: Frame, _ recorder: Frame?, _ failedWay: [Key], _ duration: Duration?) {
        self.load = load
        self.failedWay = failedWay
        self.recorder = recorder
        self.duration = duration
        let (asker, facts, state) = (load.node!, load.load!, load.state)
        place = asker.ancestor(at: 0).place(token, load.key!.known(at: 0))
        var isLocal = facts.home.isLocal || state[token].isLocal
        var home = isLocal ? asker : asker.ancestor(at: max(state[token].depth, facts.limit?.depth ?? 0))
        var others: [Key] = []
        if let key = facts.home.key {
            // A node that sets the key has an instance that's different, whether the load reads the key or not.
            others = [key]
            if facts.isFixed { home = asker }
            asker.storage.cell(token, key).mark(CellFlags.input)
        }
        while home !== asker, let older = Self.older(token, than: load, seenFrom: home) {
            if older.isLocal {
                isLocal = true
                home = asker
            } else {
                let below = home.depth
                var first = asker
                for node in asker.path where node.depth > below && node.holdsAny(token, of: older.keys, older.mask) {
                    first = node
                }
                let reasons = older.keys.filter { first.holds(token, $0) }
                // The nearest such node is the home: a node that holds one of these keys shares no instance from above.
                home =
                    asker.path.firstResult { node in
                        reasons.contains { node.holds(token, $0) } ? UnmanagedReference(node) : nil
                    }!.object
                others += reasons
            }
        }
        self.home = home
        hasOldInputs = load.hasOldInputs(token)
        mustBeRetried = hasOldInputs && load.mustBeRetried(token)
        provenance = Self.provenance(token, of: load, isLocal: isLocal, others, place[token].rare?.last)
        lifetime = Self.lifetime(token, of: load, home, hasInstance: failedWay.isEmpty)
    }

    /// Returns the provenance of an older instance, of the key or of an input, that `home` sees and the asker doesn't, if
    /// there is one.
    ///
    /// Containers that share the older instance keep it. The new one lives where the older one stops being valid.
    private static func older(_ token: LockToken, than load: Frame, seenFrom home: Node) -> Provenance? {
        let (asker, state) = (load.node!, load.state)
        var held: UInt64 = 0
        _ = asker.path.firstResult { node -> Bool? in
            if node === home { return true }
            held |= node.storage[token].heldMask
            return nil
        }
        func hidden(_ key: Key, _ known: UInt64?) -> Provenance? {
            guard case .found(let cell, let owner) = home.look(token, key), cell.time != known,
                let older = cell.place?[token].provenance,
                !owner.use({ older.isValid(token, for: asker, from: $0, held) })
            else { return nil }
            return older
        }
        if let older = hidden(load.key!, nil) { return older }
        if let first = state[token].firstInput, let older = hidden(first.key, first.time) { return older }
        for input in state[token].moreInputs { if let older = hidden(input.key, input.time) { return older } }
        return nil
    }

    /// Returns the provenance of the instance: the last one if the inputs are the same.
    ///
    /// - `others`: Keys on which the home depends besides the inputs.
    private static func provenance(
        _ token: LockToken, of load: Frame, isLocal: Bool, _ others: [Key], _ last: Provenance?
    ) -> Provenance {
        let (state, reloads, wraps) = (load.state, load.load!.reloads, load.load!.wraps)
        if others.isEmpty {
            guard let first = state[token].firstInput else {
                return isLocal || reloads
                    ? Provenance(direct: [], keys: [], mask: 0, isLocal: isLocal, reloads: reloads) : .none
            }
            let hasOneKey = state[token].moreInputs.isEmpty && first.provenance?.keys.isEmpty ?? true
            if let last, last.isLocal == isLocal, last.reloads == reloads, last.wraps == wraps, last.homeKey == nil,
                hasOneKey
                    ? last.keys.count == 1 && last.direct.count == 1 && last.keys[0] == first.key
                    : state[token].isMadeFrom(last)
            {
                return last
            }
            if hasOneKey {
                let keys = [first.key]
                return Provenance(
                    direct: keys, keys: keys, mask: first.key.mask, isLocal: isLocal, reloads: reloads, wraps: wraps)
            }
        }
        var (direct, lists, mask) = ([Key](), others.isEmpty ? [] : [others.sortedUnique()], state[token].mask)
        let count = 1 + state[token].moreInputs.count
        direct.reserveCapacity(count)
        lists.reserveCapacity(lists.count + count + 1)
        for key in others { mask |= key.mask }
        func add(_ input: Input) {
            direct.append(input.key)
            guard let made = input.provenance, !made.keys.isEmpty else { return }
            mask |= made.mask
            lists.append(made.keys)
            if !input.isKept { direct += made.direct }
        }
        if let first = state[token].firstInput { add(first) }
        for input in state[token].moreInputs { add(input) }
        lists.append(direct.sortedUnique())
        let keys = lists.merged()
        let made = Provenance(
            direct: direct, keys: keys, mask: mask, isLocal: isLocal, reloads: reloads,
            homeKey: load.load!.home.key, wraps: wraps)
        return last.map { made.isEqual(to: $0) ? $0 : made } ?? made
    }

    /// Returns the instance's lifetime, which it needs only if it or one of its inputs has closers.
    private static func lifetime(_ token: LockToken, of load: Frame, _ home: Node, hasInstance: Bool) -> Lifetime? {
        let state = load.state
        var uses: [Lifetime] = []
        if let used = state[token].firstInput?.lifetime { uses.append(used) }
        for input in state[token].moreInputs { if let used = input.lifetime { uses.append(used) } }
        // The closers of an instance that's for its reader alone don't run.
        let closers = load.load!.isPrivate ? [] : state[token].rare?.closers.value ?? []
        if closers.isEmpty, uses.isEmpty || !hasInstance { return nil }
        return Lifetime(token, load.key!.known(at: home.depth), home: home, closers: closers, uses: uses)
    }

    /// Keeps the instance, or replaces `given` with what the reader gets instead, and returns a message to report.
    func settle(_ token: LockToken, _ given: inout Result<Payload, any Error>, _ effects: inout Effects) -> String? {
        guard case .success(let payload) = given else {
            publish(token, given)
            guard case .found(let cell, let owner) = lookAgain(token), !cell.has(CellFlags.loaded),
                let set = cell.payload
            else {
                // The failed load's inputs become inputs of a load that continues without the instance.
                recorder?.record(token, outcome(token, given), of: key, hasFailed: true)
                if let place = home.storage.existingCell(token, knownKey)?.place {
                    let isOutdated = !load.state[token].isProvisional && (hasOldInputs || wasReset(token))
                    effects.noteFailure(token, place, of: provenance, isOutdated: isOutdated)
                }
                return nil
            }
            recorder?.record(token, cell, of: owner, as: key)
            given = .success(set)
            if owner.depth <= home.depth { publish(token, given, in: cell, of: owner.object) }
            return nil
        }
        if facts.isPrivate {
            // The loads in the same container that need the instance share it.
            for frame in load.chain where frame.node === asker && frame.load?.isPrivate == true {
                frame.state[token].more().privateInstances.set(payload, for: key, &effects.garbage)
            }
            publish(token, given)
            return nil
        }
        rememberLast(token, &effects)
        if case .found(let cell, let owner) = lookAgain(token), let other = cell.payload {
            // The key was set or loaded during the load: that value stays.
            recorder?.record(token, cell, of: owner, as: key)
            given = .success(other)
            if owner.depth <= home.depth {
                publish(token, given, in: cell, of: owner.object)
            } else {
                publish(token, .success(payload))
                // Containers that don't see the value set below the home can still share the instance.
                if case .missing = home.look(token, key), isWanted(token) { _ = keep(token, payload, &effects) }
            }
            return nil
        }
        publish(token, given)
        guard isWanted(token) else {
            recorder?.record(token, outcome(token, given), of: key)
            repeatIfObserved(token, &effects)
            return nil
        }
        let cell = keep(token, payload, &effects)
        let owner = UnmanagedReference(home)
        var isSeen = home === asker
        if !isSeen, case .found(let seen, _) = asker.look(token, key) { isSeen = seen == cell }
        if isSeen {
            recorder?.record(token, cell, of: owner, as: key)
            asker.link(token, key, to: cell, of: owner)
        } else {
            recorder?.record(token, outcome(token, given), of: key)
            // A key that was set or replaced during the load hides the instance from the asker.
            repeatIfObserved(token, &effects)
        }
        return madeAgain(token)
    }

    /// Returns what the asker sees now.
    private func lookAgain(_ token: LockToken) -> Look {
        asker.isEnded(token) ? .missing(limit: nil) : asker.look(token, key)
    }

    /// Whether to keep the instance.
    ///
    /// Its home must be open, an instance below the root needs an anchor, and the key must not have been set or reset there
    /// during the load. The inputs of an instance that reloads must not have changed.
    private func isWanted(_ token: LockToken) -> Bool {
        if load.state[token].isProvisional || mustBeRetried { return false }
        if home.isEnded(token) || home.storage[token].isClosed && key.kind != .property { return false }
        // The asker may hold the key without a value by now, and not see that of its home.
        if home !== asker, case .found = home.look(token, key) { return false }
        return !wasReset(token) && provenance.isAnchored(token, knownKey, in: home)
    }

    private func wasReset(_ token: LockToken) -> Bool { home.wasReset(token, key, since: facts.begun) }

    private func keep(_ token: LockToken, _ payload: Payload, _ effects: inout Effects) -> CellReference {
        let knownKey = knownKey
        let cell = home.storage.cell(token, knownKey)
        if let place = cell.place { place.forget(token, &effects.garbage) }
        effects.garbage.add(
            cell.store(payload, flags: CellFlags.loaded | cell.heldFlags, at: load.family.state[token].tick()))
        if key.kind != .property {
            let place = home.isRoot ? place : home.place(token, knownKey)
            place.adopt(token, provenance, lifetime, &effects.garbage)
            place[token].isOutdated = hasOldInputs
            #if DEBUG
            place[token].duration = duration
            #endif
            place[token].loadCount += 1
            _ = asker.path.firstResult { node -> Bool? in
                if let rare = node.storage[token].rare, !rare.failures.isEmpty { rare.failures[key]?.isPast = true }
                return node === home ? true : nil
            }
        }
        if let place = cell.place { effects.announce(token, place, .loaded) }
        return cell
    }

    /// Makes followers load the key again, because the instance wasn't kept or isn't seen.
    private func repeatIfObserved(_ token: LockToken, _ effects: inout Effects) {
        guard !load.state[token].isProvisional, let place = home.storage.existingCell(token, knownKey)?.place else {
            return
        }
        effects.noteNotKept(token, place, of: provenance)
    }

    private func outcome(_ token: LockToken, _ result: Result<Payload, any Error>) -> LoadOutcome {
        LoadOutcome(
            result: result, way: failedWay, home: home, provenance: provenance, lifetime: lifetime,
            // A failure counts as old, too, if the loader that failed was reset or replaced meanwhile.
            hasOldInputs: hasOldInputs
                || !failedWay.isEmpty && asker.wasReset(token, key, since: facts.begun, home: home),
            mustBeRetried: mustBeRetried, isProvisional: load.state[token].isProvisional)
    }

    /// Gives the waiters the outcome of the load, or the value of a cell instead.
    private func publish(
        _ token: LockToken, _ result: Result<Payload, any Error>, in cell: CellReference? = nil, of owner: Node? = nil
    ) {
        guard let pending = load.state[token].rare?.outcome else { return }
        guard let cell, let owner else { return pending.state[token] = outcome(token, result) }
        pending.state[token] = LoadOutcome(
            result: result, home: owner, provenance: cell.place?[token].provenance ?? .none,
            lifetime: cell.place?[token].lifetime.value, hasOldInputs: false, mustBeRetried: false, isProvisional: false
        )
    }

    /// Remembers the provenance, from which the next load's home is guessed.
    private func rememberLast(_ token: LockToken, _ effects: inout Effects) {
        if key.kind == .property || place[token].rare?.last === provenance { return }
        let rare = place[token].more()
        effects.garbage.add(rare.last)
        rare.last = provenance
    }

    /// Removes the load from all lists, and releases what's needed only while it runs.
    func removeFromLists(_ token: LockToken, _ effects: inout Effects) {
        place[token].rare?.loads.remove(load)
        asker.endWork(token, &effects)
        let state = load.state
        state[token].forgetInputs(&effects.garbage)
        // The last reference must not be released under the lock.
        effects.garbage.add(lifetime)
        state[token].container = nil
        guard let rare = state[token].rare.take() else { return }
        // Later events need the load's number, and deferred followers are notified after this.
        if rare.number != nil || !rare.deferred.value.isEmpty {
            let left = state[token].more()
            left.number = rare.number
            swap(&left.deferred, &rare.deferred)
        }
        effects.garbage.add(rare)
    }

    /// Returns what debug builds report about an instance that's loaded again for a child.
    private func madeAgain(_ token: LockToken) -> String? {
        #if DEBUG
        guard !home.isRoot, facts.isExternal || lifetime?.teardown.hasClosers == true, !provenance.isLocal,
            facts.limit == nil,
            !facts.isFixed, provenance.keys.contains(where: { home.holds(token, $0) })
        else { return nil }
        let family = load.family
        let rare = place[token].more()
        guard rare.isMadeBelow || place[token].cell.has(CellFlags.loaded) else {
            rare.isMadeBelow = true
            return nil
        }
        guard family.state[token].isNew(key, key) else { return nil }
        return Messages.madeAgain(key, family.way(token, from: key) { home.holds(token, $0) })
        #else
        return nil
        #endif
    }

    /// Returns the kind of the event that reports the end.
    func kind(_ token: LockToken, _ result: Result<Payload, any Error>) -> EventKind {
        if case .failure = result { return .failed }
        guard let cell = home.storage.existingCell(token, knownKey), cell.has(CellFlags.loaded), let place = cell.place,
            place[token].provenance === provenance
        else {
            if case .found = lookAgain(token) { return .overtaken }
            return .notKept
        }
        return place[token].loadCount > 1 ? .reloaded : .loaded
    }
}

extension Family {
    /// Returns the path from a feature to the first key that meets a condition, along the inputs of the last loads.
    func way(_ token: LockToken, from key: Key, to isMet: (Key) -> Bool) -> [Key] {
        var ways = KeyTable<Key>()
        var open = [key]
        var index = 0
        while index < open.count {
            let next = open[index]
            index += 1
            if next != key, isMet(next) {
                return sequence(first: next) { ways[$0] }.reversed()
            }
            for input in rootPlace(token, of: next)?[token].rare?.last?.direct ?? []
            where input != key && !ways.contains(input) {
                ways[input] = next
                open.append(input)
            }
        }
        return [key]
    }
}

// MARK: Waiters

extension Frame {
    /// Adds a waiter for the end.
    func join(_ token: LockToken, _ waiter: Waiter) -> PendingOutcome {
        state[token].more().waiters.append(waiter)
        return pendingOutcome(token)
    }

    func pendingOutcome(_ token: LockToken) -> PendingOutcome {
        state[token].more().outcome.orMade(PendingOutcome())
    }

    /// Adds the load to the list of its key's loads.
    func begin(_ token: LockToken, for container: UnmanagedReference<Container>, in loads: inout LoadList) {
        loads.append(self)
        state[token].container = container
        node!.beginWork(token)
    }

    /// Returns when the load has ended.
    ///
    /// - Throws: `CancellationError` if the waiting task is canceled first.
    func await(_ waiter: Waiter) async throws {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else {
            return try await waiter.wait { [self] in withdraw(waiter) }
        }
        // The frame may have been raised a moment ago, and its task not yet.
        escalate(to: Task.currentPriority)
        try await waiter.wait { [self] in withdraw(waiter) }
    }

    /// Raises the load as far as a frame that has begun to wait for it, whose task may not have been raised yet.
    @inline(never)
    func raise(for frame: Frame) {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
        let raised = frame.family.lock.withLock { token in frame.state[token].rare?.priority ?? 0 }
        if raised > 0 { escalate(to: TaskPriority(rawValue: raised)) }
    }

    /// Notes that code in this frame waits for an async load that it has begun.
    func addOwnLoad(_ load: Frame) {
        family.lock.withLock { token in state[token].more().ownLoads.append(load) }
    }

    func removeOwnLoad(_ load: Frame) {
        family.lock.withLock { token in _ = state[token].rare?.ownLoads.remove(load) }
    }

    /// Raises the priority of the load, of what it waits for, and of the loads that it needs.
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    private func escalate(to priority: TaskPriority) {
        var seen = ObjectSet([self])
        var open = [self]
        while let frame = open.popLast() {
            let (task, ownLoads) = frame.family.lock.withLock { token -> (Task<Void, Never>?, [Frame]) in
                let rare = frame.state[token].more()
                guard rare.priority < priority.rawValue else { return (nil, []) }
                rare.priority = priority.rawValue
                return (rare.task, rare.ownLoads.all)
            }
            task?.escalatePriority(to: priority)
            open += (ownLoads + Waits.targets(of: frame)).filter { seen.insert($0) }
        }
    }

    /// Removes a task that no longer waits.
    ///
    /// When the last one leaves, the load is canceled, and the next reader begins a new one.
    private func withdraw(_ waiter: Waiter) {
        let task: Task<Void, Never>? = family.lock.withLock { token in
            if isFinished { return nil }
            guard let rare = state[token].rare else { return nil }
            rare.waiters.remove(waiter)
            // The task that began the load may not wait yet.
            guard rare.waiters.isEmpty, rare.isLaunched else { return nil }
            state[token].isAbandoned = true
            family.rootPlace(token, of: key!)?[token].rare?.loads.refuse(self)
            return rare.task
        }
        task?.cancel()
    }
}

extension Node {
    /// Whether the key was reset here or in a node up to `home`, or has another loader since a change above, after a load of it
    /// began.
    ///
    /// - `home`: Where the instance lives: an ancestor, or this node unless given.
    func wasReset(_ token: LockToken, _ key: Key, since begun: UInt64, home: Node? = nil) -> Bool {
        if family.state[token].now == begun { return false }
        return path.firstResult { node in
            guard let rare = node.storage.existingCell(token, key.known(at: node.depth))?.place?[token].rare else {
                return nil
            }
            return (node.depth < (home ?? self).depth ? rare.loaderTime : rare.resetTime) > begun ? true : nil
        } ?? false
    }

    /// Counts a load that was requested here, or a read that waits here for one; a closing waits for its end.
    func beginWork(_ token: LockToken) { storage[token].inProgress += 1 }

    func endWork(_ token: LockToken, _ effects: inout Effects) {
        storage[token].inProgress -= 1
        if storage[token].inProgress == 0 { wakeIdle(token, &effects) }
    }

    /// Wakes the tasks that wait until nothing is in progress here.
    func wakeIdle(_ token: LockToken, _ effects: inout Effects) {
        guard let rare = storage[token].rare, !rare.idleWaiters.isEmpty else { return }
        effects.wake(rare.idleWaiters)
        rare.idleWaiters = []
    }
}

extension Task where Failure == Never {
    /// Starts a task.
    ///
    /// If `atOnce` is `true` and the platform supports it, the task runs on the caller's thread until it first suspends, so
    /// that an operation that doesn't suspend needs no hop to another thread.
    static func start(
        atOnce: Bool, _ operation: sending @escaping @isolated(any) () async -> Success
    ) -> Task {
        guard atOnce, #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else {
            return Task(operation: operation)
        }
        return .immediate(operation: operation)
    }

    /// Starts a detached task, which otherwise runs as with `start`.
    static func startDetached(
        atOnce: Bool, _ operation: sending @escaping @isolated(any) () async -> Success
    ) -> Task {
        guard atOnce, #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else {
            return .detached(operation: operation)
        }
        return .immediateDetached(operation: operation)
    }
}

extension Task<Never, Never> {
    /// Whether code with this isolation runs on an actor, which a load must not block.
    ///
    /// It can't be inlined: the compiler (6.3.1) fails otherwise.
    @inline(never)
    static func isOnActor(_ isolation: (any Actor)?) -> Bool { isolation != nil }
}
